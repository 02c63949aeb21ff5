"""Write the generated files: docs pages, the report schema and the map in CONTRIBUTING.md.

Run `python scripts/make_docs.py` after changing flags, settings or methods; a test runs it with --check.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from textwrap import wrap

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

sys.path.insert(0, str(Path(__file__).parent))
import house

from coterie.cli.app import app
from coterie.cli.commands.methods import described, preset_text
from coterie.cli.commands.release import verify
from coterie.cli.flags import offer_limits
from coterie.files.databases.place import DATABASES
from coterie.files.formats import FORMATS
from coterie.methods import all_methods
from coterie.reporting.report import SCHEMA, schema_text
from coterie.settings.fields._setting import Setting
from coterie.settings.models import form_of
from coterie.settings.registry import DEFAULT_METHOD, FIELDS, MEASURES, MODELS
from coterie.settings.texts import default_text, type_text

Command = TyperCommand | TyperGroup

CONTRIBUTING = Path(__file__).resolve().parent.parent / "CONTRIBUTING.md"
DOCS = Path(__file__).resolve().parent.parent / "docs"
KEYWORDS = DOCS.parent / "src" / "coterie" / "settings" / "keywords.py"
# Options that Typer adds by itself, in its own words.
TYPERS = ("install_completion", "show_completion")
MADE = "<!-- Made by scripts/make_docs.py; change the code, not this page. -->"


def cell(text: object) -> str:
    """Escape text for a table cell."""
    return " ".join(str(text).split()).replace("|", "\\|")


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    """Return the lines of a Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(cell(part) for part in row) + " |" for row in rows]


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a docstring, each on one line."""
    return [" ".join(part.split()) for part in text.strip().split("\n\n") if part.strip()]


def commands(command: Command, path: tuple[str, ...]) -> list[tuple[tuple[str, ...], Command]]:
    """Return a command and its subcommands, in the order of the help."""
    found = [(path, command)]
    if isinstance(command, TyperGroup):
        for name, inner in command.commands.items():
            if not inner.hidden:
                found += commands(inner, (*path, name))
    return found


def command_lines(path: tuple[str, ...], command: Command) -> list[str]:
    """Return one section of the command-line page."""
    arguments = [p for p in command.params if isinstance(p, TyperArgument)]
    options = [p for p in command.params if isinstance(p, TyperOption) and not p.hidden and p.name not in TYPERS]
    shown = [(p.metavar or p.name or "").upper().strip("[]") for p in arguments]
    usage = [name if p.required else f"[{name}]" for name, p in zip(shown, arguments, strict=True)]
    tail = "COMMAND" if isinstance(command, TyperGroup) else " ".join(usage)
    lines = [f"## `{' '.join(path)}`", ""]
    for part in paragraphs(command.help or ""):
        lines += [part, ""]
    lines += ["```", " ".join(part for part in (*path, "[OPTIONS]", tail) if part), "```", ""]
    lines += [f"`{name}`: {p.help}\n" for name, p in zip(shown, arguments, strict=True) if p.help]
    if options:
        rows = [[f"`{', '.join(sorted(p.opts, key=len))}`", option_text(p)] for p in options]
        lines += [*table(["option", "what it does"], rows), ""]
    return lines


def option_text(option: TyperOption) -> str:
    """Return an option's help, its value and its default."""
    value = "" if option.is_flag else f"`{option.metavar}` · "
    several = " May be repeated." if option.multiple and "repeated" not in (option.help or "") else ""
    default = option.default
    known = default not in (None, False, ()) and not callable(default) and "UNSET" not in repr(default).upper()
    return f"{value}{option.help or ''}{several}" + (f" Default: `{default}`." if known else "")


def cli_page() -> str:
    """Return docs/cli.md."""
    lines = [
        MADE,
        "",
        "# The command line",
        "",
        "Flags of `anonymize`, `verify` and `measure` that describe the release are also settings of the",
        "[configuration file](configuration.md), and override it. [Errors](errors.md) lists the exit codes.",
        "Messages go to standard error when the release goes to standard output (`-o -`).",
        "",
    ]
    offer_limits(verify)
    for path, command in commands(typer.main.get_command(app), ("coterie",)):
        lines += command_lines(path, command)
    return "\n".join(lines).rstrip() + "\n"


def configuration_page() -> str:
    """Return docs/configuration.md."""
    settings: list[str] = []
    groups: dict[type, list[list[str]]] = {}
    for name, each in FIELDS.items():
        kind = {"privacy": "list of models", "hierarchies": "table of hierarchies"}.get(
            name, type_text(each.annotation)
        )
        row = [f"`{name}`", f"`{each.option}`", kind, f"`{default_text(each.default)}`", each.about]
        groups.setdefault(each.group, []).append(row)
    for group, rows in groups.items():
        settings += [
            f"## {group.title}",
            "",
            *table(["setting", "option", "type", "default", "what it does"], rows),
            "",
        ]
    lines = [
        MADE,
        "",
        "# Configuration",
        "",
        "The same names are keywords of `coterie.anonymize` and `coterie.Config`, keys of a TOML file and, as shown,",
        "options of the [command line](cli.md). `coterie init FILE` writes a commented TOML file.",
        "coterie reports all problems of a configuration at once, each with its path, such as `weights.zip`.",
        "",
        *settings,
        "## Every column has a role",
        "",
        "You assign each column a role: `quasi` (generalized), `sensitive` or `keep` (published unchanged),",
        "`identifiers` or `drop` (removed). `entity` is a role too; the column may also be in `identifiers` or `drop`.",
        "`anonymize` refuses a table with a column that has no role, because it may contain names. The error lists",
        'the columns and the lines to paste, such as `keep = ["visits"]` or `--drop row_id`. `coterie init` assigns',
        "every column a role. `verify`, `measure`, `risk`, `attack`, `explain` and `compare` publish nothing and need",
        "only the roles they use.",
        "",
        "An option or keyword replaces the list in the file. A column that it gives another role is removed from",
        "`keep` and `drop` of the file.",
        "",
        "## Example",
        "",
        "```toml",
        (DOCS.parent / "examples" / "adult" / "coterie.toml").read_text(encoding="utf-8").rstrip(),
        "```",
        "",
        "With every release, coterie also writes `<name>.coterie.toml`: all settings, the hierarchies in full, and a",
        "table `[provenance]` (versions, SHA-256 of the output, time), which is ignored when the file is used as",
        "a configuration. It is internal: do not share it with the release.",
        "",
    ]
    return "\n".join(lines)


def between(path: Path, mark: str, lines: list[str]) -> str:
    """Replace the part of a page between two marks."""
    text = path.read_text(encoding="utf-8")
    start, end = f"<!-- {mark}: made by scripts/make_docs.py from the code -->", f"<!-- end of {mark} -->"
    head, _, rest = text.partition(start)
    return f"{head}{start}\n\n" + "\n".join(lines) + f"\n\n{end}{rest.partition(end)[2]}"


def measures_page() -> str:
    """Return docs/measures.md with the table of all measures."""
    rows = [[f"`{m.name}`", m.about, m.formula, m.range, m.better, m.silent] for m in MEASURES.values()]
    head = ["measure", "what it is", "formula", "range", "better", "what it does not say"]
    return between(DOCS / "measures.md", "measures", table(head, rows))


def models_page() -> str:
    """Return docs/privacy-models.md with the table of all models."""
    rows = []
    for model in MODELS.values():
        variants = f" Variants: {', '.join(model.choices(model.variant))}." if model.variant else ""
        rows.append([f"`{form_of(model)}`", model.meaning + variants, model.not_proved, model.paper])
    head = ["model", "what it guarantees", "what it does not guarantee", "paper"]
    return between(DOCS / "privacy-models.md", "models", table(head, rows))


def formats_page() -> str:
    """Return docs/databases.md with the table of file formats and databases."""
    rows = [
        [each.title, ", ".join(f"`{ending}`" for ending in each.endings), "yes" if each.writes else "no", each.keeps]
        for each in FORMATS.values()
    ]
    rows += [[each.title, f"`{each.example}`", "yes", each.keeps] for each in DATABASES.values()]
    head = ["format or database", "names end in, or address", "written too", "what it keeps besides cells"]
    return between(DOCS / "databases.md", "formats", table(head, rows))


OWN = {"verify": ("k",), "compare": ("k", "privacy"), "risk": ("fraction", "threshold")}
"""functions with parameters of their own in place of settings"""


def keyword_type(each: Setting) -> str:
    """Return the Python type of a setting as a keyword."""
    if each.accepts:
        return each.accepts
    kinds = {"columns": "str | Iterable[str]", "switch": "bool", "whole": "int", "number": "float", "text": "str"}
    literal = "Literal[" + ", ".join(f'"{value}"' for value in each.values) + "]"
    if each.kind == "table":
        inner = literal if each.values else "float" if "float" in str(each.annotation) else "Any"
        return f"Mapping[str, {inner}]"
    found = literal if each.kind == "choice" else kinds[each.kind]
    found = "str | float" if each.kind == "text" and "float" in str(each.annotation) else found
    return f"{found} | None" if each.optional else found


def keywords_text() -> str:
    """Return settings/keywords.py."""
    apart = list(dict.fromkeys(name for names in OWN.values() for name in names))

    def entries(names: Iterable[str]) -> list[str]:
        return [
            line if line.startswith(" ") else f"    {line}"
            for name in names
            for line in (f"    {name}: {keyword_type(FIELDS[name])}", *wrap(f'"""{FIELDS[name].help}"""', 116))
        ]

    own = [name for name in FIELDS if FIELDS[name].group.__module__.startswith("coterie.")]
    lines = [
        '"""The settings as keywords of Python, for editors and type checkers: made by scripts/make_docs.py."""',
        "",
        "from __future__ import annotations",
        "",
        "from collections.abc import Iterable, Mapping",
        "from os import PathLike",
        "from typing import TYPE_CHECKING, Any, Literal, TypedDict",
        "",
        "if TYPE_CHECKING:",
        "    from coterie.hierarchies.hierarchy import Hierarchy",
        "    from coterie.privacy.model import Model",
        "",
        "",
        "class SharedKeywords(TypedDict, total=False):",
        '    """What every function takes that has settings."""',
        "",
        *entries(name for name in own if name not in apart),
    ]
    # The fewest first: each class extends the largest one whose settings are all among its own.
    made: dict[str, set[str]] = {"Shared": set()}
    for function, names in sorted({"": (), **OWN}.items(), key=lambda each: -len(each[1])):
        taken = set(apart) - set(names)
        base = max((each for each in made if made[each] <= taken), key=lambda each: len(made[each]))
        lines += ["", "", f"class {function.capitalize()}Keywords({base}Keywords, total=False):"]
        lines += [f'    """Settings{f" of `coterie.{function}`" if function else ""}."""', ""]
        lines += entries(name for name in apart if name in taken - made[base])
        made[function.capitalize()] = taken
    return "\n".join(lines) + "\n"


def methods_page() -> str:
    """Return docs/methods.md."""
    known = [described(method) for method in all_methods().values()]
    summary = [[f"[`{m['name']}`](#{m['name']})", m["recoding"], m["summary"], m["paper"]] for m in known]
    lines = [
        MADE,
        "",
        "# Methods",
        "",
        f"A method assigns rows to groups; everything else is the same for all. The default is `{DEFAULT_METHOD}`.",
        "",
        *table(["name", "recoding", "what it does", "paper"], summary),
        "",
    ]
    for method in known:
        lines += [f"## {method['name']}", "", f"{method['summary']} ({method['paper']})", ""]
        options = [
            [f"`{option['name']}`", option["type"], f"`{default_text(option['default'])}`", option["description"]]
            for option in method["options"]
        ]
        lines += table(["option", "type", "default", "what it does"], options) if options else ["It has no options."]
        if method["published"] is not None:
            lines += ["", preset_text(method["published"])]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def contributing_page() -> str:
    """Return CONTRIBUTING.md with the map of packages."""
    return house.contributing(CONTRIBUTING.read_text(encoding="utf-8"))


PAGES = {
    CONTRIBUTING: contributing_page,
    DOCS / "cli.md": cli_page,
    DOCS / "configuration.md": configuration_page,
    DOCS / "databases.md": formats_page,
    DOCS / "measures.md": measures_page,
    DOCS / "methods.md": methods_page,
    DOCS / "privacy-models.md": models_page,
    SCHEMA: schema_text,
    KEYWORDS: keywords_text,
}


def stale() -> list[str]:
    """Return the pages that are out of date."""
    return [
        path.name for path, page in PAGES.items() if not path.exists() or path.read_text(encoding="utf-8") != page()
    ]


def main() -> int:
    """Write the pages or, with --check, list those that are out of date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a page is out of date")
    if parser.parse_args().check:
        old = stale()
        if old:
            sys.stderr.write(f"out of date: {', '.join(old)}; run python scripts/make_docs.py\n")
        return 1 if old else 0
    DOCS.mkdir(exist_ok=True)
    for path, page in PAGES.items():
        path.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
