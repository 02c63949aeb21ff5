"""The papers' worked values, suppressed rows, and measuring a release from its published table."""

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from oracles import naive_measures

from coterie.errors import ConfigError, DataError
from coterie.measures.costs import whd
from coterie.measures.measures import Measures, measure_boxes, measure_grouping
from coterie.measures.published import measure_release
from coterie.publishing.publish import publish
from coterie.settings.config import Config
from coterie.settings.registry import MEASURES
from coterie.table.encode import encode
from coterie.table.grouping import Grouping


def prepared(columns, **settings):
    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    config = Config(**{"quasi": table.column_names, "k": 2, **settings})
    return table, config, encode(table, config).table


def measured(columns, labels, *, level_weights=None, **settings):
    _, config, encoded = prepared(columns, **settings)
    grouping = Grouping.of(encoded.codes, labels)
    return measure_grouping(encoded, grouping, config, level_weights=level_weights)


# Li, Wong, Fu, Pei 2006, Table 1a, with the hierarchies of their section 3.
PATIENTS = {
    "gender": ["male", "male", "male", "female", "female", "female"],
    "age": ["middle", "middle", "young", "young", "old", "old"],
    "postcode": ["4350", "4350", "4351", "4352", "4353", "4353"],
}
HIERARCHIES = {"gender": "flat", "age": "flat", "postcode": {"prefixes": []}}


def test_local_recoding_of_the_patients():
    found = measured(PATIENTS, [0, 0, 1, 1, 2, 2], hierarchies=HIERARCHIES)
    assert found["modification_rate"] == pytest.approx(4 / 18)
    assert found["distortion"] == pytest.approx(2.5)
    assert found["distortion_ratio"] == pytest.approx(2.5 / 18)
    assert found.attributes["gender"].distortion == pytest.approx(2 / 6)
    assert found.attributes["postcode"].distortion == pytest.approx(2 * 0.25 / 6)
    assert found.attributes["age"].changed == 0
    assert (found["groups"], found["discernability"], found["c_avg"]) == (3, 12, 1)


def test_distortion_of_one_tuple_of_the_patients():
    _, _, encoded = prepared(PATIENTS, hierarchies=HIERARCHIES)
    grouping = Grouping.of(encoded.codes, [0, 0, 1, 1, 2, 2])
    third = measure_boxes(encoded.domains, lo=grouping.lo[[1]], hi=grouping.hi[[1]], labels=np.array([0]), k=1)
    assert third["distortion"] == pytest.approx(1.25)


def test_global_recoding_of_the_patients():
    _, _, encoded = prepared(PATIENTS, hierarchies=HIERARCHIES)
    grouping = Grouping.of(encoded.codes, [0, 0, 1, 1, 2, 2])
    lo, hi = grouping.lo.copy(), grouping.hi.copy()
    lo[:, [0, 2]], hi[:, [0, 2]] = 0, [1, 3]
    found = measure_boxes(encoded.domains, lo=lo, hi=hi, labels=grouping.labels, codes=encoded.codes, k=2)
    assert found["modification_rate"] == pytest.approx(12 / 18)
    assert found["outside"] == 0


def test_weighted_hierarchical_distances():
    births = {"birth": ["01/01/1990", "02/01/1990", "01/02/1990", "01/01/1991", "01/01/2005"]}
    levels = {
        "C": {
            "1990s": {
                "1990": {"01/1990": ["01/01/1990", "02/01/1990"], "02/1990": ["01/02/1990"]},
                "1991": {"01/1991": ["01/01/1991"]},
            },
            "2000s": {"2005": {"01/2005": ["01/01/2005"]}},
        }
    }
    _, _, encoded = prepared(births, hierarchies={"birth": levels})
    tree = encoded.domains[0].tree
    assert tree.height[0] == 5  # six levels
    month = tree.common_ancestor([0], [1])
    year = tree.common_ancestor([0], [2])
    uniform, by_height = np.ones(5), 1 / np.arange(1, 6)
    assert whd(tree, year, uniform)[0] == pytest.approx(0.4)  # WHD(6, 4)
    assert whd(tree, month, by_height)[0] == pytest.approx(0.0876, abs=5e-5)  # WHD(6, 5)
    assert naive_measures.weighted_distance(6, 4, lambda j: 1, 6) == pytest.approx(0.4)
    assert naive_measures.weighted_distance(6, 5, lambda j: 1 / (j - 1), 6) == pytest.approx(0.0876, abs=5e-5)


def test_gender_has_one_step():
    found = measured({"gender": ["m", "f"]}, [0, 0])
    assert found["distortion"] == pytest.approx(2)  # WHD(2, 1) = 1 for each of two cells
    assert found["height_distortion"] == pytest.approx(2)


# Xu, Wang, Pei, Wang, Shi, Fu 2006, Example 1.
POINTS = {"x": [10, 20, 20, 50, 50, 60], "y": [60, 70, 50, 20, 15, 10]}


@pytest.mark.parametrize(("labels", "total"), [([0, 0, 1, 1, 2, 2], 190), ([0, 0, 0, 1, 1, 1], 150)])
def test_uncertainty_of_six_points(labels, total):
    # With its range as weight, an attribute's NCP is the plain length of the interval.
    found = measured(POINTS, labels, weights={"x": 50, "y": 60})
    assert found["ncp"] == pytest.approx(total)
    assert found["gcp"] != pytest.approx(total)


def test_weights_enter_ncp_but_not_gcp():
    plain = measured(POINTS, [0, 0, 0, 1, 1, 1])
    heavy = measured(POINTS, [0, 0, 0, 1, 1, 1], weights={"x": 4})
    assert heavy["gcp"] == plain["gcp"] == plain["information_loss"]
    assert plain["ncp"] == pytest.approx(plain["gcp"] * 12)
    assert heavy["ncp"] == pytest.approx(plain["ncp"] + 3 * 6 * plain.attributes["x"].ncp)


def test_leaf_shares_and_height_ratios_of_a_tree():
    tree = {
        "e": {"High": ["Bachelors", "Masters", "Doctorate"], "Low": {"School": ["HS-grad", "11th"], "9th": ["9th"]}}
    }
    values = ["Bachelors", "Masters", "HS-grad", "11th", "9th", "9th"]
    present = measured({"e": values}, [0, 0, 1, 1, 2, 2], hierarchies=tree)
    assert present["gcp"] == pytest.approx((2 * 2 / 5 + 2 * 2 / 5) / 6)
    whole = measured({"e": values}, [0, 0, 1, 1, 2, 2], hierarchies=tree, leaf_counts="hierarchy")
    assert whole["gcp"] == pytest.approx((2 * 3 / 6 + 2 * 2 / 6) / 6)
    assert present["total_il"] == pytest.approx((2 * 1 + 2 * 1) / 3)
    assert present["height_loss"] == pytest.approx(present["total_il"] / 6)


def test_suppressed_rows_cost_the_whole():
    found = measured({"x": [1, 2, 50, 101], "y": ["a", "a", "b", "c"]}, [0, 0, -1, -1], weights={"y": 2})
    assert found["gcp"] == pytest.approx((2 * 0.01 + 2 + 2) / 8)
    assert found["ncp"] == pytest.approx(2 * 0.01 + 2 + 2 * 2)
    assert found["discernability"] == 2**2 + 2 * 4
    assert found["modification_rate"] == pytest.approx(6 / 8)
    assert (found["suppressed"], found["fully_generalised"], found["groups"], found["smallest"]) == (2, 2, 1, 2)
    assert (found["average_size"], found["c_avg"]) == (2, 2)


def test_all_rows_suppressed():
    found = measured({"x": [1, 2, 3]}, [-1, -1, -1])
    assert (found["gcp"], found["distortion_ratio"], found["discernability"]) == (1, 1, 9)
    assert (found["groups"], found["smallest"], found["largest"], found["average_size"]) == (0, 0, 0, 0)


def test_missing_joined_with_others_costs_the_whole():
    found = measured({"x": [1, None, None, None, 5]}, [0, 0, 1, 1, 2])
    assert found["gcp"] == pytest.approx(2 / 5)
    lone = measured({"x": [7, 7, None, None]}, [0, 0, 1, 1])
    assert lone["gcp"] == 0
    assert measured({"x": [7, None]}, [0, 0])["gcp"] == 1


def test_one_value_costs_nothing():
    found = measured({"x": [3, 3], "y": ["a", "a"]}, [0, 0])
    assert found["gcp"] == found["distortion"] == found["total_il"] == 0
    assert found["fully_generalised"] == 2


def test_groups_that_are_published_alike_are_one():
    columns = {"x": [1, 1, 1, 1, 2, 3], "y": ["a"] * 6}
    found = measured(columns, [0, 0, 1, 1, 2, 2])
    assert (found["groups"], found["largest"], found["discernability"]) == (2, 4, 16 + 4)


def test_rows_outside_their_box_are_counted():
    _, _, encoded = prepared({"x": [1, 2, 3, 4]})
    grouping = Grouping.of(encoded.codes, [0, 0, 1, 1])
    found = measure_boxes(
        encoded.domains, lo=grouping.lo, hi=grouping.hi, labels=np.array([0, 1, 1, -1]), codes=encoded.codes, k=1
    )
    assert found["outside"] == 1


def test_own_level_weights():
    tree = {"e": {"High": ["a", "b"], "Low": ["c", "d"]}}
    columns, labels = {"e": ["a", "b", "c", "d"]}, [0, 0, 1, 1]
    own = measured(columns, labels, hierarchies=tree, level_weights={"e": [3, 1]})
    assert own["distortion"] == pytest.approx(4 * 1 / 4)
    assert measured(columns, labels, hierarchies=tree)["distortion"] == pytest.approx(4 * 1 / 2)
    for wrong in ([1], [0, 0], [1, -1], [1, float("nan")]):
        with pytest.raises(ConfigError, match=r"level_weights\.e: needs 2 weights"):
            measured(columns, labels, hierarchies=tree, level_weights={"e": wrong})


def test_measures_are_a_mapping_that_can_grow():
    found = measured({"x": [1, 2]}, [0, 0])
    more = found.with_values(bound=0.5)
    assert more["bound"] == 0.5
    assert "bound" not in found
    assert more.attributes.keys() == {"x"}
    assert set(found) == set(MEASURES)
    assert "gcp=1" in repr(found)
    with pytest.raises(KeyError, match="no measure 'nonsense'; there are gcp"):
        found["nonsense"]
    assert len(Measures({})) == 0


def test_every_measure_is_documented():
    text = (Path(__file__).parents[2] / "docs" / "measures.md").read_text(encoding="utf-8")
    for name in MEASURES:
        assert f"`{name}`" in text, name


def released(columns, labels, **settings):
    table, config, encoded = prepared(columns, **settings)
    grouping = Grouping.of(encoded.codes, labels)
    return table, config, encoded, publish(table, encoded, grouping, config)


def test_a_release_that_lies_is_found_out():
    table, config, encoded, published = released({"x": [1, 2, 8, 9], "y": ["a", "b", "c", "c"]}, [0, 0, 1, 1])
    honest = measure_release(table, published.table, table=encoded, config=config)
    assert honest["outside"] == 0
    assert honest["groups"] == 2
    false = published.table.set_column(0, "x", pa.array(["[1-2]", "[1-2]", "[1-2]", "[8-9]"]))
    assert measure_release(table, false, table=encoded, config=config)["outside"] == 1
    shuffled = published.table.take(pa.array([2, 1, 0, 3]))
    assert measure_release(table, shuffled, table=encoded, config=config)["outside"] == 2
    rubbish = published.table.set_column(1, "y", pa.array(["{a, b}", "{a, zzz}", "c", "c"]))
    assert measure_release(table, rubbish, table=encoded, config=config)["outside"] == 1


def test_removed_rows_are_matched_and_count_as_suppressed():
    columns = {"x": [*range(40), 990, *range(40), 995], "y": ["a", "b"] * 41}
    labels = [*([0] * 20), *([1] * 20), -1, *([2] * 40), -1]
    table, config, encoded, published = released(columns, labels, k=3)
    assert published.table.num_rows == 80
    found = measure_release(table, published.table, table=encoded, config=config)
    direct = measured(columns, labels, k=3)
    assert found["outside"] == 0
    assert dict(found) == pytest.approx(dict(direct))
    by_position = measure_release(table, published.table, table=encoded, config=config, kept=published.kept)
    assert dict(by_position) == pytest.approx(dict(direct))
    backwards = published.table.take(pa.array(np.arange(80)[::-1]))
    assert measure_release(table, backwards, table=encoded, config=config)["outside"] > 0


@pytest.mark.parametrize("suppressed", ["auto", "remove"])
def test_rows_without_codes_are_inside_the_root_alone(suppressed):
    table = pa.table({"x": [1, None, 2, None, 3, 4]})
    config = Config(quasi=["x"], k=2, missing="suppress", suppressed=suppressed)
    encoded = encode(table, config)
    grouping = Grouping.of(encoded.table.codes, [0, 0, 1, 1])
    published = publish(table, encoded.table, grouping, config, rows=encoded.rows).table
    found = measure_release(table, published, table=encoded.table, config=config, rows=encoded.rows)
    assert (found["suppressed"], found["outside"], found["groups"]) == (2, 0, 2)
    if suppressed == "auto":
        shown = published.set_column(0, "x", pa.array(["[1-2]", "[1-2]", "[1-2]", "*", "[3-4]", "[3-4]"]))
        found = measure_release(table, shown, table=encoded.table, config=config, rows=encoded.rows)
        assert found["outside"] == 1


def test_bounds_are_measured():
    table, config, encoded, published = released({"x": [1, 2, 8, 9]}, [0, 0, 1, 1], publish={"x": "bounds"})
    found = measure_release(table, published.table, table=encoded, config=config)
    assert found["gcp"] == pytest.approx(1 / 8)


def test_means_cannot_be_measured_afterwards():
    table, config, encoded, published = released({"x": [1, 2, 8, 9]}, [0, 0, 1, 1], publish={"x": "mean"})
    with pytest.raises(DataError, match="'x' contains single numbers"):
        measure_release(table, published.table, table=encoded, config=config)


def test_a_release_with_more_rows_than_the_original_is_refused():
    table, config, encoded, published = released({"x": [1, 2]}, [0, 0])
    twice = pa.concat_tables([published.table, published.table])
    with pytest.raises(DataError, match="4 rows, the original only 2"):
        measure_release(table, twice, table=encoded, config=config)


def test_the_example_of_the_documentation():
    columns = {
        "age": [24, 28, 30, 41, 41, 64],
        "education": ["Bachelors", "Masters", "Bachelors", "HS-grad", "11th", "9th"],
    }
    tree = {"education": {"High": ["Bachelors", "Masters"], "Low": ["HS-grad", "11th", "9th"]}}
    found = measured(columns, [0, 0, 0, 1, 1, -1], hierarchies=tree, weights={"age": 2})
    text = (Path(__file__).parents[2] / "docs" / "measures.md").read_text(encoding="utf-8")
    documented = dict(re.findall(r"^\| `(\w+)` \| ([\d.]+) \|", text, flags=re.MULTILINE))
    assert documented.keys() == MEASURES.keys()
    assert {name: float(value) for name, value in documented.items()} == pytest.approx(dict(found), abs=5e-5)


def test_what_takes_long_is_not_computed_in_order_to_be_kept(monkeypatch):
    """A pickled release has no bound, and whoever loads it can work it out."""
    import pickle

    import coterie
    from coterie.releases import bound

    asked = []
    real = bound.lower_bound
    monkeypatch.setattr(bound, "lower_bound", lambda *given, **more: asked.append(1) or real(*given, **more))
    release = coterie.anonymize(pa.table({"age": list(range(20))}), quasi=["age"], k=4, method="mondrian")
    kept = pickle.dumps(release)
    assert asked == []
    loaded = pickle.loads(kept)
    assert asked == []
    assert loaded.measures["bound"] == release.measures["bound"] > 0
    assert loaded.measures["loss_over_bound"] == release.measures["loss_over_bound"] >= 1
    assert len(asked) == 2  # once here and once there
