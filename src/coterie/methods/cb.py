"""CB, clustering by halving: He, Chen, Chen, Dong, Wang, Huang, "Clustering-based k-anonymity", 2012.

Section 3, Fig. 4: while a part has at least 2k rows, halve it in up to r rounds of two-means clustering and keep the
round with the least NCP(G₁) + NCP(G₂), summed over rows. The centres are two random rows at first, then the means of
the halves; each row goes to the centre for which NCP(row ∪ centre) is lower, ties to the half that has fewer rows so
far, in shuffled order; a half of fewer than k rows borrows from the other. All groups have k … 2k − 1 rows.

Section 4, if the run asks for frequency l-diversity (the most frequent sensitive value in at most 1/l of a group): a
round counts only if both halves are l-diverse; a part for which no round is gets dealt out round-robin, in the order
of the sensitive values (Fig. 5).

Details and deviations
    * The paper's Definition 1 assumes an order on the values of every attribute, takes the widths of intervals and
      uses means as centres. `categories="order"` (`preset="paper"`) does so, in the order of the hierarchy's leaves or
      of the alphabet. By default a category costs the share of leaves under the common ancestor, which is what is
      published, and its mean is the most frequent value, the lowest code of several.
    * The text of section 3 compares Δ₁ = NCP(C₁ ∪ w) with Δ₂ = NCP(G₂ ∪ w), a centre with a half as it has grown.
      Fig. 4 has NCP(w ∪ C₂) for the second, as two-means clustering does, and is followed: which of the two random
      rows is the first should not matter. Table 2 comes out either way.
    * A number's mean ignores missing values; if these are more than half, the centre is missing too.
    * The borrowed rows are those nearest to the borrowing half's centre; ties go to the lowest row.
    * Attributes on which both centres agree are left out of the comparison, which they cannot change.
    * A round in which nothing moves and nothing ties would repeat itself for all remaining rounds. The paper accepts
      that: its two random rows are drawn "in the first round" only, as with `restarts=False` (`preset="paper"`). By
      default two new random rows are drawn instead, and after `rounds` rounds in any case.
    * Fig. 5 refuses tables in which the most frequent value has |T| / l rows, Theorem 3 allows them; they are allowed.
    * Fig. 5 deals out to ⌊n / l⌋ groups, of about l rows. If k > l, it deals to the largest number
      of at most ⌊n / k⌋ groups that are l-diverse when dealt directly, or joined from the ⌊n / l⌋ of Fig. 5: joins of
      l-diverse groups are l-diverse. With several sensitive columns rows are dealt by the first, and the number of
      groups is halved until the others are l-diverse too.
    * Shuffles come from splitmix64, keyed by a number drawn from the run's seed and by the path to the part: parts may
      be halved in any order and on any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from coterie.arrays import Int32
from coterie.errors import InfeasibleError
from coterie.methods._method import PaperOptions, Run, method
from coterie.table.grouping import Grouping
from coterie.table.table import Table

if TYPE_CHECKING:
    from coterie.kernels.methods.cb_diversity import Diversity
    from coterie.kernels.methods.cb_rounds import Numbers

# Parts up to this size are a thread's work to the end; larger ones are halved once and put back.
_PIECE = 1 << 14

Halve = Callable[[Int32, np.uint64, bool], tuple[int, np.uint64, np.uint64]]


class CbOptions(PaperOptions):
    """Options of `cb`."""

    published: ClassVar[Mapping[str, Any]] = {"categories": "order", "restarts": False}

    tries: int = Field(15, ge=1, description="Number of ways to halve a part; the best is kept.")
    rounds: int = Field(
        15, ge=1, description="Rounds of two-means clustering before two new random rows are drawn, within the tries."
    )
    restarts: bool = Field(
        True,
        description="Draw two new random rows when rounds repeat themselves; false is the paper's one start per part.",
    )
    categories: Literal["tree", "order"] = Field(
        "tree",
        description="How categories are compared while halving: by the leaves under their common ancestor, with the "
        "most frequent value as centre, or, as in the paper, by their ranks in an order, with means as centres.",
    )


@method("cb", paper="He et al. 2012", recoding="local", options=CbOptions)
def cb(table: Table, k: int, options: CbOptions, run: Run) -> Grouping:
    """Halve the table repeatedly by two-means clustering, keeping the best of several tries each time."""
    from coterie.kernels.methods.cb import Tries, halve

    compared = _in_order(table) if options.categories == "order" else table
    costs = compared.costs
    numbers = _numbers(compared)
    diversity = _diversity(table, run)
    labels = np.empty(table.rows, dtype=np.int32)
    tries = Tries(k, options.tries, options.rounds, options.restarts)

    def work(rows: Int32, key: np.uint64, once: bool) -> tuple[int, np.uint64, np.uint64]:
        keys = np.zeros(2, dtype=np.uint64)
        first = halve(costs, numbers, diversity, table.codes, rows, key, tries, once, keys, labels)
        return first, keys[0], keys[1]

    key = run.rng().integers(2**64, dtype=np.uint64)
    _halve_all(work, np.arange(table.rows, dtype=np.int32), key, run)
    return Grouping.of(table.codes, labels)


def _halve_all(work: Halve, rows: Int32, key: np.uint64, run: Run) -> None:
    """Halve large parts one by one and small ones completely, on all threads; `rows` is reordered."""
    done = 0
    with ThreadPoolExecutor(max(run.threads, 1)) as pool:

        def start(part: Int32, its_key: np.uint64) -> Future[tuple[int, np.uint64, np.uint64]]:
            future = pool.submit(work, part, its_key, len(part) > _PIECE)
            parts[future] = part
            return future

        parts: dict[Future[tuple[int, np.uint64, np.uint64]], Int32] = {}
        start(rows, key)
        try:
            while parts:
                run.checkpoint()
                for future in wait(parts, return_when=FIRST_COMPLETED).done:
                    part = parts.pop(future)
                    left, key_one, key_two = future.result()
                    if left:
                        start(part[:left], key_one)
                        start(part[left:], key_two)
                    else:
                        done += len(part)
                        run.progress("halving", done, len(rows))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _in_order(table: Table) -> Table:
    """Return the table with categories as numbers, their positions in code order: the paper's Definition 1."""
    domains = []
    for domain in table.domains:
        if domain.tree is not None:
            ranks = np.arange(domain.size, dtype=np.float64)
            if domain.missing >= 0:
                ranks[domain.missing] = np.nan
            domain = replace(domain, kind="number", numbers=ranks, tree=None)
        domains.append(domain)
    return replace(table, domains=tuple(domains))


def _numbers(table: Table) -> Numbers:
    """Return the values of numeric attributes, for means; missing ones are twice the range away, as in the costs."""
    from coterie.kernels.methods.cb_rounds import Numbers

    first, values = [], [np.zeros(0)]
    for j, domain in enumerate(table.domains):
        first.append(-1 if domain.numbers is None else sum(map(len, values)))
        if domain.numbers is not None:
            values.append(np.where(np.isnan(domain.numbers), 2.0 * table.costs.span[j], domain.numbers))
    return Numbers(
        first=np.asarray(first, dtype=np.int64),
        values=np.concatenate(values),
        missing=np.asarray([domain.missing for domain in table.domains], dtype=np.int64),
    )


def _diversity(table: Table, run: Run) -> Diversity:
    """Return the run's frequency l-diversity; raise an InfeasibleError if the table cannot satisfy it."""
    from coterie.kernels.methods.cb_diversity import Diversity

    names = [domain.name for domain in table.sensitive]
    wanted = [
        (names.index(column), model)
        for model in run.privacy
        if getattr(model, "kind", None) == "frequency"
        for column in model.columns(names)
        if model.limit.numerator * table.rows < 2**62  # otherwise the repair after grouping takes care of it
    ]
    for at, model in wanted:
        most = int(np.bincount(table.sensitive_codes[:, at]).max(initial=0))
        if most * model.limit > table.rows:
            possible = table.rows // most
            raise InfeasibleError(
                f"{model.title} of {names[at]!r} is infeasible: one value is in {most:,} of {table.rows:,} rows, "
                f"so l can be at most {possible:,}.",
                wanted=model.wanted,
                possible=possible,
                hint="Use a smaller l.",
            )
    columns = [at for at, _ in wanted]
    codes = table.sensitive_codes[:, columns] if columns else np.zeros((table.rows, 0))
    return Diversity(
        codes=np.ascontiguousarray(codes, dtype=np.int32),
        above=np.asarray([model.limit.numerator for _, model in wanted], dtype=np.int64),
        below=np.asarray([model.limit.denominator for _, model in wanted], dtype=np.int64),
    )
