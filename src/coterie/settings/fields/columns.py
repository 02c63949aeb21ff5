"""The roles of columns."""

from __future__ import annotations

from coterie.settings.fields._setting import ALL, Group, setting


class Columns(Group, title="Roles of columns", screen="roles", commands="explain compare", protects=True):
    """The role of each column."""

    quasi: tuple[str, ...] = setting(
        (),
        "Quasi-identifiers: attributes that others may know about a person.",
        more="They are generalized until at least k rows share them.",
        title="Quasi-identifier",
        commands=ALL,
        aliases=("qi", "qid", "quasi_identifiers", "quasi_identifier", "key_variables"),
    )
    sensitive: tuple[str, ...] = setting(
        (),
        "Sensitive attributes, which nobody should be able to infer.",
        more="They are published unchanged.",
        title="Sensitive attribute",
        commands="verify measure explain compare attack",
        aliases=("sensitive_attributes",),
    )
    identifiers: tuple[str, ...] = setting(
        (),
        "Direct identifiers, such as names and social security numbers.",
        more="They are removed.",
        title="Direct identifier",
        flag="identifier",
        aliases=("id", "direct_identifiers"),
    )
    keep: tuple[str, ...] = setting(
        (),
        "Columns to publish unchanged, on purpose.",
        more="They identify nobody and are not sensitive.",
        aliases=("insensitive", "insensitive_attributes", "non_sensitive", "unchanged"),
    )
    drop: tuple[str, ...] = setting(
        (),
        "Columns to remove because nobody needs them.",
        aliases=("remove", "exclude", "exclude_vars"),
    )
    entity: str | None = setting(
        None,
        "Column that identifies the person a row belongs to; k then counts people, not rows.",
        more="Use it where a person may have several rows. The column is removed from the release.",
        title="Rows of one person",
        metavar="COLUMN",
        screen="goals",
        commands="verify explain compare risk",
        aliases=("person", "subject"),
    )
