"""What the papers report of their methods, as a sign or an order of magnitude: a reading that a paper refutes fails.

The twins in `oracles` share our reading of a paper. These tests do not: they hold the methods, as published, against
the papers' own results on few rows; docs/papers.md has the full experiments.
"""

import pytest
from benchmarks.papers.data import data

from coterie.measures.measures import measure_boxes
from coterie.methods import Run, find_method
from coterie.table.grouping import Grouping

PAPER = {"preset": "paper"}


def grouped(made, method, k, **options):
    chosen = find_method(method)
    return chosen.run(made.table, k, chosen.options(**options), Run(seed=1))


def loss(made, grouping, k, name="ncp"):
    boxes, judge = grouping.published_boxes(), made.judge
    if made.numbered is not None:
        boxes = Grouping.of(judge.codes, boxes.labels)
    nodes = boxes.chosen_nodes() if made.table is judge else None
    return measure_boxes(judge.domains, lo=boxes.lo, hi=boxes.hi, nodes=nodes, labels=boxes.labels, k=k)[name]


def test_kaca_distorts_several_times_less_than_incognito():
    """Li et al. 2006, section 5: 5.57 times lower on average."""
    made = data("li", {"attributes": 6, "rows": 3_000})
    kaca = loss(made, grouped(made, "kaca", 10, **PAPER), 10, "distortion_ratio")
    incognito = loss(made, grouped(made, "incognito", 10, loss="distortion"), 10, "distortion_ratio")
    assert 2 < incognito / kaca < 20


@pytest.mark.parametrize("method", ["bottom-up", "top-down"])
def test_adult_has_a_clearly_lower_penalty_than_with_multidim(method):
    """Xu et al. 2006, Fig. 7: for both methods and every k."""
    made, numbers = data("xu", {"rows": 4_000}), data("xu", {"rows": 4_000, "numbers": True})
    for k in (5, 25):
        multidim = loss(numbers, grouped(numbers, "mondrian", k, **PAPER), k)
        assert loss(made, grouped(made, method, k, **PAPER), k) < 0.9 * multidim


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
    """Xu et al. 2006, Fig. 13. So does the cut with our second try: the text decides between them, not this."""
    made = data("synthetic", {"shape": "gauss", "sigma": 0.5, "rows": 4_000})
    multidim = loss(made, grouped(made, "mondrian", 10, **PAPER), 10)
    assert multidim > 2 * loss(made, grouped(made, "bottom-up", 10, **PAPER), 10)


def test_kmembers_has_clusters_of_k_to_just_under_2k_rows():
    """Wang et al. 2011, section III.D: the one result that the paper states."""
    made = data("ni", {"rows": 2_000})
    sizes = grouped(made, "kmembers", 7, **PAPER).sizes
    assert sizes.min() >= 7
    assert sizes.max() < 14
    assert len(sizes) == 2_000 // 7


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
def test_cb_is_level_with_nh_in_five_dimensions_only_if_categories_are_ordered(k):
    """He et al. 2012, Fig. 6 has CB below NH on INC-5. On few rows they are level; by hierarchies CB falls behind."""
    size = {"attributes": 5, "rows": 8_000}
    trees, ordered = data("income", size), data("income", size | {"ordered": True})

    def of_nh(**options):
        labels = grouped(trees, "cb", k, **options).labels
        return loss(ordered, Grouping.of(ordered.judge.codes, labels), k) / nh

    nh = loss(ordered, grouped(ordered, "nh", k, **PAPER), k)
    assert of_nh(**PAPER) < 1.1 < of_nh()
