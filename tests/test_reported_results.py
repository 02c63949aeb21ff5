"""What the papers report of their methods, as a sign or an order of magnitude: a reading that a paper refutes fails.

The twins in `oracles` share our reading of a paper. These tests do not: they hold the methods, as published, against
the papers' own results on few rows; docs/papers.md has the full experiments. For each method but Incognito, at least
one test also plants another reading of the text, and the same comparison refuses it; docs/papers.md lists them.
Incognito is only a baseline in these papers, and nothing that they print of it separates readings.
"""

import tomllib
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from benchmarks.papers.data import data
from benchmarks.papers.texts import READINGS
from oracles.naive_bottom_up import bottom_up as naive_bottom_up
from oracles.naive_cb import cb as naive_cb
from oracles.naive_gccg import gccg as naive_gccg
from oracles.naive_gccg import scores, scores_by_value
from oracles.naive_kaca import kaca as naive_kaca
from oracles.naive_kmembers import kmembers as naive_kmembers
from tables import plain_attribute

from coterie.files import tables as io
from coterie.measures.measures import measure_boxes
from coterie.methods import Run, all_methods, find_method
from coterie.methods._method import PaperOptions
from coterie.methods.gccg import grades
from coterie.settings.config import Config
from coterie.table.encode import encode
from coterie.table.grouping import Grouping
from coterie.table.table import Table

PAPER = {"preset": "paper"}
GOLDEN = Path(__file__).parent / "golden"


def grouped(made, method, k, **options):
    chosen = find_method(method)
    return chosen.run(made.table, k, chosen.options(**options), Run(seed=1))


def loss(made, grouping, k, name="ncp"):
    boxes, judge = grouping.published_boxes(), made.judge
    if made.numbered is not None:
        boxes = Grouping.of(judge.codes, boxes.labels)
    nodes = boxes.chosen_nodes() if made.table is judge else None
    return measure_boxes(judge.domains, lo=boxes.lo, hi=boxes.hi, nodes=nodes, labels=boxes.labels, k=k)[name]


def worked_example(name, tmp_path, **hierarchies):
    """A table that a paper prints, encoded as in its golden case or with other hierarchies, and its groups."""
    case = tomllib.loads((GOLDEN / f"{name}.toml").read_text(encoding="utf-8"))
    source = tmp_path / "table.csv"
    source.write_text(case["table"].strip() + "\n", encoding="utf-8")
    config = Config.from_dict({**case["config"], "hierarchies": case.get("hierarchies", {}) | hierarchies})
    return encode(io.read(source).table, config).table, case["expected"]


def plain(table):
    """What the twins are given: rows of codes, and what the codes mean."""
    return table.codes.tolist(), [plain_attribute(domain) for domain in table.domains]


def groups_of(labels):
    labels = np.asarray(labels)
    return sorted(np.flatnonzero(labels == group).tolist() for group in np.unique(labels))


def of_groups(table, groups):
    labels = np.empty(table.rows, dtype=np.int32)
    for number, rows in enumerate(groups):
        labels[rows] = number
    return Grouping.of(table.codes, labels)


def labels_of(method, table, k, seed=1, **options):
    chosen = find_method(method)
    return chosen.run(table, k, chosen.options(**options), Run(seed=seed)).labels


def losses_of(made, method, k, seeds, **options):
    """The loss from each seed, with the rows as `made` has them."""
    return np.array(
        [
            loss(made, Grouping.of(made.judge.codes, labels_of(method, made.table, k, seed, **options)), k, "gcp")
            for seed in seeds
        ]
    )


def test_kaca_distorts_several_times_less_than_incognito():
    """Li et al. 2006, section 5: 5.57 times lower on average."""
    made = data("li", {"attributes": 6, "rows": 3_000})
    kaca = loss(made, grouped(made, "kaca", 10, **PAPER), 10, "distortion_ratio")
    incognito = loss(made, grouped(made, "incognito", 10, loss="distortion"), 10, "distortion_ratio")
    assert 2 < incognito / kaca < 20


def test_kaca_makes_table_1b_in_whatever_order_rows_stand(tmp_path):
    """Li et al. 2006, Table 1. Definition 10 counts the rows of both classes.

    By Definition 9, which counts tuples, two classes are equally near to the third row: Table 1b would be luck. So it
    would be if KACA started with single rows, which need not find their equals before others find them.
    """
    table, expected = worked_example("li2006_table1b", tmp_path)

    def gives_table_1b(run):
        for order in permutations(range(table.rows)):
            labels = run(Table(np.ascontiguousarray(table.codes[list(order)]), table.domains))
            if groups_of(np.asarray(labels)[np.argsort(order)]) != expected["groups"]:
                return False
        return True

    def twin(reading):
        return lambda table: naive_kaca(*plain(table), 2, seed=1, **reading)

    assert gives_table_1b(lambda table: labels_of("kaca", table, 2, **PAPER))
    assert gives_table_1b(twin({}))
    assert not gives_table_1b(twin({"weigh": "tuples"}))
    for seed in range(4):
        assert not gives_table_1b(lambda table, seed=seed: labels_of("kaca", table, 2, seed, start="rows"))


@pytest.mark.parametrize("method", ["bottom-up", "top-down"])
def test_adult_has_a_clearly_lower_penalty_than_with_multidim(method):
    """Xu et al. 2006, Fig. 7: for both methods and every k."""
    made, numbers = data("xu", {"rows": 4_000}), data("xu", {"rows": 4_000, "numbers": True})
    for k in (5, 25):
        multidim = loss(numbers, grouped(numbers, "mondrian", k, **PAPER), k)
        assert loss(made, grouped(made, method, k, **PAPER), k) < 0.9 * multidim


def test_bottom_up_makes_the_groups_of_example_4_only_if_merged_groups_take_others(tmp_path):
    """Xu et al. 2006, Example 4: two groups of three, k = 2. Otherwise the pairs of Example 1 would come out."""
    table, expected = worked_example("xu2006_example4", tmp_path)
    pairs = [[0, 1], [2, 3], [4, 5]]
    assert groups_of(labels_of("bottom-up", table, 2, **PAPER)) == expected["groups"]
    assert groups_of(naive_bottom_up(*plain(table), 2)) == expected["groups"]
    assert groups_of(naive_bottom_up(*plain(table), 2, absorb=False)) == pairs


def test_bottom_up_has_groups_of_less_than_2k_rows():
    """Xu et al. 2006, section 4.1: "up to (2k - 1) tuples". If it split groups of "more than 2k tuples" only, 2k."""
    table = data("synthetic", {"shape": "gauss", "sigma": 1.0, "rows": 300}).table
    for k in (2, 3, 4, 5):
        sizes = {len(group) for group in groups_of(naive_bottom_up(*plain(table), k, above=True))}
        assert max(sizes) == 2 * k
        for labels in (labels_of("bottom-up", table, k, **PAPER), naive_bottom_up(*plain(table), k)):
            assert max(len(group) for group in groups_of(labels)) < 2 * k


@pytest.mark.parametrize("seed", range(5))
def test_bottom_up_is_better_than_multidim_on_gaussian_tables_only_if_multidim_cuts_once(seed):
    """Xu et al. 2006, Fig. 12: "the advantage is clear". It is none over a MultiDim with our second try, at k = 50.

    The k of the figure are not in our copy. Rows with the median divided between both sides (relaxed) meet it, too.
    """
    made = data("synthetic", {"shape": "gauss", "sigma": 1.0, "seed": seed})
    bottom_up = loss(made, grouped(made, "bottom-up", 50, **PAPER), 50)
    multidim, second, relaxed = (
        loss(made, grouped(made, "mondrian", 50, **options), 50) for options in (PAPER, {}, {"strict": False})
    )
    assert bottom_up < 0.75 * min(multidim, relaxed)
    assert bottom_up > second


def test_top_down_is_better_than_multidim_on_gaussian_tables_and_comparable_on_uniform_ones():
    """Xu et al. 2006, Figs. 11 and 12. Sides compared as whole boxes (`side`) are several times worse than MultiDim."""
    gauss = data("synthetic", {"shape": "gauss", "sigma": 1.0, "rows": 4_000})
    multidim = loss(gauss, grouped(gauss, "mondrian", 10, **PAPER), 10)
    assert loss(gauss, grouped(gauss, "top-down", 10, **PAPER), 10) < multidim
    assert loss(gauss, grouped(gauss, "top-down", 10, compare="side"), 10) > multidim
    uniform = data("synthetic", {"shape": "uniform", "rows": 4_000})
    ratio = loss(uniform, grouped(uniform, "top-down", 10, **PAPER), 10) / loss(
        uniform, grouped(uniform, "mondrian", 10, **PAPER), 10
    )
    assert 0.7 < ratio < 1.4


def test_multidim_performs_poorly_where_data_are_severely_biased():
    """Xu et al. 2006, Fig. 13. So does the cut with our second try, which Fig. 12 refutes, not this."""
    made = data("synthetic", {"shape": "gauss", "sigma": 0.5, "rows": 4_000})
    multidim = loss(made, grouped(made, "mondrian", 10, **PAPER), 10)
    assert multidim > 2 * loss(made, grouped(made, "bottom-up", 10, **PAPER), 10)


def test_kmembers_has_clusters_of_k_to_just_under_2k_rows():
    """Wang et al. 2011, section III.D. If equal rows were one point, as in KACA, clusters would be larger."""
    made = data("ni", {"rows": 600})

    def as_reported(groups, k=7, rows=600):
        sizes = [len(group) for group in groups]
        return min(sizes) >= k and max(sizes) < 2 * k and len(sizes) == rows // k

    def twin(reading):
        return naive_kmembers(*plain(made.table), 7, seeding="random", loss="height", seed=1, **reading)

    assert as_reported(groups_of(labels_of("kmembers", made.table, 7, **PAPER)))
    assert as_reported(twin({}))
    assert not as_reported(twin({"together": True}))


def test_kmembers_makes_table_2_only_if_dates_have_a_tree(tmp_path):
    """Wang et al. 2011, Tables I and II: years. "A simple and intuitive solution", distances of 0 or 1, has no years.

    Definition 3 is the height of the common ancestor.
    """

    def gives_table_2(**hierarchies):
        table, expected = worked_example("wang2011_table2", tmp_path, **hierarchies)
        return all(groups_of(labels_of("kmembers", table, 2, seed, **PAPER)) == expected["groups"] for seed in range(8))

    assert gives_table_2()
    assert not gives_table_2(birth="flat")


def test_gccg_grades_numbers_as_in_table_5(tmp_path):
    """Ni et al. 2017, Table 5. Section 4.2 has "the ratio of the value to K" for numbers, which Table 5 refutes."""
    table, expected = worked_example("ni2017_table7", tmp_path)
    rows, attributes = plain(table)

    def as_printed(found):
        return [f"{float(score):.1f}" for score in found] == expected["scores"]

    assert as_printed(grades(table) / table.rows)
    assert as_printed(scores(rows))
    assert not as_printed(scores_by_value(rows, attributes, 2))


@pytest.mark.parametrize(
    ("example", "parts", "refuted"),
    [
        ("ni2017_table3", 1, [{"grading": "value"}]),
        ("ni2017_table7", 1, [{"grading": "value"}, {"graded": "for each class"}]),
        ("ni2017_table8", 2, [{"grading": "value"}, {"graded": "for each class"}, {"graded": "in each part"}]),
    ],
)
def test_gccg_makes_the_classes_that_are_printed(example, parts, refuted, tmp_path):
    """Ni et al. 2017, Tables 3, 6 and 8: rows are graded once, by frequencies. "Sort D" stands before the loop."""
    table, expected = worked_example(example, tmp_path)

    def twin(reading):
        return naive_gccg(*plain(table), 2, parts=parts, **reading)

    assert groups_of(labels_of("gccg", table, 2, **PAPER, parts=parts)) == expected["groups"]
    assert twin({}) == expected["groups"]
    for reading in refuted:
        assert twin(reading) != expected["groups"], reading


@pytest.mark.parametrize("example", ["ni2017_table7", "ni2017_table8"])
def test_tables_7_and_8_come_out_with_different_trees_only(example, tmp_path):
    """Ni et al. 2017 publish the rows of Table 4 twice; the paper does not print the tree of education."""
    parts = {"ni2017_table7": 1, "ni2017_table8": 2}
    [other] = parts.keys() - {example}
    tree = tomllib.loads((GOLDEN / f"{other}.toml").read_text(encoding="utf-8"))["hierarchies"]["education"]
    table, expected = worked_example(example, tmp_path, education=tree)
    assert groups_of(labels_of("gccg", table, 2, **PAPER, parts=parts[example])) != expected["groups"]


def test_gccg_has_classes_of_exactly_k_rows_and_loses_a_third_of_incognito_at_most():
    """Ni et al. 2017, Table 10 and Fig. 3."""
    made, ranges = data("ni", {"rows": 4_000}), data("ni", {"age": "ranges", "rows": 4_000})
    found = grouped(made, "gccg", 5, **PAPER)
    assert round(4_000 / found.groups, 2) == 5.00
    assert loss(made, found, 5) < loss(ranges, grouped(ranges, "incognito", 5), 5) / 2


def test_incognito_has_classes_hundreds_of_times_as_large_as_those_of_local_recoding():
    """Ni et al. 2017, Table 10: 1,533.05 against 5.12 (KACA) and 5.00 (GCCG) at k = 5, on all rows."""
    ranges = data("ni", {"age": "ranges"})
    assert 500 < loss(ranges, grouped(ranges, "incognito", 5), 5, "average_size") < 5_000


def test_cb_loses_less_than_nh_on_income_and_more_with_k():
    """He et al. 2012, Fig. 6, with Definition 1's order on every attribute: INC-4, over k."""
    made = data("income", {"attributes": 4, "rows": 8_000, "ordered": True})
    lost = []
    for k in (50, 150):
        nh = grouped(made, "nh", k, **PAPER)
        lost.append(loss(made, grouped(made, "cb", k, **PAPER), k))
        assert lost[-1] < loss(made, nh, k)
        assert loss(made, nh, k) < loss(made, Grouping(nh.labels, nh.lo, nh.hi), k)  # rings lose less than their parts
    assert lost[0] < lost[1]


@pytest.mark.parametrize("k", [50, 150])
def test_cb_is_nearer_to_nh_in_five_dimensions_if_categories_are_ordered(k):
    """He et al. 2012, Fig. 6f has CB below NH on INC-5. Neither reading gets there on few rows.

    From every seed, the order of Definition 1 stays closer to it than hierarchies do, all else as published.
    """
    size, seeds = {"attributes": 5, "rows": 8_000}, range(8)
    trees, ordered = data("income", size), data("income", size | {"ordered": True})
    trees = trees._replace(judge=ordered.judge)
    nh = np.array([loss(ordered, nh_of(ordered, k, seed), k, "gcp") for seed in seeds])
    by_order, by_tree = (
        losses_of(trees, "cb", k, seeds, **PAPER, categories=categories) / nh for categories in ("order", "tree")
    )
    assert by_order.max() < by_tree.min()
    assert by_order.max() < 1.1
    shown = [f"{ratios.min():.2f} to {ratios.max():.2f}" for ratios in (by_order, by_tree)]
    assert f"k = {k}: {shown[0]} of NH's loss by order, {shown[1]} by hierarchies" in read_of("cb").refuted


def nh_of(made, k, seed, **options):
    chosen = find_method("nh")
    return chosen.run(made.table, k, chosen.options(**PAPER, **options), Run(seed=seed))


def cb_of_nh(name, attributes, seeds, **options):
    """CB's loss ÷ NH's, from each seed, as published but for NH's options; 20,000 rows, k = 50."""
    made = data(name, {"attributes": attributes, "rows": 20_000, "ordered": True})
    nh = np.array([loss(made, nh_of(made, 50, seed, **options), 50, "gcp") for seed in seeds])
    return losses_of(made, "cb", 50, seeds, **PAPER) / nh


def test_nh_loses_less_than_cb_on_sal_in_three_dimensions():
    """He et al. 2012, Fig. 6a: "except the on SAL-3". Sides compared as whole boxes refute it from every seed."""
    seeds = range(6)
    assert (cb_of_nh("sal", 3, seeds) > 1).all()
    assert (cb_of_nh("sal", 3, seeds, compare="side") < 0.8).all()


@pytest.mark.parametrize("attributes", [5, 6])
def test_fig_6_is_met_if_nh_compares_the_growth_of_boxes_and_not_with_the_default(attributes):
    """He et al. 2012, Fig. 6 has CB below NH on INC-5 and INC-6, above it on SAL-3. So it is with `enlarge`.

    With `increase`, the default, NH is ahead on both. It stays the default: it is the reading of Xu et al.'s sentence,
    whose method NH's partition is "a special" case of, and the text of NH's own paper is not among ours.
    """
    seeds = range(4)
    assert (cb_of_nh("income", attributes, seeds, compare="enlarge") < 1).all()
    assert (cb_of_nh("income", attributes, seeds) > 1).all()
    assert (cb_of_nh("sal", 3, seeds, compare="enlarge") > 1).all()


def test_nh_has_groups_of_about_one_row():
    """He et al. 2012, section 5: "the size of QI-groups is fixed as 1". Parts published as a whole have k and more."""
    made = data("income", {"attributes": 6, "rows": 8_000, "ordered": True})
    nh = grouped(made, "nh", 10, **PAPER)
    assert loss(made, nh, 10, "average_size") < 2
    assert loss(made, Grouping(nh.labels, nh.lo, nh.hi), 10, "average_size") > 10


def read_of(method):
    """What docs/papers.md says of the readings of a method."""
    return next(each for each in READINGS if each.method == f"`{method}`")


def undecided(method):
    """What docs/papers.md says of the readings of a method between which no printed result decides."""
    return read_of(method).undecided


def test_readings_and_their_tests_stand_on_the_page():
    methods, named = {each.method for each in READINGS}, {test for each in READINGS for test in each.tests}
    all_of_them = {f"`{name}`" for name, method in all_methods().items() if issubclass(method.options, PaperOptions)}
    assert methods == all_of_them - {"`incognito`"}
    assert named <= globals().keys()


def test_printed_results_do_not_decide_whether_kaca_merges_whole_classes():
    made = data("li", {"attributes": 2, "rows": 1_000})
    incognito = loss(made, grouped(made, "incognito", 2, loss="distortion"), 2, "distortion_ratio")
    times = []
    for stub in (False, True):
        groups = groups_of(naive_kaca(*plain(made.table), 2, seed=1, stub=stub))
        times.append(incognito / loss(made, of_groups(made.table, groups), 2, "distortion_ratio"))
    assert min(times) > 5.57
    assert "{:.1f} instead of {:.1f} times below".format(*times) in undecided("kaca")


def test_printed_results_do_not_decide_how_kmembers_seeds_and_adds(tmp_path):
    made = data("ni", {"rows": 600})
    said, (table, expected) = undecided("kmembers"), worked_example("wang2011_table2", tmp_path)
    usual = {"seeding": "random", "loss": "height"}
    readings = [{}, {"near": "seed"}, {"rest": "last"}, {"loss": "ncp"}, {"seeding": "furthest"}]
    for reading in readings:
        groups = naive_kmembers(*plain(made.table), 7, seed=1, **(usual | reading))
        assert {len(group) for group in groups} <= set(range(7, 14))
        assert naive_kmembers(*plain(table), 2, seed=1, **(usual | reading)) == expected["groups"]
        assert f"{loss(made, of_groups(made.table, groups), 7, 'total_il'):.0f}" in said


def test_printed_results_do_not_decide_how_gccg_measures_categories(tmp_path):
    made, losses = data("ni", {}), []
    for distance in ("ncp", "height"):
        losses.append(loss(made, grouped(made, "gccg", 5, distance=distance), 5, "information_loss"))
        for example, parts in (("ni2017_table3", 1), ("ni2017_table7", 1), ("ni2017_table8", 2)):
            table, expected = worked_example(example, tmp_path)
            assert groups_of(labels_of("gccg", table, 2, parts=parts, distance=distance)) == expected["groups"]
    assert "{:.5f} instead of {:.5f}".format(*losses) in undecided("gccg")


def test_printed_results_do_not_decide_whether_nh_compares_seeds():
    ratios = cb_of_nh("sal", 3, range(6), compare="seed")
    assert ratios.min() < 1 < ratios.max()
    assert f"`seed`: CB has {ratios.min():.2f} to {ratios.max():.2f} of its loss on SAL-3" in undecided("nh")


def test_table_2_does_not_decide_how_cb_starts_and_compares(tmp_path):
    """It comes out from every seed with restarts; with the one start of the text, from most of them.

    From every one, again, if the second half counts as it has grown: NCP(G₂ ∪ w) in section 3, C₂ in Fig. 4.
    """
    table, expected = worked_example("he2012_table2", tmp_path)
    again, once = (
        [
            groups_of(labels_of("cb", table, 2, seed, **PAPER, restarts=restarts)) == expected["groups"]
            for seed in range(50)
        ]
        for restarts in (True, False)
    )
    assert all(again)
    keys = (int(Run(seed=seed).rng().integers(2**64, dtype=np.uint64)) for seed in range(50))
    assert all(naive_cb(*plain(table), 2, key=key, restarts=False, grown=True) == expected["groups"] for key in keys)
    assert f"Table 2 comes out from all of {len(again)} seeds with restarts, from {sum(once)} without" in undecided(
        "cb"
    )
