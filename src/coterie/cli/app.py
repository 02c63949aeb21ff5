"""The command line: `coterie COMMAND`. This file has the code that all commands share; each command is in `commands`.

Commands import what they need when they run, so that `coterie --help` responds instantly.
"""

from __future__ import annotations

import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from io import TextIOWrapper
from typing import NoReturn

import typer

import coterie
from coterie.cli.commands.compare import compare
from coterie.cli.commands.compile import compile_kernels
from coterie.cli.commands.demo import demo
from coterie.cli.commands.explain import explain
from coterie.cli.commands.hierarchy import app as hierarchy
from coterie.cli.commands.init import init
from coterie.cli.commands.methods import methods
from coterie.cli.commands.models import models
from coterie.cli.commands.release import anonymize, measure, verify
from coterie.cli.commands.risk import attack, risk
from coterie.cli.commands.serve import serve
from coterie.cli.flags import offer_limits, switch
from coterie.cli.start import leave, start_lean
from coterie.errors import CoterieError, CoterieWarning, without_passwords
from coterie.wording import one_line, visible

INTERRUPTED = 130
PIPE_CLOSED = 141
UNEXPECTED = 70
STOPPED = "stopped; nothing was written"

COMPLETION = "_COTERIE_COMPLETE"
"""the variable with which shells request completions"""
HELP = ["-h", "--help"]

app = typer.Typer(
    name="coterie",
    help="Publish personal microdata safely: every record hides in a group of at least k, and releases are verified.",
    epilog="Start with `coterie demo`, or with `coterie init FILE`. "
    "Exit codes: 0 success, 1 a guarantee does not hold, 2 usage or configuration, 3 data, 4 infeasible, "
    "5 the release failed its own verification and was not written.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": HELP},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"coterie {coterie.__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version and exit."
    ),
    debug: bool = switch(
        "--debug", "Show the traceback of an error, which may contain data values (also: COTERIE_DEBUG=1)."
    ),
) -> None:
    """Handle options before the command; `main` has already handled --debug."""


COMMANDS: dict[str, tuple[Callable[..., None], str]] = {
    "init": (init, "Suggest a configuration for you to edit."),
    "anonymize": (anonymize, "Anonymize a table."),
    "verify": (verify, "Verify a release."),
    "measure": (measure, "Measure information loss and utility."),
    "explain": (explain, "Explain why a row was generalized as far as it was."),
    "compare": (compare, "Compare methods on your data."),
    "risk": (risk, "Estimate re-identification risk."),
    "attack": (attack, "Try to re-identify known people in a release."),
    "serve": (serve, "Open the local web app."),
    "methods": (methods, "List methods and their options."),
    "models": (models, "List privacy models and their parameters."),
    "compile": (compile_kernels, "Precompile the kernels."),
    "demo": (demo, "Try it on the bundled table."),
}
for _name, (_command, _help) in COMMANDS.items():
    app.command(_name, short_help=_help)(_command)
app.add_typer(hierarchy, name="hierarchy", short_help="Build, check and show generalization hierarchies.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code. Errors are one line on standard error, without cell values."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in words or os.environ.get("COTERIE_DEBUG", "") not in ("", "0")
    words = [argument for argument in words if argument != "--debug"]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A terminal that cannot show a character shows a substitute; this must not end a run.
            stream.reconfigure(errors="backslashreplace")
    try:
        with warnings.catch_warnings():
            _show_own_warnings(debug)
            code = _run(words)
            sys.stdout.flush()
        if code == INTERRUPTED:  # Typer has caught Ctrl-C already
            return _stopped(STOPPED, INTERRUPTED, debug=False)
        return code if isinstance(code, int) else 0
    except BrokenPipeError:
        return _pipe_closed()
    except SystemExit as end:
        # Typer and Rich catch a closed pipe themselves, and would end with 1.
        if isinstance(end.__context__, BrokenPipeError):
            return _pipe_closed()
        raise
    except (KeyboardInterrupt, typer.Abort):
        return _stopped(STOPPED, INTERRUPTED, debug)
    except typer.TyperException as error:
        return _stopped(_usage(error), error.exit_code, debug)
    except CoterieError as error:
        return _stopped(as_options(one_line(str(error))), error.exit_code, debug)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _stopped(f"{where}{(error.strerror or 'cannot be used').lower()}", CoterieError.exit_code, debug)
    except MemoryError:
        return _stopped("not enough memory for this table", CoterieError.exit_code, debug)
    except Exception as error:
        # Messages of other libraries' exceptions may quote cells, so only their type and place are shown.
        place = traceback.extract_tb(error.__traceback__)[-1]
        text = f"unexpected {type(error).__name__} in {os.path.basename(place.filename)}:{place.lineno}"  # noqa: PTH119
        return _stopped(f"{text}; this is a bug in coterie. --debug shows the traceback", UNEXPECTED, debug)


def _run(words: list[str]) -> object:
    """Run a command. Help requests go to the command itself; a command group without a command shows its help.

    While passing through the parent commands, Typer also checks their options, which loads pydantic.
    """
    if words[:1] == ["verify"] or COMPLETION in os.environ:
        offer_limits(verify)
    whole = typer.main.get_command(app)
    command, path, rest = whole, ["coterie"], list(words)
    while rest and rest[0] in getattr(command, "commands", {}):
        path.append(rest.pop(0))
        command = command.commands[path[-1]]  # type: ignore[attr-defined]
    if not rest and hasattr(command, "commands"):
        rest = ["--help"]
    if not rest or rest[-1] not in HELP:
        command, path, rest = whole, ["coterie"], words
    return command.main(args=rest, prog_name=" ".join(path), standalone_mode=False, help_option_names=HELP)


def console() -> NoReturn:
    """Run a command as the whole process."""
    start_lean()
    leave(main())


def as_options(text: str) -> str:
    """Rewrite Python keywords in a message, such as `force=True`, as command-line options."""
    text = re.sub(r"\b([a-z]+(?:_[a-z]+)*)=True\b", lambda found: "--" + found[1].replace("_", "-"), text)
    return re.sub(r"\b(queries)=(\d+)", r"--\1 \2", text)


def _usage(error: typer.TyperException) -> str:
    context = getattr(error, "ctx", None)
    where = f" (see `{context.command_path} --help`)" if context is not None else ""
    # Two layers of Typer suggest the nearest command.
    return re.sub(r"( Did you mean [^?]*\?)\1", r"\1", one_line(error.format_message())) + where


def _pipe_closed() -> int:
    """Handle a reader such as `head` closing the pipe; Python would complain again when closing the streams."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())
    return PIPE_CLOSED


def _stopped(text: str, code: int, debug: bool) -> int:
    if debug:
        typer.echo(traceback.format_exc(), err=True)
        typer.echo("note: the traceback above may contain data values; check it before you share it", err=True)
    typer.echo(f"error: {visible(without_passwords(text))}", err=True)
    return code


def _show_own_warnings(debug: bool) -> None:
    """Show coterie's warnings as one line each; library warnings are for developers and might quote cells."""
    if not debug:
        warnings.simplefilter("ignore")
    warnings.simplefilter("always", CoterieWarning)

    def show(message: Warning | str, category: type[Warning], *_: object) -> None:
        if debug or issubclass(category, CoterieWarning):
            typer.echo(f"warning: {without_passwords(one_line(str(message)))}", err=True)

    warnings.showwarning = show  # type: ignore[assignment]
