"""The resources of a run, and its engine."""

from __future__ import annotations

from typing import Literal

from coterie.settings.fields._setting import Group, setting
from coterie.settings.memory import memory_bytes


def _checked(value: str) -> str:
    memory_bytes(value)
    return value


class Running(Group, title="Resources", screen="run", decides="plan"):
    """Settings that do not change the release, except for the block size."""

    threads: int | None = setting(
        None,
        "Number of threads.",
        more="It never changes the release.",
        why="All usable cores by default.",
        commands="explain compare",
        aliases=("n_jobs",),
        limits={"ge": 1},
        decides="nothing",
    )
    engine: Literal["auto", "memory", "blocks", "spark"] = setting(
        "auto",
        "Engine: auto, memory, blocks (on disk) or spark (on a cluster).",
        why="auto takes blocks for files that do not fit into memory, and memory otherwise.",
        metavar="NAME",
        asked=False,
        commands="verify",
    )
    memory: str | None = setting(
        None,
        "Memory limit, such as 2GB.",
        why="Half of the machine's memory by default.",
        metavar="SIZE",
        asked=False,
        commands="verify",
        after=_checked,
    )
    block_rows: int | None = setting(
        None,
        "Maximum number of rows in a block.",
        more="The release depends on it.",
        why="As many as fit into memory by default.",
        unless="Applies to the engines blocks and spark only.",
        asked=False,
        limits={"ge": 1},
    )
