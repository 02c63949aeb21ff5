"""A census that nobody took part in: correlated rows of the SAL schema of He et al. (2012), Table 3.

Seven quasi-identifiers with the domain sizes of that table (age 78, gender 2, education 17, marital status 6, race 9,
work class 10, country 83) and the sensitive occupation (50). Education follows the year of birth, marital status the
age, country the race, work class and occupation the education; values are as skewed as in a real census. At a million
rows about two thirds are distinct.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from pathlib import Path

    from coterie.hierarchies.hierarchy import Hierarchy

QUASI = ("age", "gender", "education", "marital", "race", "work-class", "country")
SENSITIVE = "occupation"
SIZES = {
    "age": 78, "gender": 2, "education": 17, "marital": 6, "race": 9, "work-class": 10, "country": 83,
    "occupation": 50,
}  # fmt: skip

_YOUNGEST = 17
_BLOCK = 1 << 17

_GENDER = ("female", "male")
_MARITAL = {
    "Married": ("Married with spouse present", "Married with spouse absent", "Separated"),
    "Unmarried": ("Divorced", "Widowed", "Never married"),
}
_RACE = {
    "White": ("White",),
    "Black or native": ("Black", "American Indian or Alaska Native"),
    "Asian": ("Chinese", "Japanese", "Other Asian or Pacific Islander"),
    "Other or several": ("Another race", "Two races", "Three or more races"),
}
_WORK = {
    "Company": ("Private company", "Non-profit organisation"),
    "Government": ("Federal government", "State government", "Local government", "Armed forces"),
    "Own account": ("Incorporated business", "Unincorporated business"),
    "No pay": ("Family work without pay", "Not working"),
}

# Shares of the marital states, in the order above, at five ages; ages between are interpolated.
_MARITAL_AGES = (17, 28, 42, 65, 94)
_MARITAL_SHARES = (
    (0.02, 0.01, 0.01, 0.01, 0.002, 0.948),
    (0.40, 0.03, 0.03, 0.08, 0.01, 0.45),
    (0.56, 0.03, 0.04, 0.17, 0.02, 0.18),
    (0.58, 0.02, 0.02, 0.17, 0.14, 0.07),
    (0.25, 0.02, 0.01, 0.07, 0.60, 0.05),
)
_RACE_SHARES = (0.60, 0.14, 0.02, 0.05, 0.02, 0.07, 0.06, 0.03, 0.01)
# Shares of the work classes without and with a long education.
_WORK_SHARES = (
    (0.55, 0.03, 0.01, 0.02, 0.04, 0.01, 0.03, 0.10, 0.02, 0.19),
    (0.42, 0.12, 0.06, 0.09, 0.08, 0.02, 0.08, 0.07, 0.01, 0.05),
)
_EDUCATION_SHARES = (
    0.004, 0.006, 0.01, 0.014, 0.018, 0.022, 0.026, 0.03, 0.03, 0.25, 0.17, 0.09, 0.05, 0.17, 0.07, 0.02, 0.02,
)  # fmt: skip


def census(rows: int, seed: int = 0, *, attributes: int = 7) -> pa.Table:
    """Make rows of the census; the first rows of a larger census with the same seed are those of a smaller one.

    Args:
        rows: how many.
        seed: of all randomness.
        attributes: how many quasi-identifiers, the first of QUASI; the sensitive column always follows.
    """
    if not 1 <= attributes <= len(QUASI):
        raise ValueError(f"attributes must be 1 to {len(QUASI)}")
    blocks = [_block(seed, number) for number in range(-(-rows // _BLOCK))]
    codes = {name: np.concatenate([block[name] for block in blocks])[:rows] for name in SIZES}
    return pa.table({name: _column(name, codes[name]) for name in (*QUASI[:attributes], SENSITIVE)})


def write_census(path: Path, rows: int, seed: int = 0) -> None:
    """Write the same rows as Parquet, a block at a time, for tables that are larger than the memory."""
    from pyarrow import parquet

    writer = None
    for number in range(-(-rows // _BLOCK)):
        codes = _block(seed, number)
        count = min(_BLOCK, rows - number * _BLOCK)
        part = pa.table({name: _column(name, codes[name][:count]) for name in (*QUASI, SENSITIVE)})
        writer = writer or parquet.ParquetWriter(path, part.schema)
        writer.write_table(part)
    assert writer is not None
    writer.close()


def hierarchies() -> dict[str, Hierarchy]:
    """Trees for the categories; age and education are numbers and need none."""
    from coterie.hierarchies.hierarchy import Hierarchy

    # 83 countries in 17 regions of 5 continents.
    regions = [f"region-{number // 5 + 1:02}" for number in range(SIZES["country"])]
    continents = [f"continent-{number // 20 + 1}" for number in range(SIZES["country"])]
    rows = zip(_labels("country"), regions, continents, ["*"] * SIZES["country"], strict=True)
    return {
        "gender": Hierarchy.flat(),
        "marital": Hierarchy.from_mapping(_MARITAL),
        "race": Hierarchy.from_mapping(_RACE),
        "work-class": Hierarchy.from_mapping(_WORK),
        "country": Hierarchy.from_rows(list(rows)),
    }


def _labels(name: str) -> list[str]:
    trees = {"marital": _MARITAL, "race": _RACE, "work-class": _WORK}
    if name in trees:
        return [label for labels in trees[name].values() for label in labels]
    if name == "gender":
        return list(_GENDER)
    return [f"{name}-{number + 1:02}" for number in range(SIZES[name])]


def _column(name: str, codes: np.ndarray) -> pa.Array:
    if name == "age":
        return pa.array(codes.astype(np.int64) + _YOUNGEST)
    if name == "education":
        return pa.array(codes.astype(np.int64))
    return pa.DictionaryArray.from_arrays(codes.astype(np.int32), pa.array(_labels(name))).cast(pa.string())


def _block(seed: int, number: int) -> dict[str, np.ndarray]:
    """Codes of one block of rows. Blocks have their own randomness, so that a table's start is fixed by the seed."""
    rng = np.random.default_rng((seed, number))
    age = _drawn(rng.random(_BLOCK), _age_shares()[None, :])
    old = age / (SIZES["age"] - 1)
    gender = (rng.random(_BLOCK) > 0.49 + 0.12 * old).astype(np.int32)

    # Each generation went to school longer than the one before.
    schooling = _uniform(rng.normal(size=_BLOCK) + 0.9 * (0.45 - old))
    education = _drawn(schooling, np.array([_EDUCATION_SHARES]))
    learned = education / (SIZES["education"] - 1)

    ages = np.arange(SIZES["age"]) + _YOUNGEST
    marital_shares = np.stack(
        [np.interp(ages, _MARITAL_AGES, shares) for shares in np.array(_MARITAL_SHARES).T], axis=1
    )
    marital = _drawn(rng.random(_BLOCK), marital_shares, age)
    race = _drawn(rng.random(_BLOCK), np.array([_RACE_SHARES]))
    country = _drawn(rng.random(_BLOCK), _country_shares(), race)

    steps = np.linspace(0, 1, SIZES["education"])[:, None]
    work_shares = (1 - steps) * _WORK_SHARES[0] + steps * np.array(_WORK_SHARES[1])
    work = _drawn(rng.random(_BLOCK), work_shares, education)
    retired = rng.random(_BLOCK) < np.clip((age + _YOUNGEST - 60) / 15, 0, 0.85)
    work[retired] = SIZES["work-class"] - 1

    # Occupations stand in order of the schooling that they ask for, with a shift between women and men.
    wanted = _uniform(1.4 * rng.normal(size=_BLOCK) + 5 * (learned - 0.6) + 0.5 * (gender - 0.5))
    occupation = _drawn(wanted, np.array([_zipf(SIZES["occupation"], 0.5, seed=1)]))
    return {
        "age": age,
        "gender": gender,
        "education": education,
        "marital": marital,
        "race": race,
        "work-class": work,
        "country": country,
        "occupation": occupation,
    }


def _age_shares() -> np.ndarray:
    """Even up to forty, then fewer and fewer."""
    ages = np.arange(SIZES["age"]) + _YOUNGEST
    return np.where(ages < 40, 1.0, np.exp(-(((ages - 40) / 32.0) ** 2)))


def _country_shares() -> np.ndarray:
    """Race × country: a share born at home, the others by Zipf's law over countries of the race's own order."""
    home = (0.32, 0.32, 0.4, 0.08, 0.15, 0.06, 0.1, 0.3, 0.3)
    shares = np.empty((SIZES["race"], SIZES["country"]))
    for race, born in enumerate(home):
        shares[race, 1:] = (1 - born) * _zipf(SIZES["country"] - 1, 0.8, seed=race)
        shares[race, 0] = born
    return shares


def _zipf(size: int, exponent: float, *, seed: int) -> np.ndarray:
    shares = np.random.default_rng(seed).permutation(np.arange(1, size + 1) ** -exponent)
    return shares / shares.sum()


def _uniform(normal: np.ndarray) -> np.ndarray:
    """Normal numbers to numbers in (0, 1), nearly evenly, in the same order."""
    return 1 / (1 + np.exp(-1.702 * normal))


def _drawn(uniform: np.ndarray, shares: np.ndarray, row: np.ndarray | int = 0) -> np.ndarray:
    """For each number in (0, 1) the value that it falls on, by the shares in the row that goes with it."""
    bounds = np.cumsum(shares, axis=1)
    bounds /= bounds[:, -1:]
    bounds[:, -1] = 1.0
    # One search for all rows at once: row r's bounds lie between r and r + 1.
    flat = (bounds + np.arange(len(bounds))[:, None]).ravel()
    place = np.searchsorted(flat, np.minimum(uniform, np.nextafter(1.0, 0.0)) + row, side="right")
    return (place - np.asarray(row) * shares.shape[1]).clip(0, shares.shape[1] - 1).astype(np.int32)
