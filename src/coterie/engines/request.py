"""What can be asked of a run: refused before any work where the method or the engine does not do it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coterie.engines.suppressed import needs_remaining
from coterie.errors import ConfigError, Problem

if TYPE_CHECKING:
    from coterie.settings.config import Config


def check_request(config: Config) -> None:
    """Raise a ConfigError for what the method does not do; every problem at once."""
    if problems := _problems(config):
        raise ConfigError(problems)


def check_blocks(config: Config) -> None:
    """Raise a ConfigError for what cannot be done block by block; every problem at once."""
    problems = _problems(config)
    if config.time_limit is not None and config.engine == "spark":
        text = "a task that runs again has to give the same rows; leave it out and choose the effort of the method"
        problems.append(Problem("time_limit", text))
    elif config.time_limit is not None and needs_remaining(config):
        text = "blocks are grouped twice where rows are suppressed, and have to come out alike; leave it out"
        problems.append(Problem("time_limit", text))
    if config.row_order != "original":
        text = "rows on disk keep their order; sort the file by something that nobody knows, or give engine memory"
        problems.append(Problem("row_order", text))
    if problems:
        raise ConfigError(problems)


def _problems(config: Config) -> list[Problem]:
    from coterie.methods import find_method

    recoding = find_method(config.method).recoding
    problems = []
    if recoding == "per-row":
        alone = f"method {config.method} publishes rows one by one"
        problems = [Problem(path, f"{alone}: {text}") for path, text in _of_groups(config)]
    if config.refine and recoding != "local":
        text = f"local search works on local recoding, but {config.method!r} is {recoding}; leave it out"
        problems.append(Problem("refine", text))
    return problems


def _of_groups(config: Config) -> list[tuple[str, str]]:
    """What is asked for that speaks of groups: setting, and why it cannot be had without them."""
    found = [
        (f"publish.{column}", f"there is no group to take a {style} of; use interval or bounds")
        for column, style in config.publish.items()
        if style in ("mean", "median")
    ]
    if config.privacy:
        found.append(("privacy", "promises beyond k-anonymity need groups; choose another method"))
    if config.entity is not None:
        found.append(("entity", "people can be counted in groups only; choose another method"))
    return found


def by_rows(config: Config) -> bool:
    """Whether the method publishes rows one by one."""
    from coterie.methods import find_method

    return find_method(config.method).recoding == "per-row"


def advice(config: Config) -> str:
    """What to tell someone who looks for groups in a release whose rows were published one by one; "" otherwise."""
    from coterie.settings.registry import DEFAULT_METHOD

    # The default spares `verify` the import of the methods.
    if config.method == DEFAULT_METHOD or not by_rows(config):
        return ""
    return (
        f"Method {config.method} publishes rows one by one: groups of equal rows are not its guarantee, which was "
        "checked when the release was made and cannot be seen in the file alone."
    )
