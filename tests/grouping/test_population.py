"""k-map: groups against a population, from objects, files and frames, by repair and by verification."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coterie
from coterie.errors import ConfigError, DataError, InfeasibleError
from coterie.grouping.population import populations_of
from coterie.grouping.repair.repair import feasible, repair
from coterie.grouping.repair.state import Aim
from coterie.hierarchies.hierarchy import Hierarchy
from coterie.methods import Run, find_method
from coterie.privacy import KMap
from coterie.settings.config import Config
from coterie.table.encode import encode

PLACES = Hierarchy.from_mapping({"north": ["a", "b", "c"], "south": {"west": ["d", "e"], "east": ["f"]}})
WITHIN = {"*": set("abcdef"), "north": set("abc"), "south": set("def"), "west": set("de"), "east": {"f"}}


def admits(cell, value):
    """Whether a published cell may stand for a value: the slow twin."""
    if cell is None or value is None:
        return cell is None and value is None
    cell = str(cell)
    if cell == "*":
        return True
    if cell in WITHIN:
        return value in WITHIN[cell]
    if cell.startswith("{"):
        return value in cell[1:-1].split(", ")
    if cell.startswith("["):
        low, high = cell[1:-1].split("-")
        return int(low) <= int(value) <= int(high)
    return cell == str(value)


def matches(published, quasi, population):
    """Row of a release → rows of the population that its cells admit."""
    rows = published.select(quasi).to_pylist()
    people = population.select(quasi).to_pylist()
    return [sum(all(admits(row[name], person[name]) for name in quasi) for person in people) for row in rows]


@st.composite
def samples(draw, least=2, most=12):
    count = draw(st.integers(least, most))
    column = {
        "age": st.integers(20, 29),
        "place": st.sampled_from("abcdef"),
        "colour": st.sampled_from(["red", "green", "blue", "grey"]),
    }
    return pa.table({name: draw(st.lists(cell, min_size=count, max_size=count)) for name, cell in column.items()})


QUASI = ["age", "place", "colour"]


@given(samples(), samples(1, 60), st.integers(1, 6), st.integers(1, 3))
@settings(max_examples=40)
def test_every_group_matches_k_people_or_it_cannot_be(sample, others, wanted, k):
    population = pa.concat_tables([sample, others])
    config = {"quasi": QUASI, "hierarchies": {"place": PLACES}, "k": min(k, sample.num_rows), "method": "mondrian"}
    try:
        release = coterie.anonymize(sample, **config, privacy=KMap(wanted, population))
    except InfeasibleError as error:
        whole = coterie.anonymize(sample, **{**config, "k": sample.num_rows}).frame
        assert max(matches(whole, QUASI, population)) == error.possible < wanted
        return
    found = matches(release.frame, QUASI, population)
    assert min(found) >= wanted
    check = release.verification.checks[-1]
    assert (check.name, check.passed, check.found) == ("k-map", True, min(found))


@given(samples(), samples(1, 40), st.data())
def test_counts_are_those_of_the_published_cells(sample, population, data):
    """Also where the population lacks values of the table and has others."""
    config = Config(quasi=QUASI, hierarchies={"place": PLACES}, privacy=KMap(2, population), k=1)
    encoded = encode(sample, config)
    encoded = encoded._replace(table=encoded.table.with_populations(populations_of(config)))
    labels = np.array(data.draw(st.lists(st.integers(0, 3), min_size=sample.num_rows, max_size=sample.num_rows)))
    from coterie.publishing.publish import publish
    from coterie.table.grouping import Grouping

    grouping = Grouping.of(encoded.table.codes, labels)
    counted = Aim(encoded.table, config.privacy, 1).count(grouping.labels, grouping.groups)
    published = publish(sample, encoded.table, grouping, config).table
    expected = matches(published, QUASI, population)
    assert counted.matches[config.privacy[0].key][grouping.labels].tolist() == expected


def test_missing_values_match_missing_values_and_the_root():
    sample = pa.table({"age": pa.array([20, None, 30, 31])})
    population = pa.table({"age": pa.array([None, None, 20, 25, 31])})
    config = Config(quasi=["age"], privacy=KMap(2, population), k=1)
    table = encode(sample, config).table.with_populations(populations_of(config))
    aim = Aim(table, config.privacy, 1)
    key = config.privacy[0].key
    assert aim.count(np.array([0, 1, 2, 2], dtype=np.int32), 3).matches[key].tolist() == [1, 2, 1]
    assert aim.count(np.array([0, 0, 1, 1], dtype=np.int32), 2).matches[key].tolist() == [5, 1]


def test_a_population_in_a_file(tmp_path):
    sample = pa.table({"age": [20, 21, 40, 41], "pay": [1, 2, 3, 4]})
    path = tmp_path / "people.csv"
    pv.write_csv(pa.table({"age": [20, 20, 21, 39, 40, 41, 80]}), path)
    release = coterie.anonymize(sample, quasi=["age"], keep=["pay"], k=1, privacy=f"k-map:3:{path}", method="mondrian")
    assert (
        release.frame["age"].to_pylist() == ["[20-21]", "[20-21]", "[40-41]", "[40-41]"] or release.verification.passed
    )
    assert coterie.verify(release.frame, quasi=["age"], privacy=f"k-map:3:{path}").passed
    failed = coterie.verify(sample, quasi=["age"], privacy=f"k-map:3:{path}")
    assert not failed.passed
    assert "3-map is wanted, but 4 rows are in 4 groups without it" in str(failed)


def test_text_and_numbers_meet():
    """A population from a text file, and a frame of numbers."""
    population = pd.DataFrame({"age": ["20", "20.0", "30"]})
    config = Config(quasi=["age"], privacy=KMap(2, population), k=1)
    table = encode(pa.table({"age": [20, 30]}), config).table.with_populations(populations_of(config))
    counted = Aim(table, config.privacy, 1).count(np.array([0, 1], dtype=np.int32), 2)
    assert counted.matches[config.privacy[0].key].tolist() == [2, 1]


def test_what_no_grouping_can_match_is_refused():
    sample = pa.table({"age": [20, 21, 30, 31]})
    config = Config(quasi=["age"], privacy=KMap(9, pa.table({"age": [20, 21, 22, 99]})), k=1)
    table = encode(sample, config).table.with_populations(populations_of(config))
    with pytest.raises(InfeasibleError, match="9-map is infeasible: in this table k can be at most 3") as caught:
        feasible(table, config.privacy)
    assert caught.value.possible == 3


def test_faults_of_a_population():
    sample = pa.table({"age": [20, 21], "place": ["a", "b"]})
    base = {"quasi": ["age", "place"], "k": 1, "hierarchies": {"place": PLACES}}
    with pytest.raises(ConfigError, match="population of k-map has no column 'place'"):
        coterie.anonymize(sample, **base, privacy=KMap(1, pa.table({"age": [1]})))
    with pytest.raises(DataError, match="no rows"):
        coterie.anonymize(sample, **base, privacy=KMap(1, sample.slice(0, 0)))
    strange = pa.table({"age": ["20", "old"], "place": ["a", "b"]})
    with pytest.raises(DataError, match="In the population of k-map") as caught:
        coterie.anonymize(sample, **base, privacy=KMap(1, strange))
    assert "old" not in str(caught.value)
    with pytest.raises(ValueError, match="given its populations"):
        repair_without_population()


def repair_without_population():
    table = encode(pa.table({"age": [20, 21]}), Config(quasi=["age"], k=1)).table
    repair(table, find_method("mondrian").run(table, 1), [KMap(1, "people.csv")], k=1, run=Run())


def test_k_map_beside_a_sensitive_model():
    rng = np.random.default_rng(0)
    sample = pa.table({"age": rng.integers(20, 80, 200), "s": rng.integers(0, 4, 200).astype(str)})
    population = pa.table({"age": rng.integers(20, 80, 1000)})
    release = coterie.anonymize(
        sample, quasi=["age"], sensitive=["s"], k=2, privacy=[KMap(30, population), "l-diversity:3"], method="kmembers"
    )
    assert release.verification.passed
    assert {check.name for check in release.verification.checks} == {"k-anonymity", "k-map", "l-diversity(s)"}
