"""The server's settings."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from pathlib import Path

MEGABYTE = 1 << 20
GIGABYTE = 1 << 30


@dataclass(frozen=True)
class Settings:
    """The server's settings, fixed while it runs."""

    work_folder: Path
    """private to this user; has a folder for every project"""
    port: int = 0
    allowed_folders: tuple[Path, ...] = ()
    """files are only opened by path below these; links are resolved before that is checked"""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    """anyone who knows it may use the app"""
    upload_limit: int = 4 * GIGABYTE
    """the maximum size of an upload in bytes"""
    unpacked_limit: int = 16 * GIGABYTE
    """the maximum size of a decompressed file in bytes"""
    form_limit: int = 32 * MEGABYTE
    """the maximum size of any other request in bytes"""
    column_limit: int = 2_000
    forget: bool = False
    """whether the work folder is deleted when the server ends"""

    @property
    def hosts(self) -> frozenset[str]:
        """The host names under which this machine may be addressed."""
        return frozenset({f"127.0.0.1:{self.port}", f"localhost:{self.port}"})

    @property
    def origins(self) -> frozenset[str]:
        """The origins that a form may come from."""
        return frozenset(f"http://{host}" for host in self.hosts)

    @property
    def cookie(self) -> str:
        """The cookie's name. Cookies do not distinguish ports, so two servers need two names."""
        return f"coterie-{self.port}"

    @property
    def address(self) -> str:
        """The address to open, with the token."""
        return f"http://127.0.0.1:{self.port}/?token={self.token}"


def resolve_allowed(submitted: str, folders: tuple[Path, ...]) -> Path | None:
    """Return the file that a path means, following links and `..`, or None if it is outside the allowed folders.

    Relative paths start at the first folder. Whether the file exists is not revealed here: nothing can be learned
    about files outside the allowed folders.
    """
    if not submitted or "\0" in submitted or not folders:
        return None
    try:
        resolved = (folders[0] / Path(submitted).expanduser()).resolve()
        below = any(resolved.is_relative_to(folder.resolve()) for folder in folders)
    except (OSError, RuntimeError, ValueError):
        return None
    return resolved if below else None
