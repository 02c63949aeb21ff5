"""Read and write configurations as TOML, also with provenance next to a release."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coterie.errors import ConfigError, Problem

if TYPE_CHECKING:
    from coterie.settings.config import Config

_HIDDEN = re.compile("[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")


def read_toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the values of a TOML file; a ConfigError gives the line of an error."""
    name = Path(path).name
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError([Problem(name, f"is not valid TOML: {error}")]) from None
    except UnicodeDecodeError:
        raise ConfigError([Problem(name, "is not text in UTF-8; save it in that encoding")]) from None
    except OSError as error:
        reason = (error.strerror or "cannot be read").lower()
        raise ConfigError(
            [Problem(str(path), f"cannot be read: {reason}")], hint="`coterie init` writes one."
        ) from None


def write_toml(values: Mapping[str, Any]) -> str:
    """TOML text: plain settings first, then the tables."""
    tables = {name: value for name, value in values.items() if isinstance(value, Mapping)}
    # An empty table would only be noise.
    ordered = {name: value for name, value in values.items() if name not in tables}
    ordered |= {name: value for name, value in tables.items() if value}
    return toml_text(ordered)


def toml_text(values: Mapping[str, Any]) -> str:
    """Return values as TOML, with characters that reverse or break lines escaped."""
    import tomli_w

    # tomli_w escapes control characters only; others are within quoted strings and keys, which allow escapes.
    return _HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", tomli_w.dumps(values))


def plain(value: object) -> Any:  # noqa: ANN401 - whatever TOML holds
    """Convert a value for TOML and JSON: hierarchies and privacy models by `spec`, tuples as lists."""
    if hasattr(value, "spec"):
        return plain(value.spec)
    if isinstance(value, Mapping):
        return {str(name): plain(inner) for name, inner in value.items() if inner is not None}
    if isinstance(value, tuple | list):
        return [plain(inner) for inner in value]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return value


CONFIRMING = ("input_sha256", "masks_sha256")
"""entries that could confirm a guess of the whole input, or of a single unknown row"""


def provenance_toml(config: Config, provenance: Mapping[str, Any]) -> str:
    """Return the provenance file of a release: its configuration, and how it was made.

    `provenance` makes the release traceable: versions, SHA-256 of the output, the time. The text is itself a
    configuration: it makes the same release from the same input. It is internal, since it contains the
    hierarchies; still it is often passed on, so it has no hash of the input: the internal report has that. Options that
    must stay secret are left out.
    """
    values = config.to_dict()
    secret = config.method_options().secrets
    values["options"] = {name: value for name, value in values["options"].items() if name not in secret}
    but = f", but for what the secret option {', '.join(sorted(secret))} draws" if secret else ""
    head = (
        "# The configuration of a release made by coterie, and where it came from.\n"
        f"# `coterie anonymize INPUT -c THIS_FILE -o OUTPUT` makes the same release from the same input{but}.\n"
        "# It is internal: do not share it with the release.\n\n"
    )
    told = {name: value for name, value in provenance.items() if name not in CONFIRMING}
    return head + write_toml({**values, "provenance": plain(told)})
