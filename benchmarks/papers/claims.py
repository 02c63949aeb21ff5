"""What the papers claim, which reading decides, and what to make of it: the words under each claim of docs/papers.md.

Measured numbers are not here: they come from the results.
"""

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
            "label. KACA starts with classes of identical rows, of which there are “significantly less than the number "
            "of tuples”. That whole classes are merged, without stub and trunk, is a reading of the oracle only: see "
            "[readings](#readings)."
        ),
        why=(
            "*Why.* KACA does not change rows that have enough duplicates, while Incognito generalizes whole columns "
            "because of the rarest rows. How much lower the distortion is depends on which points are averaged: with "
            "one or two quasi-identifiers, KACA changes next to nothing and the factor is in the thousands; with all "
            "nine, it is above the paper's for k = 2 and below it for k = 10. The averages of all points differ by "
            "more than the printed factor, under every reading that we can run in full. The ratio does not rise with "
            "every attribute: it is relative to the fully generalized table, and an attribute that can be kept, such "
            "as race or sex for Incognito, lowers it."
        ),
    ),
    "C2": Claim(
        "bottom-up and top-down have a lower certainty penalty than Mondrian",
        "a clearly lower certainty penalty than MultiDim at every k, Adult",
        "both methods have a clearly lower certainty penalty than MultiDim (Mondrian on numbers); the gap is "
        "stable, about 20,000; the two are comparable.",
        ("xu2006-fig-7",),
        reading=(
            "a row goes where it increases the summed penalty least. Section 4.2: “the assignment depends on NCP(G_u, "
            "w) and NCP(G_v, w), where G_u, G_v are the groups formed so far. Tuple w is assigned to the group that "
            "leads to lower uncertainty penalty.” Taken by itself, the first sentence compares the two whole groups, "
            "each with w in it (`side`). The second one is about what an assignment leads to, which is a state of both "
            "groups. The paper has a penalty for that, the sum over all rows (section 3.2), and two assignments differ "
            "in it by what w adds to either group; the repair step of section 4.2 compares “the increase of penalty” "
            "as well. This is our inference, not a quotation; the paper's Fig. 12 refutes `side` (see "
            "[readings](#readings)). MultiDim cuts up to the median and above it, as in “split the data set at the "
            "median”, on categories numbered in alphabetical order (“treats a categorical attribute as a discrete "
            "numeric attribute”). The text does not say how MultiDim's penalty is measured; here its groups are "
            "measured like all others, by hierarchies, so that the figure compares the same quantity."
        ),
        why=(
            "*Why.* Both methods have a lower penalty than MultiDim, and on Adult so does every reading of the "
            "assignment. The size of the gap depends on two things that the text leaves open: how MultiDim's penalty "
            "is measured and how exactly it cuts. If one value has more than half of the rows, as in native country, "
            "race and work class, a cut up to the median and above it takes all rows up to that value and leaves too "
            "few above it, or none, and the attribute is not cut again. Measured by MultiDim's own intervals of "
            "category numbers, as C4 lets it publish them, the gap is about half as large, still two to three times "
            "the printed one, and falls with k. If the cut before the median is tried as well and all groups are "
            "measured by hierarchies, the gap has the printed size at some k, but it grows with k; by its own "
            "intervals, MultiDim then has the lower penalty. No combination gives a stable gap of the printed size, "
            "and we cannot tell which MultiDim the paper ran or what order its categories had. Comparing sides as "
            "whole boxes (`side`) loses about two and a half times as much as the reading that decides: a side that "
            "has grown wide loses the rows inside it, and the two sides come to overlap. `top-down` and `bottom-up` "
            "are similar for small k only; from k = 5 on, `top-down` loses less."
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
            "slightly behind. Every reading of the assignment is below MultiDim; a MultiDim with the second try is "
            "closer, and on uniform tables it is partly ahead of `bottom-up`."
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
            "nearest one, which removes most of its disadvantage, especially for small k. `top-down` needs more cuts "
            "and more repairs the smaller k is, so it is not independent of k. That `top-down` still takes about five "
            "times as long as MultiDim is a coincidence of two compiled programs. The reading `enlarge` may cut off "
            "one row at a time and then takes the quadratic time that the paper warns of."
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
            "*Why.* The search stops at a pair of rows that are each the furthest from the other, which need not be "
            "the furthest pair; from the third round on, it hardly moves. More rounds do not help then; other starts "
            "would. Means are over 200 starts per table; the paper does not say whether it reports a mean. As a mean "
            "over its three kinds of tables, the 97 % are confirmed; on Adult alone they are not. The 98.75 % are not "
            "reached: three more rounds change next to nothing."
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
            "*Why.* On Gaussian tables both methods are far below MultiDim, because values in the middle have more "
            "rows than a cut up to the median and above it can separate. On uniform tables `top-down` is comparable, "
            "or better for the smallest k, and `bottom-up` is worse from k = 5 on. For a wide spread, where a Gaussian "
            "table is nearly uniform, MultiDim is slightly better than `top-down`, not worse. `top-down` and "
            "`bottom-up` are comparable except in the fewest dimensions. In eight dimensions, where single values are "
            "rare everywhere, MultiDim's cuts are slightly better than `bottom-up`'s merges, where the paper has a "
            "high penalty for MultiDim. The readings `enlarge` and `seed` give the same picture, less clearly; `side` "
            "does not: it loses more than MultiDim on uniform tables at every k and on Gaussian ones for large k."
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
            "KACA as Li et al. describe it, starting with classes of identical rows (“form equivalence classes from "
            "the data set”, which are “significantly less than the number of tuples”), Incognito with the least "
            "information loss of its minimal solutions, and the loss as in Definition 5, with ages from the smallest "
            "to the largest of a class."
        ),
        why=(
            "*Why.* These four attributes have few combinations of values, so most rows have many duplicates. KACA "
            "starts with classes of identical rows and leaves those of at least k rows alone: its classes are large "
            "and cost nothing. In the paper's Table 10, KACA's classes are barely larger than k. So are ours if KACA "
            "starts with single rows (`start = rows`), a reading that “one tuple is also called an equivalent class” "
            "in the text of Li et al. allows; the KACA of this comparison may have done that. GCCG then loses about as "
            "much as KACA, but not half as much. Incognito's 36 and 20 classes are those of none of our minimal "
            "solutions either (16 to 32 classes), so the paper's hierarchies differ from ours. GCCG cuts classes of "
            "identical rows into k rows each and gathers rows around centres regardless of where groups of duplicates "
            "end, which is costly for some of the rows at the edges. If KACA's ages are published in ranges of 5, 10 "
            "or 20 years, as in its hierarchy, GCCG does lose less. Compared with Incognito, the loss is far below a "
            "third, for the same reason: few classes need any generalization. We do not know why the paper's losses "
            "are so much more alike. Times: the paper's ratios are those of distance computations that scan all rows. "
            "Ours use an index, which makes GCCG's time nearly proportional to the number of rows; parts of the table "
            "then save no work, they only distribute it over threads (two cores here)."
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
            "mention several tries. NH's cuts assign rows as those of `top-down` do, of which its partition is “a "
            "special” case (section 5); its own paper is not among our texts. CB draws its two random rows once per "
            "part: “in the first round, we randomly choose two tuples”, “at the later each round” centres are means."
        ),
        why=(
            "*Why.* With an order on every attribute, CB and NH are close on INC, where CB loses less in three and "
            "four dimensions; on SAL, NH is ahead at nearly all points, in three dimensions as the paper says. One "
            "start per part costs CB up to a quarter: if new random rows are drawn when rounds repeat themselves, "
            "which “tried r times” may also mean, CB is about level with NH. NH cuts like `top-down`, of which its "
            "partition is “a special” case according to the paper's section 5, so it benefits from the rule by which "
            "rows are assigned: most of Figs. 6 and 8 depends on it. If its cuts compare the growth of boxes "
            "(`enlarge`), every point comes out as printed. That does not make it the right reading: what rule NH's "
            "authors use we do not know, the tables are not the paper's, and a rule is not chosen here by its outcome. "
            "So `increase`, our reading of Xu et al.'s sentence, stays the default and decides. If the cuts compare "
            "whole boxes instead, NH loses more than CB everywhere: as in Fig. 6 for d > 3, but also on SAL-3, where "
            "the paper has NH ahead. If categories cost the leaves under their common ancestor, CB's centres, whose "
            "categories are the most frequent values, are equally far from most rows, and NH is ahead on most tables, "
            "especially on KDD, whose categories are flat. Halving by order helps CB there on SAL and hurts on INC. "
            "The tables are synthetic, so the levels of the paper's plots cannot be compared: the axis of its SAL-3 "
            "ends at 0.014, which ours exceeds."
        ),
    ),
}

PAPERS = (
    Paper(
        "Li, Wong, Fu, Pei 2006: KACA",
        ("li2006",),
        ("C1",),
        "*Achieving k-Anonymity by Clustering in Attribute Hierarchical Structures.* Adult, 45,222 complete rows, the "
        "nine attributes of the paper's Table 2 in its order, with the bundled hierarchies, whose heights and numbers "
        "of values match that table; ages in ranges of 5, 10 and 20 years. Ten repetitions (three with height weights "
        "and from single rows), each with its own merging order. The paper does not say which of Incognito's minimal "
        "solutions it takes: ours takes the one with the least distortion, the best that full-domain recoding can do. "
        "`compact` and the bound were run once per point; the bound is computed in the measure of the figure.",
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
        "σ in units of the values, rounded and clipped (a conjecture: the paper gives σ without a unit). The captions "
        "give what is held fixed, four dimensions, k = 10 and σ = 1.0, which is the same here; the values on the axes "
        "are not in our copy: we chose k = 2, 5, 10, 20, 50, 100 and σ = 0.5 to 6. Ten repetitions "
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
        "*Clustering-Based k-Anonymity.* The paper's SAL and INCOME tables are extracts from ipums.org, which requires "
        "a registration, does not allow redistribution and has many samples; the paper does not say which ones it "
        "took. We use two synthetic censuses instead, which everyone can generate, with the attributes, types and "
        "numbers of values of its Table 3, correlated and skewed like a census (SAL, INC), with every attribute "
        "ordered, and a real one, KDD census-income, cut to 3 to 7 attributes with flat categories (KDD), which is not "
        "in the paper. Figures by k and dimensionality have 100,000 rows of each (KDD: drawn at random), figures by "
        "rows have seven attributes and k = 50; the paper's defaults were in bold print that our copy lost. Both "
        "methods were run once per point, CB by hierarchies three times. `compact` runs with `effort = fast`, on KDD, "
        "as does the bound; NH publishes rows one by one, so the bound, which is about groups, does not apply to it.",
    ),
)
