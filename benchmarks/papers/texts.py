"""The words of docs/papers.md. Measured numbers are not here: they come from the results."""

from __future__ import annotations

from typing import NamedTuple


class Claim(NamedTuple):
    """One claim of a paper."""

    title: str
    short: str
    says: str
    figures: tuple[str, ...]
    reading: str = ""
    """which reading of the paper decides, and which of its sentences says so"""
    why: str = ""
    """what to make of it, in particular where it does not hold"""


class Paper(NamedTuple):
    """A section of the page."""

    title: str
    scripts: tuple[str, ...]
    claims: tuple[str, ...]
    setting: str
    """data, parameters, and what the paper leaves open"""


HEAD = """\
<!-- Made by `python -m benchmarks.papers --page` from benchmarks/results/papers; do not edit this page. -->

# The papers' experiments

Each method of coterie comes from a paper, and each paper reports how good its method is. This page repeats those
experiments with our implementations and reports the results as they are. Nothing was tuned to make a claim hold. If a
paper can be read in more than one way, the reading closest to its text decides, and the claim quotes the sentence. The
sensitivity table below each claim shows the other readings, our own baselines and our own methods; these do not count.
Every reading is an option of the method or of its oracle in `tests/oracles`. If a paper is vague ("about half",
"comparable"), our limits are given in square brackets.

A statement **holds**, **nearly holds** (no point misses the limit by more than a twentieth of it), **holds in part**
(at n of m points) or **does not hold**. It **cannot be judged** if the paper reports the seconds of its machine or
compares the running times of programs that scan all rows while ours use an index: the figures are given, but they say
nothing about the paper's.

`make papers` runs what has not been measured yet and writes this page; all of it took MINUTES minutes of CPU time. An
interrupted run continues where it stopped. `make papers QUICK=1` runs everything on few rows in a minute or two and
checks that the effects that held in the full run have the same sign; continuous integration does so.

A point keeps the date of the run that measured it and is not rerun if nothing has changed; `--again compact` reruns the
points of one method. The commits of its runs are listed under each paper.

**How to read it.** *Time* is the CPU time of the grouping step alone, on one thread by default, with precompiled
kernels; the machine was shared with other work, so differences of a fifth mean little. Bands and ± are one standard
deviation over the repetitions. *Loss* does not depend on the machine. All methods use an index, so their times compare
implementations, not the complexity that the papers discuss. Two curves are ours wherever they make sense:
[`compact`](methods.md), and the [lower bound](bound.md) for any grouping into groups of k rows. The bound on
discernability is n·k and that on the average class size is k; time and query errors have none.
"""

PRINTED = (
    "Every figure that a paper's text reports about its results, compared with ours under the reading that "
    "decides. The plots of the papers are pictures without numbers and are omitted. Worked examples are reproduced "
    "to the printed digits; each is a golden case under `tests/golden`, which the tests run. Wang et al. 2011 report "
    "no experiment; besides the sizes of clusters, their text has a time of O(n), which an algorithm that looks at "
    "all remaining rows for each row it adds, as theirs does, cannot have."
)

WORKED: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("Li et al. 2006", "Table 1: modification rates 22.2 % and 66.7 %; KACA with k = 2 gives Table 1b",
     ("li2006_table1b", "li2006_table1c")),
    ("Li et al. 2006", "WHD(6, 4) = 0.4 and, by height, WHD(6, 5) = 0.087; WHD(2, 1) = 1",
     ("li2006_birth_year", "li2006_birth_month", "li2006_gender")),
    ("Li et al. 2006", "distortion of t3 1.25, of Table 1b 2.5; distance of two classes 2.5",
     ("li2006_tuple", "li2006_distance")),
    ("Xu et al. 2006", "Example 1: total uncertainty 190 for pairs, 150 for two groups of three, which top-down finds",
     ("xu2006_example1_pairs", "xu2006_example1", "xu2006_example1_top_down")),
    ("Xu et al. 2006", "Example 4: bottom-up with k = 2 makes the two groups of three, 3-anonymous as a byproduct",
     ("xu2006_example4",)),
    ("Xu et al. 2006", "Example 3: penalties 1 and 6/7", ("xu2006_example3",)),
    ("Xu et al. 2006", "Figure 1: two 3-anonymous tables and their interval widths",
     ("xu2006_figure1b", "xu2006_figure1c")),
    ("Wang et al. 2011", "Table 2, and clusters of k to 2k − 1 rows", ("wang2011_table2", "wang2011_sizes")),
    ("Ni et al. 2017", "Figure 2: information loss 2/3, distance 1/2", ("ni2017_figure2",)),
    ("Ni et al. 2017", "Table 2 as published in Table 3, k = 2", ("ni2017_table3",)),
    ("Ni et al. 2017", "Table 5: scores 1.8, 1.8, 1.8, 1.6, 1.6, 1.4, 1.4, 1.2, 1.1, 0.9; Tables 6 and 7",
     ("ni2017_table7",)),
    ("Ni et al. 2017", "Table 8, in two parts", ("ni2017_table8",)),
    ("He et al. 2012", "Table 2: groups {Andy, Bob}, {Jane, Alex}, {Mary, Lily, Lucy}", ("he2012_table2",)),
    ("He et al. 2012", "Fig. 5: dealing rows out is l-diverse", ("he2012_figure5",)),
)  # fmt: skip

DESCRIBED: tuple[tuple[str, str, str], ...] = (
    ("Li et al. 2006", "Table 2: 45,222 rows; 74, 7, 16, 7, 14, 5, 2, 41, 2 values; heights 4, 3, 4, 3, 2, 2, 1, 3, 1",
     "test_adult_as_li_et_al_have_it"),
    ("Xu et al. 2006", "section 5.2: Adult has 30,162 rows",
     "test_adult_as_xu_et_al_have_it"),
    ("Xu et al. 2006", "section 5.3: synthetic tables have 10,000 rows, their values are the integers from 1 to 16",
     "test_made_up_tables"),
    ("Ni et al. 2017", "Table 9: 30,661 rows; 72 ages, 8 work classes, 5 races, 16 educations; 5, 2, 2, 3 levels",
     "test_adult_as_ni_et_al_have_it"),
    ("He et al. 2012", "Table 3: numbers of values of SAL and INCOME, up to 5 of them not drawn",
     "test_sal_and_income_have_the_schema_of_he_et_al"),
)  # fmt: skip
"""what a paper prints about its tables, and the test by which ours are the same"""

READ = (
    "Where a text can be read in several ways, its own results may decide. Each result below is a test in "
    "`tests/test_reported_results.py`, which plants the other readings and sees them refused. Other readings meet the "
    "printed results as ours does: there the text alone decides, and the figures show how much depends on it."
)

READINGS: tuple[tuple[str, str, str, str, tuple[str, ...]], ...] = (
    ("`kaca`", "Table 1b, in whatever order the rows stand",
     "a class counts as one tuple in distances (Definition 9 for Definition 10)",
     "whole classes are merged, without stub and trunk (Algorithm 1 on its own): the distortion ratio is 27.5 "
     "instead of 30.7 times below Incognito's (2 attributes, 1,000 rows, k = 2)",
     ("test_kaca_makes_table_1b_in_whatever_order_rows_stand",)),
    ("`top-down`", "better than MultiDim on Gaussian tables (Fig. 12)", "sides are compared as whole boxes (`side`)",
     "`enlarge` and `seed`: see C2 and C7",
     ("test_top_down_is_better_than_multidim_on_gaussian_tables_and_comparable_on_uniform_ones",)),
    ("`kmembers`", "clusters of k to 2k − 1 rows (section III.D); Table II",
     "equal rows are one point; categories are 0 or 1 apart (“simple and intuitive”, before Definition 3)",
     "Total-IL 311 as published; 357 if the row nearest to the seed is added, 327 if one cluster takes all rows that "
     "are left (“the existing cluster”), 309 with shares of leaves, 332 with the seeds of Byun et al. (600 rows, "
     "k = 7)",
     ("test_kmembers_has_clusters_of_k_to_just_under_2k_rows",
      "test_kmembers_makes_table_2_only_if_dates_have_a_tree")),
    ("`gccg`", "scores of Table 5, classes of Tables 3, 6 and 8",
     "a number counts as “the ratio of the value to K” (section 4.2); rows are graded again for each class, or in "
     "each part",
     "distances by shares of leaves: information loss 0.00615 instead of 0.00616 (all rows, k = 5)",
     ("test_gccg_grades_numbers_as_in_table_5", "test_gccg_makes_the_classes_that_are_printed")),
    ("`cb`", "not behind NH on INC-5 (Fig. 6f)", "categories by hierarchies instead of an order (Definition 1)",
     "one start or several per part: see C10",
     ("test_cb_is_level_with_nh_in_five_dimensions_only_if_categories_are_ordered",)),
    ("`nh`", "a lower loss than CB on SAL-3 (Fig. 6a); QI-groups of one row (section 5)",
     "sides are compared as whole boxes (`side`) or by their seeds (`seed`); parts are published as a whole",
     "`enlarge`: 0.0270 instead of 0.0265, CB 0.0291 (SAL-3, 20,000 rows, k = 50)",
     ("test_nh_loses_less_than_cb_on_sal_in_three_dimensions", "test_nh_has_groups_of_about_one_row")),
)  # fmt: skip
"""method, printed result that decides, readings that it refutes, readings that nothing printed decides, tests"""

CLAIMS: dict[str, Claim] = {
    "C1": Claim(
        "KACA distorts far less than Incognito",
        "KACA's distortion is 5.57 times lower than Incognito's",
        "the distortion ratio of KACA is 5.57 times lower than that of Incognito on average, for k = 2 and 10 and "
        "1 to 9 quasi-identifiers; it rises with k and, like the time, with their number; KACA takes longer.",
        ("li2006-fig-2", "li2006-fig-2-height"),
        reading=(
            "uniform weights, the ratio of the averages over both k and 1 to 9 quasi-identifiers: the sentence "
            "refers to both panels of Fig. 2 and says “on average”. Distortion counts the level of the published "
            "label."
        ),
        why=(
            "*Why.* KACA does not change rows that have enough duplicates, while Incognito generalizes whole "
            "columns because of the rarest rows. How much lower the distortion is depends on which points are "
            "averaged: with one or two quasi-identifiers, KACA changes next to nothing and the factor is in the "
            "thousands; with all nine, it is above the paper's for k = 2 and below it for k = 10. The ratio does "
            "not rise with every attribute: it is relative to the fully generalized table, and an attribute that "
            "can be kept, such as race or sex for Incognito, lowers it."
        ),
    ),
    "C2": Claim(
        "bottom-up and top-down have a lower certainty penalty than Mondrian",
        "a clearly lower certainty penalty than MultiDim at every k, Adult",
        "both methods have a clearly lower certainty penalty than MultiDim (Mondrian on numbers); the gap is "
        "stable, about 20,000; the two are comparable.",
        ("xu2006-fig-7",),
        reading=(
            "a row goes where it increases the summed penalty least. “Tuple w is assigned to the group that leads "
            "to lower uncertainty penalty”; section 3.2 defines the penalty as a sum over the rows of the table, "
            "and the repair step in the same section compares “the increase of penalty”. MultiDim cuts up to the "
            "median and above it, as in “split the data set at the median”, on categories numbered in alphabetical "
            "order (“treats a categorical attribute as a discrete numeric attribute”); its groups are then "
            "measured like all others."
        ),
        why=(
            "*Why.* Both methods behave as the paper says, and on Adult so does every reading of the assignment. "
            "The gap is far larger than the paper's because of MultiDim: if one value has more than half of the "
            "rows, as in native country, race and work class, a cut up to the median and above it takes all rows "
            "up to that value and leaves too few above it, or none, and the attribute is not cut again. If the cut "
            "before the median is tried as well, the gap has the size that the paper reports, though it grows with "
            "k. The MultiDim of the paper was therefore better than its description, through a second try or "
            "another order of the categories. Comparing sides as whole boxes (`side`) loses about two and a half "
            "times as much as the reading that decides: a side that has grown wide loses the rows inside it, and "
            "the two sides come to overlap. `top-down` and `bottom-up` are similar for small k only; from k = 5 "
            "on, `top-down` loses less."
        ),
    ),
    "C3": Claim(
        "and a lower discernability penalty",
        "a lower discernability penalty than MultiDim, Adult and synthetic tables",
        "both outperform MultiDim in discernability as well, on Adult and all synthetic tables, and are similar.",
        ("xu2006-fig-8", "xu2006-fig-15", "xu2006-fig-16", "xu2006-fig-17", "xu2006-fig-18"),
        reading=(
            "the same methods as in C2. A class is a set of rows with the same published values, as in the "
            "definition (group-bys on the quasi-identifier)."
        ),
        why=(
            "*Why.* Equal rows in several groups have the same published values and count as one class. In a table "
            "with many equal rows, a method that keeps them together pays for it in discernability although "
            "nothing is lost, and `compact` is far from the bound there. `bottom-up` makes groups of up to 2k − 1 "
            "rows; MultiDim's halves are smaller than that on some uniform tables, where `bottom-up` falls "
            "slightly behind."
        ),
    ),
    "C4": Claim(
        "and answer queries better",
        "lower errors of COUNT and SUM queries than MultiDim",
        "both outperform MultiDim substantially on Adult; on Gaussian tables both do when k is not large, and for "
        "large k top-down is best.",
        ("xu2006-fig-9", "xu2006-fig-20"),
        reading=("the same methods as in C2, and the mean relative error, which is the “error rate” of a workload."),
        why=(
            "*Why.* A few queries dominate the mean: most of those with a predicate on all eight attributes of "
            "Adult match nobody and have no relative error, and many of the others match a handful of rows, which "
            "a wide box overestimates many times. By the median, the methods are closer together. MultiDim "
            "publishes intervals of its category numbers, as in the paper; `mondrian` with hierarchies is much "
            "better at queries than that."
        ),
    ),
    "C5": Claim(
        "top-down stays within six times the time of Mondrian",
        "top-down takes 5 to 6 times as long as MultiDim, bottom-up much longer",
        "top-down is about 5 to 6 times slower than MultiDim, on Adult and up to 100,000 rows, and much faster "
        "than bottom-up; no method's time is sensitive to k.",
        ("xu2006-fig-10", "xu2006-fig-21"),
        reading=(
            "CPU time of the grouping step. The paper gives the complexity of its programs, O(n²) for both, with "
            "which ours can be compared; ratios between its programs cannot be derived from ours, which use an "
            "index."
        ),
        why=(
            "*Why.* The paper's `bottom-up` compares every group with every other; ours uses an index to find the "
            "nearest one, which removes most of its disadvantage, especially for small k. `top-down` needs more "
            "cuts and more repairs the smaller k is, so it is not independent of k. That `top-down` still takes "
            "about five times as long as MultiDim is a coincidence of two compiled programs."
        ),
    ),
    "C6": Claim(
        "three rounds find seeds that are far apart",
        "seed search reaches 97 % of the largest pair penalty in 3 rounds, 98.75 % in 6",
        "up to 3 rounds achieve 97 % of the maximal penalty, up to 6 more than 98.75 %, on Adult, uniform and "
        "Gaussian tables.",
        ("xu2006-fig-22",),
        reading=(
            "the mean over the three kinds of tables: “on both the real data sets and the synthetic data sets”, "
            "with one figure for all."
        ),
        why=(
            "*Why.* The search stops at a pair of rows that are each the furthest from the other, which need not "
            "be the furthest pair; from the third round on, it hardly moves. More rounds do not help then; other "
            "starts would. Means are over 200 starts per table; the paper does not say whether it reports a mean. "
            "As a mean over its three kinds of tables, the 97 % are confirmed; on Adult alone they are not."
        ),
    ),
    "C7": Claim(
        "synthetic tables: top-down is best where data are skewed",
        "uniform: top-down ≈ MultiDim, bottom-up worse; Gaussian: both better; top-down best",
        "on uniform tables top-down and MultiDim are comparable, top-down better for small k, and bottom-up "
        "performs poorly; on Gaussian tables both are better than MultiDim, which catches up with bottom-up if data "
        "are less biased; over σ and dimensionality top-down is best.",
        ("xu2006-fig-11", "xu2006-fig-12", "xu2006-fig-13", "xu2006-fig-14"),
        reading=(
            "as in C2; on synthetic tables all attributes are numbers, so the two kinds of MultiDim differ in the "
            "second try only."
        ),
        why=(
            "*Why.* With rows assigned by the increase of the penalty, nearly all of it is confirmed: on Gaussian "
            "tables both methods are far below MultiDim, because values in the middle have more rows than a cut up "
            "to the median and above it can separate; on uniform tables `top-down` is comparable, better for small "
            "k, and `bottom-up` worse from k = 5 on. Two statements fail. For a wide spread, where a Gaussian "
            "table is nearly uniform, MultiDim is slightly better than `top-down`, not worse. And in eight "
            "dimensions, where single values are rare everywhere, MultiDim's cuts are as good as `bottom-up`'s "
            "merges. The readings `enlarge` and `seed` give the same picture, less clearly; `side` does not: it "
            "loses more than MultiDim on uniform tables at every k and on Gaussian ones for large k."
        ),
    ),
    "C8": Claim(
        "weights make the queries that matter more exact",
        "weights 8, 4, 2, 1 lower the error of queries on A1, A1A2, A1A2A3",
        "with weights 8, 4, 2, 1 on four uniform attributes, queries on A1, A1A2 and A1A2A3 are answered more "
        "accurately than without; queries on all attributes may lose some accuracy.",
        ("xu2006-fig-19",),
        reading=("as in C2."),
        why=("*Why.* This is as the paper says: heavier attributes stay narrower, and queries on them benefit."),
    ),
    "C9": Claim(
        "GCCG loses half of what KACA loses, ten times as fast",
        "half of KACA's loss, a third of Incognito's, 10 times as fast as KACA; parts are faster still",
        "GCCG's information loss is about half of KACA's and a third of Incognito's, it is about 10 times as fast "
        "as KACA and nearly as fast as Incognito, its classes have k rows on average; 2 parts make it 3.5 times and "
        "4 parts 10.5 times as fast, with little more loss.",
        ("ni2017-fig-3", "ni2017-fig-4", "ni2017-fig-5", "ni2017-fig-6"),
        reading=(
            "KACA as Li et al. describe it, Incognito with the least information loss of its minimal solutions, "
            "and the loss as in Definition 5, with ages from the smallest to the largest of a class."
        ),
        why=(
            "*Why.* These four attributes have few combinations of values, so most rows have many duplicates. KACA "
            "starts with classes of identical rows and leaves those of at least k rows alone: its classes are "
            "large and cost nothing. In the paper's Table 10, KACA's classes are barely larger than k, so the KACA "
            "of its comparison must have cut classes of identical rows, which the algorithm of Li et al. does not "
            "do. Incognito's 36 and 20 classes are those of none of our minimal solutions either (16 to 32 classes), "
            "so the paper's hierarchies differ from ours. GCCG cuts classes of identical rows into k rows each and "
            "gathers rows around centres regardless of where groups of "
            "duplicates end, which is costly for some of the rows at the edges. If KACA's ages are published in "
            "ranges of 5, 10 or 20 years, as in its hierarchy, GCCG does lose less. Compared with Incognito, the "
            "loss is far below a third, for the same reason: few classes need any generalization. We do not know "
            "why the paper's losses are so much more alike. Times: the paper's ratios are those of distance "
            "computations that scan all rows. Ours use an index, which makes GCCG's time nearly proportional to "
            "the number of rows; parts of the table then save no work, they only distribute it over threads (two "
            "cores here)."
        ),
    ),
    "C10": Claim(
        "CB loses less than NH in more than three dimensions",
        "lower GCP than NH for d > 3; GCP linear in k; time linear in n",
        "CB has a lower global certainty penalty than NH, except on SAL-3; it grows linearly with k and falls with "
        "the number of rows; time grows linearly with the rows, and NH is more efficient.",
        ("he2012-fig-6-sal", "he2012-fig-6-income", "he2012-fig-6-kdd", "he2012-fig-7", "he2012-fig-8", "he2012-fig-9"),
        reading=(
            "Definition 1: “suppose there exists a global order on all possible values in the domain”, the penalty "
            "is the width of the interval, and centres are means. Both tables are therefore ordered in every "
            "attribute, CB runs with `preset = paper`, and NH cuts each part once, because the text does not "
            "mention several tries. CB draws its two random rows once per part: “in the first round, we randomly "
            "choose two tuples”, “at the later each round” centres are means."
        ),
        why=(
            "*Why.* With an order on every attribute, CB and NH are close on INC, where CB loses less in three and "
            "four dimensions; on SAL, NH is ahead at nearly all points, in three dimensions as the paper says. One "
            "start per part costs CB up to a quarter: if new random rows are drawn when rounds repeat themselves, "
            "which “tried r times” may also mean, CB is about level with NH. NH cuts like `top-down`, of which its "
            "partition is “a special” case according to the paper's section 5, so it benefits from the rule by which "
            "rows are assigned. If its cuts compare whole boxes instead, NH loses more than CB everywhere: as in "
            "Fig. 6 for d > 3, but also on SAL-3, where the paper has NH ahead. If categories cost the leaves under "
            "their common ancestor, CB's centres, whose categories are the most frequent values, are equally far from "
            "most rows, and NH is ahead on most tables, especially on KDD, whose categories are flat. Halving by "
            "order helps CB there on SAL and hurts on INC. The tables are synthetic, so no figure of the paper's "
            "plots can be compared."
        ),
    ),
}

PAPERS = (
    Paper(
        "Li, Wong, Fu, Pei 2006: KACA",
        ("li2006",),
        ("C1",),
        "*Achieving k-Anonymity by Clustering in Attribute Hierarchical Structures.* Adult, 45,222 complete rows, "
        "the nine attributes of the paper's Table 2 in its order, with the bundled hierarchies, whose heights and "
        "numbers of values match that table; ages in ranges of 5, 10 and 20 years. Ten repetitions (three with "
        "height weights), each with its own merging order. The paper does not say which of Incognito's minimal "
        "solutions it takes: ours takes the one with the least distortion, the best that full-domain recoding can "
        "do. `compact` and the bound were run once per point; the bound is computed in the measure of the figure.",
    ),
    Paper(
        "Xu, Wang, Pei, Wang, Shi, Fu 2006: bottom-up and top-down",
        ("xu2006", "xu2006_made", "xu2006_seeds", "xu2006_queries"),
        ("C2", "C3", "C4", "C5", "C6", "C7", "C8"),
        "*Utility-Based Anonymization for Privacy Preservation with Less Information Loss.* Adult, 30,162 complete "
        "training rows, without salary class: age and education level are numbers, work class and marital status "
        "have hierarchies (the bundled ones; the paper's are in a figure that we do not have), all others are "
        "flat. MultiDim is `mondrian` with `preset = paper`, on Adult with categories numbered in alphabetical "
        "order. For comparison there are the same with the cut before the median tried as well (our second try), "
        "and coterie's `mondrian`, which also cuts categories in the order of their hierarchies. Synthetic tables "
        "have 10,000 rows and four attributes with values from 1 to 16, uniform or Gaussian around the middle with "
        "σ in units of the values, rounded and clipped (a conjecture: the paper gives σ without a unit). The paper "
        "reports neither its k nor its σ: we chose k = 2, 5, 10, 20, 50, 100 and σ = 0.5 to 6. Ten repetitions "
        "(Adult: seeds of the method; synthetic: ten tables), three tables for time by rows, one run for queries, "
        "three tables for weights; `compact`, the bound and the slow reading `enlarge` once per point, the latter "
        "on Adult for k up to 10.",
    ),
    Paper(
        "Ni, Xie, Qian 2017: GCCG",
        ("ni2017",),
        ("C9",),
        "*Clustering Based K-anonymity Algorithm for Privacy Preservation.* Adult with 30,661 rows. The paper does "
        "not explain that number; the training rows with a known work class, without the column occupation and "
        "without duplicates, are 30,661 with 72 ages and 8 work classes, as in its Table 9, so we assume that it "
        "selected these (a conjecture). Age, sex, race and education; education has three levels as in Table 9, of "
        "which the middle one is ours. KACA and Incognito group ages in ranges of 5, 10 and 20 years (five levels, "
        "Table 9). All losses follow the paper's definition, with ages from the smallest to the largest of a "
        "class. Ten repetitions; `compact` and the bound once.",
    ),
    Paper(
        "He, Chen, Chen, Dong, Wang, Huang 2012: CB",
        ("he2012",),
        ("C10",),
        "*Clustering-Based k-Anonymity.* The paper's SAL and INCOME tables are not publicly available. We use two "
        "synthetic censuses instead, with the attributes, types and numbers of values of its Table 3, correlated "
        "and skewed like a census (SAL, INC), with every attribute ordered, and a real one, KDD census-income, cut "
        "to 3 to 7 attributes with flat categories (KDD), which is not in the paper. Figures by k and "
        "dimensionality have 100,000 rows of each (KDD: drawn at random), figures by rows have seven attributes "
        "and k = 50; the paper's defaults were in bold print that our copy lost. Both methods were run once per "
        "point, CB by hierarchies three times. `compact` runs with `effort = fast`, on KDD, as does the bound; NH "
        "publishes rows one by one, so the bound, which is about groups, does not apply to it.",
    ),
)
