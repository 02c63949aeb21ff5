"""The words of docs/papers.md. Numbers that we measured do not stand here: they come from the results."""

from __future__ import annotations

from typing import NamedTuple


class Claim(NamedTuple):
    """One claim of a paper."""

    title: str
    short: str
    says: str
    figures: tuple[str, ...]
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

# The papers' experiments, run again

Each method of coterie comes from a paper, and each paper says how good its method is. This page runs those experiments
again, with our implementations, and reports them as they came out. Nothing was tuned to make a claim hold. Where a
paper is vague ("about half", "comparable"), the limits that we read it by stand in square brackets. Tables headed
*beside it* do not count for the verdict: they are about our own method, other readings of the paper, and reasons.

`make papers` runs what has not been measured yet and writes this page; all of it took MINUTES minutes of CPU time. A
run that is interrupted goes on where it stopped. `make papers QUICK=1` runs everything on few rows in a minute or two
and checks that the effects that held in the full run have the same sign; continuous integration does so.

**How to read it.** *Time* is CPU time of the grouping step alone, on one thread unless said otherwise, kernels compiled
before; the machine was shared with other work, so differences of a fifth mean little. Bands and ± are one standard
deviation over the repeats. *Loss* does not depend on the machine. All methods search through an index, so their times
compare implementations, not the complexity that the papers speak of. Two curves are ours in every figure in which they
make sense: [`compact`](methods.md), and the [lower bound](bound.md) below which no grouping into groups of k rows can
get. The bound of discernability is n·k, that of the average class k; time and query errors have none.
"""

CLAIMS: dict[str, Claim] = {
    "C1": Claim(
        "KACA distorts far less than Incognito",
        "KACA's distortion is 5.57 times lower than Incognito's",
        "the distortion ratio of KACA is 5.57 times lower than that of Incognito on average, for k = 2 and 10 and 1 "
        "to 9 quasi-identifiers; it rises with k and with the number of quasi-identifiers; KACA takes longer.",
        ("li2006-fig-2", "li2006-fig-2-height"),
        "*Why.* KACA leaves rows alone that have enough twins, while Incognito generalises whole columns for the sake"
        " of the rarest rows. How much lower the distortion is depends on which points are averaged: with one or two "
        "quasi-identifiers KACA changes next to nothing and the factor is in the thousands, with all nine it is above"
        " the paper's for k = 2 and below it for k = 10. The ratio does not rise with every attribute: it is relative"
        " to a table in which everything is generalised, and an attribute that can be kept, such as race or sex for "
        "Incognito, lowers it.",
    ),
    "C2": Claim(
        "bottom-up and top-down have a lower certainty penalty than Mondrian",
        "a clearly lower certainty penalty than MultiDim at every k, Adult",
        "both methods have a clearly lower certainty penalty than MultiDim (Mondrian on numbers); the gap is stable, "
        "about 20,000; the two are comparable.",
        ("xu2006-fig-7",),
        "*Why.* `bottom-up` does what the paper says. `top-down`, read literally, does not for small k: a side is a "
        "box that grows with every row, and after a few outlying rows both boxes cover most of the part, so that the "
        "rows after them are dealt nearly at random; for small k there are many such cuts and they are not undone. "
        "Compared with the two seeds alone, which never grow, rows stay apart and the penalty is lower than "
        "MultiDim's at every k. What the paper reports fits that reading better. The gap to MultiDim is not stable in"
        " either reading: it grows with k.",
    ),
    "C3": Claim(
        "and a lower discernability penalty",
        "a lower discernability penalty than MultiDim, Adult and made-up tables",
        "both outperform MultiDim in discernability as well, on Adult and in all cases on made-up tables.",
        ("xu2006-fig-8", "xu2006-fig-15", "xu2006-fig-16", "xu2006-fig-17", "xu2006-fig-18"),
        "*Why.* Equal rows in several groups are published alike and count as one class here, as the definition "
        "(group-bys on the quasi-identifier) asks. Where a table has many equal rows, a method that keeps them "
        "together pays for it in discernability although nothing is lost: that is why `top-down`, which tears them "
        "apart, looks best on Gaussian tables, and why `compact` does not come near the bound there. `bottom-up` "
        "makes groups of up to 2k − 1 rows; MultiDim's halves are smaller than that on uniform tables, where "
        "`bottom-up` falls behind.",
    ),
    "C4": Claim(
        "and answer queries better",
        "lower errors of COUNT and SUM queries than MultiDim",
        "both outperform MultiDim substantially on Adult; on Gaussian tables both do when k is not large, and for "
        "large k top-down is best.",
        ("xu2006-fig-9", "xu2006-fig-20"),
        "*Why.* The mean is made by few queries: most of those with a predicate on all eight attributes of Adult ask "
        "for nobody and have no relative error, and of the others many ask for a handful of rows, of which a wide box"
        " says many times too much. By the median the methods are closer together. `top-down` read literally misses "
        "MultiDim for COUNT queries at the smallest k only, where its penalty is higher too (C2). MultiDim publishes "
        "intervals of its category numbers, as in the paper; `mondrian` with hierarchies is much better at queries "
        "than that.",
    ),
    "C5": Claim(
        "top-down stays within six times the time of Mondrian",
        "top-down takes 5 to 6 times as long as MultiDim, bottom-up much longer",
        "top-down is about 5 to 6 times slower than MultiDim, on Adult and up to 100,000 rows, and much faster than "
        "bottom-up; no method's time is sensitive to k.",
        ("xu2006-fig-10", "xu2006-fig-21"),
        "*Why.* The paper's `bottom-up` compares every group with every other; ours asks an index for the nearest "
        "one, which takes away most of its disadvantage, and most of all for small k. `top-down` needs more cuts and "
        "more repairs the smaller k is, hence it is not independent of k. MultiDim's time here is that of a compiled "
        "loop over distinct rows, a few hundredths of a second, which is hard to stay within six times of.",
    ),
    "C6": Claim(
        "three rounds find seeds that are far apart",
        "seed search reaches 97 % of the largest pair penalty in 3 rounds, 98.75 % in 6",
        "up to 3 rounds achieve 97 % of the maximal penalty, up to 6 more than 98.75 %, on Adult, uniform and "
        "Gaussian tables.",
        ("xu2006-fig-22",),
        "*Why.* The search stops at a pair of rows each of which is the furthest from the other, and that need not be"
        " the furthest pair; from the third round on it hardly moves. More rounds do not help then; other starts "
        "would. Means are over 200 starts; the paper does not say whether it printed a mean.",
    ),
    "C7": Claim(
        "made-up tables: top-down is best where data are skewed",
        "uniform: top-down ≈ MultiDim, bottom-up worse; Gaussian: both better; top-down best",
        "on uniform tables top-down and MultiDim are comparable, top-down better for small k, and bottom-up performs "
        "poorly; on Gaussian tables both are better than MultiDim; over σ and dimensionality top-down is best.",
        ("xu2006-fig-11", "xu2006-fig-12", "xu2006-fig-13", "xu2006-fig-14"),
        "*Why.* Again `top-down` read literally suffers from sides that grow until they overlap, here in every "
        "dimension at once. Compared with the seeds it is below `bottom-up` at nearly every point, and better than "
        "MultiDim on Gaussian tables with a small spread, as the paper has it; but it does not reach MultiDim on "
        "uniform tables for k above 2, nor in many dimensions. On such tables cutting at medians is hard to better: "
        "the cells of a grid are the right groups, and `compact` itself falls slightly behind MultiDim on uniform "
        "tables for the largest k. In two dimensions, where nearly all rows have twins and few rows are left to group"
        " at all, `compact` is behind as well.",
    ),
    "C8": Claim(
        "weights make the queries that matter more exact",
        "weights 8, 4, 2, 1 lower the error of queries on A1, A1A2, A1A2A3",
        "with weights 8, 4, 2, 1 on four uniform attributes, queries on A1, A1A2 and A1A2A3 are answered more "
        "accurately than without; when all attributes are asked for, some accuracy may be lost.",
        ("xu2006-fig-19",),
        "*Why.* It is as the paper says: heavier attributes stay narrower, and queries on them gain; only `top-down` "
        "read literally also gains when all four attributes are asked for.",
    ),
    "C9": Claim(
        "GCCG loses half of what KACA loses, ten times as fast",
        "half of KACA's loss, a third of Incognito's, 10 times as fast as KACA; parts are faster still",
        "GCCG's information loss is about half of KACA's and a third of Incognito's, it is about 10 times as fast as "
        "KACA, its classes have k rows on average; 2 parts make it 3.5 times and 4 parts 10.5 times as fast, with "
        "little more loss.",
        ("ni2017-fig-3", "ni2017-fig-4", "ni2017-fig-5", "ni2017-fig-6"),
        "*Why.* These four attributes take few combinations of values, so most rows have many twins. KACA begins with"
        " classes of identical rows and leaves those of at least k rows alone: its classes are large and cost "
        "nothing. The paper's Table 10 has KACA's classes barely larger than k, so the KACA that it was compared with"
        " must have cut classes of identical rows, which the algorithm of Li et al. does not. GCCG cuts them into k "
        "rows each and gathers around centres without regard to where groups of twins end, which costs some of the "
        "rows at the edges. If KACA's ages are published in ranges of 5, 10 or 20 years, as its hierarchy has them, "
        "GCCG does lose less. Against Incognito the loss is far below a third, for the same reason: few classes need "
        "any generalisation. We do not know what made the paper's losses so much more alike. Times: the paper's "
        "ratios are those of distance computations that look at all rows. Ours go through an index, which makes "
        "GCCG's time nearly proportional to the rows; parts of the table then do not save work, they only spread it "
        "over threads (two cores here).",
    ),
    "C10": Claim(
        "CB loses less than NH in more than three dimensions",
        "lower GCP than NH for d > 3; GCP linear in k; time linear in n",
        "CB has a lower global certainty penalty than NH, except on SAL-3; it grows linearly with k and falls with "
        "the number of rows; time grows linearly with the rows, and NH is more efficient.",
        (
            "he2012-fig-6-sal", "he2012-fig-6-income", "he2012-fig-6-kdd", "he2012-fig-7", "he2012-fig-8",
            "he2012-fig-9",
        ),
        "*Why.* It depends on what a category is. The paper's definition of NCP supposes an order on the values of "
        "every attribute and takes the width of the interval. Ours takes the leaves under the common ancestor, and so"
        " does every other method here. CB compares rows with two centres whose categories are the most frequent "
        "values: with flat or shallow trees most rows are equally far from both, and the halves overlap, most of all "
        "on KDD, where all attributes but age are flat. With all categories numbered and cut like numbers, CB loses "
        "clearly less than NH on both made-up tables at every d, as the paper says (last line of the second table). "
        "In our implementations NH is slower than CB, not faster. Growth with k and with the rows is close to linear "
        "but misses the limits that we set.",
    ),
}  # fmt: skip

PAPERS = (
    Paper(
        "Li, Wong, Fu, Pei 2006: KACA",
        ("li2006",),
        ("C1",),
        "*Achieving k-Anonymity by Clustering in Attribute Hierarchical Structures.* Adult, 45,222 complete rows, the"
        " nine attributes of the paper's Table 2 in its order, with the bundled hierarchies, whose heights and "
        "numbers of values are those of that table; ages in ranges of 5, 10 and 20 years. Ten repeats (three with "
        "height weights), each with its own order of merging. The paper does not say which of Incognito's minimal "
        "solutions it takes: ours takes the one with the least distortion, which is the best that a full-domain "
        "recoding can do. `compact` and the bound were run once for each point; the bound is worked out in the "
        "measure of the figure.",
    ),
    Paper(
        "Xu, Wang, Pei, Wang, Shi, Fu 2006: bottom-up and top-down",
        ("xu2006", "xu2006_made", "xu2006_seeds", "xu2006_queries"),
        ("C2", "C3", "C4", "C5", "C6", "C7", "C8"),
        "*Utility-Based Anonymization for Privacy Preservation with Less Information Loss.* Adult, 30,162 complete "
        "training rows, salary class left out: age and education level are numbers, work class and marital status "
        "have hierarchies (the bundled ones; the paper's are in a figure that we do not have), all others are flat. "
        "MultiDim is strict `mondrian` on categories numbered in alphabetical order, which is how the paper describes"
        " it; its groups are then measured like all others. `mondrian` as coterie has it, which cuts categories in "
        "the order of their hierarchies, is drawn beside it. Made-up tables have 10,000 rows and four attributes with"
        " values from 1 to 16, uniform or Gaussian around the middle with σ in units of the values, rounded and "
        "clipped (a conjecture: the paper gives σ without a unit); on them the two kinds of `mondrian` are the same. "
        "The paper prints neither its k nor its σ: we took k = 2, 5, 10, 20, 50, 100 and σ = 0.5 to 6. Ten repeats "
        "(Adult: seeds of the method; made-up: ten tables), three tables for time over rows, one run for queries, "
        "three tables for weights; `compact` and the bound once for each point. `top-down` compares a row with a side"
        " as it has grown so far, as the paper says; it also says that rows are assigned according to the two seed "
        "tuples, which is the curve `compare = seed`.",
    ),
    Paper(
        "Ni, Xie, Qian 2017: GCCG",
        ("ni2017",),
        ("C9",),
        "*Clustering Based K-anonymity Algorithm for Privacy Preservation.* Adult with 30,661 rows. The paper does "
        "not say how it comes to that number; the training rows with a known work class, without the column "
        "occupation and without duplicates, are 30,661 with 72 ages and 8 work classes, as in its Table 9, and this "
        "is what we take to be its recipe (a conjecture). Age, sex, race and education; education has three levels as"
        " in Table 9, of which the middle one is ours. KACA and Incognito group ages in ranges of 5, 10 and 20 years "
        "(five levels, Table 9). All losses are by the paper's definition, ages from the least to the greatest of a "
        "class. Ten repeats; `compact` and the bound once.",
    ),
    Paper(
        "He, Chen, Chen, Dong, Wang, Huang 2012: CB",
        ("he2012",),
        ("C10",),
        "*Clustering-Based k-Anonymity.* The paper's SAL and INCOME tables are not public downloads. In their place: "
        "two made-up censuses with the attributes, types and numbers of values of its Table 3, correlated and skewed "
        "like a census (SAL, INC), and a real one, KDD census-income, cut to 3 to 7 attributes with flat categories "
        "(KDD). Figures over k and dimensionality have 100,000 rows of each (KDD: drawn at random), figures over rows"
        " have seven attributes and k = 50; the paper's defaults were in bold print that our copy lost. CB was run "
        "three times in the figures over k of SAL and INC and once elsewhere, NH once. `compact` runs with `effort = "
        "fast`; it and the bound take up to a minute a point here and were worked out for k = 50, and on SAL-3, SAL-4"
        " and KDD for k = 150 and 250 too. NH publishes rows one by one, so the bound, which is about groups, does "
        "not bind it.",
    ),
)
