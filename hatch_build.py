"""The long description for package indexes: the README, whose relative links would lead nowhere there.

Where COTERIE_REPOSITORY is set while building, for instance to https://host/owner/coterie, relative links become
links to this version's tag in that repository, and the repository becomes the project's address. Otherwise the
description names files instead of linking to them: it is the same text, and no link is broken.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

VARIABLE = "COTERIE_REPOSITORY"
# ![text](path) or [text](path), where the path has no scheme and is no place on the same page.
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?![a-z]+:|#)([^)\s]+)\)")


def long_description(readme: str, *, version: str, repository: str = "") -> str:
    """Return the README with relative links made absolute, or replaced by what they name."""

    def link(found: re.Match[str]) -> str:
        mark, text, path = found.groups()
        if repository:
            kind = "raw" if mark else "blob"
            return f"{mark}[{text}]({repository}/{kind}/v{version}/{path})"
        if mark:
            return f"*{text}* (`{path}`)"
        return text if text == path else f"{text} (`{path}`)"

    # What stands in code blocks is no link.
    parts = re.split(r"(^```.*?^```$)", readme, flags=re.DOTALL | re.MULTILINE)
    return "".join(part if part.startswith("```") else LINK.sub(link, part) for part in parts)


class LongDescription(MetadataHookInterface):
    """Give the project its long description and, where it is known, its address."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set `readme` and `urls`, which pyproject.toml leaves to this hook."""
        readme = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        repository = os.environ.get(VARIABLE, "").rstrip("/")
        text = long_description(readme, version=metadata["version"], repository=repository)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
        changes = f"{repository}/blob/v{metadata['version']}/CHANGELOG.md"
        urls = {"Repository": repository, "Issues": f"{repository}/issues", "Changelog": changes}
        metadata["urls"] = urls if repository else {}
