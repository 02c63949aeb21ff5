"""risk() and attack(): read the tables, then measure what could be learned from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Unpack

from coterie.api.anonymize import read_table
from coterie.arrays import AnyTable
from coterie.disclosure.attack import Attack, attack_table, with_weaknesses
from coterie.disclosure.risk import Risk, Threshold, check_population, find_threshold, risk_of_table
from coterie.errors import ConfigError, Problem
from coterie.methods import find_method
from coterie.settings.config import AnyConfig, Config
from coterie.settings.keywords import Keywords, RiskKeywords
from coterie.settings.signature import spelled_out

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["attack", "risk"]


@spelled_out
def risk(
    data: AnyTable,
    *,
    config: AnyConfig = None,
    population: AnyTable = None,
    fraction: float | None = None,
    threshold: str | float | Fraction | Threshold | None = None,
    **settings: Unpack[RiskKeywords],
) -> Risk:
    """Estimate the re-identification risk of an original or a release.

    Args:
        data: A frame, a path or "-".
        config: A Config, a dict or the path of a TOML file.
        population: The population that the table is a sample of, one row per person, with the same quasi-identifiers.
        fraction: Or the sampling fraction.
        threshold: The highest accepted risk of a record: a number, or "ema" (0.09), "cms" (1/11), "strict"
            (0.05). By default the configuration's, else "ema".
        **settings: The fields of `Config`; at least `quasi` if there is no configuration.
    """
    settled = Config.build(config, **settings)
    limit = find_threshold(settled.threshold if threshold is None else threshold)
    if fraction is None and population is None:
        fraction = settled.fraction
    check_population(population, fraction)
    table = read_table(data, settled)
    return risk_of_table(
        table,
        quasi=settled.quasi,
        threshold=limit,
        population=None if population is None else read_table(population, settled.replace(header=True, skip_rows=0)),
        fraction=fraction,
        people=people_of(table, settled),
        config=settled,
    )


def people_of(table: pa.Table, config: Config) -> pa.ChunkedArray | None:
    """Return row → person, if the configuration names that column and the table still has it."""
    entity = config.entity
    return table.column(entity) if entity is not None and entity in table.column_names else None


@spelled_out
def attack(
    published: AnyTable,
    known: AnyTable,
    *,
    on: Sequence[str] | str | None = None,
    also: Sequence[AnyTable] = (),
    config: AnyConfig = None,
    **settings: Unpack[Keywords],
) -> Attack:
    """Link known people to a release, and count what that discloses.

    Args:
        published: The release: a frame, a path or "-".
        known: The people: a frame or a path.
        on: The attributes that the attacker knows: columns, by their original names. By default all quasi-identifiers
            that the table of people has.
        also: Other releases of the same people, such as an earlier one; counts what they reveal together.
        config: The configuration that the release was made with.
        **settings: The fields of `Config`: `sensitive`, `hierarchies`, … where there is no configuration.
    """
    settled = Config.build(config, **settings)
    release, people = read_table(published, settled.for_release()), read_table(known, settled)
    columns = [on] if isinstance(on, str) else list(on or ())
    if on is None:
        columns = [name for name in settled.quasi if name in people.column_names]
    clash = [name for name in columns if name in settled.sensitive]
    if clash:
        raise ConfigError(
            [Problem("on", f"column {name!r} is sensitive: the attack tries to learn it") for name in clash]
        )
    sensitive = [name for name in settled.sensitive if name in release.column_names]
    found = attack_table(release, people, on=columns, config=settled, sensitive=sensitive)
    if also:
        from coterie.disclosure.intersection import intersect

        releases = [release, *(read_table(each, settled) for each in also)]
        found = replace(found, joint=intersect(releases, people, on=columns, config=settled, sensitive=sensitive))
    return with_weaknesses(found, release, settled, tight=find_method(settled.method).kind.tight)
