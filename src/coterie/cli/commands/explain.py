"""`coterie explain`: why a row was generalized as far as it was, what drives the loss, and what would change it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coterie.cli import flags
from coterie.cli.flags import option, switch
from coterie.cli.options import names
from coterie.cli.show import ProgressBar, Voice

if TYPE_CHECKING:
    from coterie.explaining.loss import LossExplanation, WhatIfs
    from coterie.explaining.row import RowExplanation


@flags.takes_settings("explain")
def explain(
    *,
    data: Annotated[str, typer.Argument(metavar="FILE")],
    row: list[int] | None = option(None, "POSITION", "Position of a row to explain; the first row is 0."),
    nearest: int = option(5, "N", "Number of nearest rows to list."),
    what_if: bool = switch("--what-if", "Try half and twice k, and without each column; takes some seconds each."),
    what_if_k: list[str] | None = option(None, "NUMBERS", "Try these k instead."),
    what_if_drop: list[str] | None = option(None, "COLUMNS", "Try without these columns, one at a time, instead."),
    show_values: bool = switch("--show-values", "Show original and published values."),
    settings: flags.Settings,
    as_json: flags.AsJson = False,
    quiet: flags.Quiet = False,
) -> None:
    """Explain which columns drive the information loss, and why a row was generalized as far as it was.

    FILE is the original table. coterie makes the release again: use the .coterie.toml of a release to reproduce it.

    Rows are identified by their positions in FILE. No values are shown unless you add --show-values.
    """
    from coterie.cli.commands.compare import whole_numbers
    from coterie.cli.run import release_of

    tried: dict[str, Any] | None = None
    if what_if or what_if_k or what_if_drop:
        # None tries the default changes; one flag alone excludes the other kind of change.
        usual: list[Any] | None = None if what_if else []
        tried = {
            "k": whole_numbers(what_if_k, "what-if-k") if what_if_k else usual,
            "drop": names(what_if_drop) if what_if_drop else usual,
        }
    # Explanations need the whole table in memory, even if the settings come from a release made in blocks.
    release = release_of(data, settings.replace(engine="memory"), quiet=quiet, publishes=False)
    with ProgressBar(quiet=quiet) as progress:
        progress("explain", 0, 0)
        loss = release.explain()
        explained = [release.explain(each, nearest=nearest, show_values=show_values) for each in row or []]
        changes = None if tried is None else release.what_if(**tried, progress=progress)
    if as_json:
        told: dict[str, Any] = {"loss": loss.to_dict(), "rows": [each.to_dict() for each in explained]}
        typer.echo(json.dumps(told | ({} if changes is None else {"what_if": changes.to_dict()}), indent=1))
        return
    voice = Voice(quiet=quiet)
    show_loss(loss, voice)
    for each in explained:
        voice.say()
        show_row(each, voice)
    if changes is not None:
        voice.say()
        show_what_if(changes, voice)


def show_loss(loss: LossExplanation, voice: Voice) -> None:
    """Print what drives the loss."""
    voice.say(f"{loss.method}, k = {loss.k:,}: loss {loss.gcp:.4f} per cell")
    voice.say()
    head = ["column", "weight", "loss", "changed", "share of the loss"]
    rows = [
        [each.name, f"{each.weight:g}", f"{each.ncp:.4f}", f"{100 * each.changed:.1f} %", f"{100 * each.share:.1f} %"]
        for each in loss.drivers
    ]
    voice.table(head, rows, numbers=head[1:])
    voice.say()
    voice.say(f"The 10 % of rows with the highest loss account for {100 * loss.dearest_tenth:.1f} % of it.")
    if loss.suppressed:
        voice.say(f"{loss.suppressed:,} suppressed rows account for {100 * loss.suppressed_share:.1f} %.")
    voice.say()
    head = ["groups with the highest loss", "rows", "cost of a row", "share of the loss", "mostly by"]
    rows = [
        [str(each.group), f"{each.rows:,}", f"{each.cost:.4f}", f"{100 * each.share:.2f} %", each.driver]
        for each in loss.coarsest
    ]
    voice.table(head, rows, numbers=head[1:4])


def show_row(found: RowExplanation, voice: Voice) -> None:
    """Print why one row was generalized as far as it was."""
    where = "" if found.group is None else f", {found.state} {found.group:,} of {found.size:,} rows"
    voice.say(f"Row {found.row:,}{where}: {found.state if found.group is None else f'pays {found.cost:.4f}'}")
    voice.say(found.note)
    if not found.attributes:
        return
    voice.say()
    _show_attributes(found, voice)
    voice.say()
    own = next(each for each in found.at_k if each.k == found.k)
    voice.summary(
        [
            ("cost", f"{found.cost:.4f} of at most {found.most:g}"),
            ("least cost", f"{own.at_least:.4f}: no box around it with {found.k:,} rows costs less"),
            ("cost found", f"{own.found:.4f}: a box around it with {found.k:,} rows, if it were alone"),
            (
                "k at its cost",
                f"{found.rows_found:,} rows fit in a box around it of the same cost; "
                f"at most {found.rows_at_most:,} can",
            ),
        ]
    )
    voice.say()
    rows = [[f"{each.k:,}", f"{each.at_least:.4f}", f"{each.found:.4f}"] for each in found.at_k]
    voice.table(["k", "at least", "found"], rows, numbers=["k", "at least", "found"])
    if found.without:
        best = ", ".join(f"{each.name} {each.at_least:.4f}" for each in found.without[:3])
        voice.say(f"Least cost without a column: {best}")
    _show_nearest(found, voice)


def _show_attributes(found: RowExplanation, voice: Voice) -> None:
    head = ["column", "weight", "cost", "paid", "share", "values", "rows alike", "widest with row"]
    shown = any(each.value is not None or each.published is not None for each in found.attributes)
    head += ["value", "published"] if shown else []
    rows = []
    for each in found.attributes:
        cells = [each.name, f"{each.weight:g}", f"{each.cost:.4f}", f"{each.paid:.4f}", f"{100 * each.share:.1f} %"]
        cells += [f"{each.values:,} of {each.of:,}", f"{each.alike:,}"]
        cells.append("" if each.furthest is None else f"{each.furthest:,}")
        rows.append(cells + ([each.value or "", each.published or ""] if shown else []))
    voice.table(head, rows, numbers=head[1:8])


def _show_nearest(found: RowExplanation, voice: Voice) -> None:
    if not found.nearest:
        return
    names = list(found.nearest[0].values or {})
    rows = [
        [f"{each.row:,}", f"{each.cost:.4f}", "yes" if each.same_group else "no"]
        + [(each.values or {}).get(name) or "" for name in names]
        for each in found.nearest
    ]
    voice.say()
    voice.table(["nearest row", "cost of the pair", "same group", *names], rows, numbers=["nearest row"])


def show_what_if(found: WhatIfs, voice: Voice) -> None:
    """Print the effects of changes."""
    voice.say(
        f"What if: estimated with {found.method}, whose loss without changes is {found.gcp:.4f} (the release: "
        f"{found.release_gcp:.4f})."
    )
    voice.say()
    head = ["change", "loss of the remaining columns", "after", "difference", "groups"]
    rows = [
        [each.change, f"{each.before:.4f}", f"{each.after:.4f}", f"{each.after - each.before:+.4f}", f"{each.groups:,}"]
        if not each.reason
        else [each.change, f"{each.before:.4f}", "–", "–", "–"]
        for each in found.changes
    ]
    voice.table(head, rows, numbers=head[1:])
    for each in found.changes:
        if each.reason:
            voice.say(f"{each.change}: {each.reason}")
