"""Render pages from templates."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from coterie.wording import visible

if TYPE_CHECKING:
    from jinja2 import Environment


def environment(*packages: str) -> Environment:
    """Return the Jinja environment for the templates of some packages: autoescaping, and undefined names are errors."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    loader = ChoiceLoader([PackageLoader(package, "templates") for package in packages])
    room = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    room.finalize = _shown
    room.filters |= {"typed": Typed, "coded": coded}
    return room


class Typed(str):
    """A text that must return unchanged when a form is submitted; the filter `typed` marks it."""

    __slots__ = ()


class Markup(str):
    """A text that is already HTML: templates do not escape it."""

    __slots__ = ()

    def __html__(self) -> str:
        return str(self)


def coded(text: str) -> Markup:
    """Escape a text, and mark up what it has between backticks as code."""
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", html.escape(visible(text))))


def _shown(value: object) -> object:
    """Make hidden characters in plain texts visible; markup has been escaped already."""
    return visible(value) if type(value) is str else value
