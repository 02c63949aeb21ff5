"""`coterie demo`: the bundled Adult table, before and after."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from coterie.cli.flags import Force, MethodName, Quiet, option
from coterie.cli.show import Voice
from coterie.settings.threshold import DEFAULT_K

if TYPE_CHECKING:
    import pyarrow as pa

    from coterie.settings.config import Config

ROWS_SHOWN = 6


def demo(
    output: str = option("out.csv", "FILE", "Where to write.", "--output", "-o"),
    k: int = option(DEFAULT_K, "N", "Minimum group size.", "-k", "--k"),
    method: MethodName = None,
    export: str | None = option(None, "FILE", "Write the original table to a file and exit."),
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Anonymize the bundled Adult table (30,162 people from the 1994 US census) and show the result."""
    from coterie.cli.run import release_of, show_release
    from coterie.files import tables
    from coterie.files.output import check_target, format_of, provenance_path

    voice = Voice(quiet=quiet, output=export or output)
    table = people()
    if export is not None:
        tables.write(table, export, force=force)
        voice.say(f"Wrote {export}. Try: coterie init {export}")
        return
    config = configuration(k=k, method=method)
    format_of(output)
    force = force or _is_from_demo(output, config)
    for file in (Path(output), provenance_path(output)):
        check_target("-" if output == "-" else file, force=force)
    release = release_of(table, config, quiet=quiet)
    release.write(output, force=force)
    _show(table, release.frame, voice)
    show_release(release, voice)
    voice.say(f"Wrote {output} and {provenance_path(output)}." if output != "-" else "")


def people() -> pa.Table:
    """Return the complete training rows of Adult: its eight usual quasi-identifiers and the salary class."""
    from coterie.datasets import ADULT_QUASI, ADULT_SENSITIVE, adult

    return adult(complete=True, part="train").select([*ADULT_QUASI, ADULT_SENSITIVE])


def configuration(*, k: int, method: str | None = None) -> Config:
    """Return the demo's configuration: age as a number, the other columns with the bundled hierarchies."""
    from coterie.datasets import ADULT_QUASI, ADULT_SENSITIVE, adult_hierarchies
    from coterie.settings.config import Config

    trees = {name: tree for name, tree in adult_hierarchies().items() if name in ADULT_QUASI and name != "age"}
    made = Config(quasi=ADULT_QUASI, sensitive=[ADULT_SENSITIVE], hierarchies=trees, k=k)
    return made if method is None else made.replace(method=method)


def _is_from_demo(output: str, config: Config) -> bool:
    """Return whether an earlier demo wrote the file, so that it may be overwritten."""
    from coterie.errors import CoterieError
    from coterie.files.output import provenance_path
    from coterie.settings.config import Config

    try:
        return output != "-" and Config.from_toml(provenance_path(output)).hierarchies == config.hierarchies
    except CoterieError:
        return False


def _show(before: pa.Table, after: pa.Table, voice: Voice) -> None:
    """Print the first rows before and after. The data are public; no other command prints cells."""
    for title, table in (("Before:", before), ("After:", after)):
        voice.say(title)
        rows = table.slice(0, ROWS_SHOWN).to_pylist()
        voice.table(
            table.column_names, [["" if value is None else str(value) for value in row.values()] for row in rows]
        )
        voice.say()
