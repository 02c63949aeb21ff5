"""A census that nobody took part in, with the INCOME schema of He et al. (2012), Table 3.

Age, gender, education, race, marital status and work class are those of the synthetic census of the SAL schema.
Occupation (711 codes) follows the schooling, birthplace (983 codes) the race; both are as skewed as such codes are:
most are rare. Income, the sensitive column of that table, is not a quasi-identifier and is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.census import census
from benchmarks.census import hierarchies as census_hierarchies

if TYPE_CHECKING:
    from coterie.hierarchies.hierarchy import Hierarchy

QUASI = ("age", "occupation", "birthplace", "gender", "education", "race", "work-class", "marital")
SIZES = {
    "age": 78, "occupation": 711, "birthplace": 983, "gender": 2, "education": 17, "race": 9, "work-class": 9,
    "marital": 6,
}  # fmt: skip

_OCCUPATIONS = 50
"""occupations of the census, which become ranges of codes here"""
_COUNTRIES = 83


def income(rows: int, seed: int = 0) -> pa.Table:
    """Make rows; occupation and birthplace are numbers, as in the paper."""
    people = census(rows, seed)
    rng = np.random.default_rng((seed, 7))
    columns = {
        "age": people["age"],
        "occupation": _finer(_number(people["occupation"]), _OCCUPATIONS, SIZES["occupation"], rng),
        "birthplace": _finer(_number(people["country"]), _COUNTRIES, SIZES["birthplace"], rng),
        "gender": people["gender"],
        "education": people["education"],
        "race": people["race"],
        "work-class": _nine_classes(people["work-class"]),
        "marital": people["marital"],
    }
    return pa.table(columns)


def hierarchies() -> dict[str, Hierarchy]:
    """Trees for the categories; age, occupation and birthplace are numbers and need none.

    Education is a category in this table. It has no labels to go by, so neighbours are joined: 17 → 6 → 1.
    """
    from coterie.hierarchies.hierarchy import Hierarchy

    known = census_hierarchies()
    levels = [(str(code), f"education {code // 3 * 3} and up", "*") for code in range(SIZES["education"])]
    return {
        "gender": known["gender"],
        "education": Hierarchy.from_rows(levels),
        "race": known["race"],
        "work-class": known["work-class"],
        "marital": known["marital"],
    }


def _number(labels: pa.ChunkedArray) -> np.ndarray:
    """occupation-07 → 6."""
    return pc.cast(pc.utf8_slice_codeunits(labels, start=-2), pa.int32()).to_numpy() - 1


def _finer(coarse: np.ndarray, parts: int, codes: int, rng: np.random.Generator) -> np.ndarray:
    """Cut each coarse code into a range of finer ones, of which the first are the most frequent."""
    starts = np.linspace(0, codes, parts + 1).astype(np.int64)
    width = np.diff(starts)[coarse]
    return starts[coarse] + np.floor(width * rng.random(len(coarse)) ** 2.5).astype(np.int64)


def _nine_classes(labels: pa.ChunkedArray) -> pa.ChunkedArray:
    """Nine work classes, not ten: who serves in the armed forces works for the federal government."""
    return pc.replace_substring(labels, pattern="Armed forces", replacement="Federal government")
