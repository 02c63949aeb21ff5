"""Pages from templates."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment


def environment(package: str) -> Environment:
    """Jinja's environment for the templates of a package: all is escaped, and a name that nobody gave is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader(package, "templates")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
