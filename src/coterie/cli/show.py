"""Print command output: tables, notes, and a progress bar for anything longer than two seconds."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TextIO

from coterie.wording import visible

if TYPE_CHECKING:
    from rich.console import Console

# Shorter steps need no progress bar.
PATIENCE = 2.0
# A log file gets plain lines, since a bar would be noise.
LINE_EVERY = 10.0
# The step of a first run; see compiling.py.
COMPILE = "compile"


def console(*, err: bool = False) -> Console:
    """Return a console that prints text literally: column names may look like markup."""
    from rich.console import Console

    stream: TextIO = sys.stderr if err else sys.stdout
    # Without a terminal there is no width to respect, so tables are not wrapped.
    width = None if stream.isatty() else 160
    return Console(file=stream, markup=False, emoji=False, highlight=False, width=width, soft_wrap=not stream.isatty())


class Voice:
    """A command's output: standard output, or standard error if the release itself goes to standard output."""

    def __init__(self, *, quiet: bool = False, output: object = None) -> None:
        self.quiet = quiet
        self._err = str(output) == "-"

    def say(self, text: str = "", *, style: str | None = None) -> None:
        """Print one line, unless quiet; in colour on a terminal."""
        if not self.quiet:
            console(err=self._err).print(visible(text), style=style)

    def note(self, text: str) -> None:
        """Print one line on standard error, unless quiet."""
        if not self.quiet:
            console(err=True).print(visible(text))

    def table(self, head: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Sequence[str] = ()) -> None:
        """Print a table, unless quiet; the columns in `numbers` are right-aligned."""
        if self.quiet:
            return
        from rich import box
        from rich.table import Table

        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
        for name in head:
            table.add_column(visible(name), justify="right" if name in numbers else "left", overflow="fold")
        for row in rows:
            table.add_row(*map(visible, row))
        console(err=self._err).print(table)

    def summary(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Print names and values in two columns, unless quiet."""
        known = list(pairs)
        wide = max((len(name) for name, _ in known), default=0)
        for name, value in known:
            self.say(f"{name:<{wide}}  {value}")


class ProgressBar:
    """Shows the progress of a run on standard error after two seconds.

    It is called with (step, done, total). On a terminal it draws one bar with the remaining time; elsewhere it prints a
    plain line now and then. A timer updates it during long silent steps.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._started = time.monotonic()
        self._lock = threading.Lock()
        self._state: tuple[str, int, int] = ("starting", 0, 0)
        self._bar: Any = None
        self._task: Any = None
        self._last_line = self._started
        self._over = False
        self._timer: threading.Timer | None = None

    def __enter__(self) -> Self:
        if not self._quiet:
            self._timer = threading.Timer(PATIENCE, self._show)
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with self._lock:
            self._over = True
            if self._timer is not None:
                self._timer.cancel()
            if self._bar is not None:
                self._bar.stop()

    def __call__(self, step: str, done: int, total: int) -> None:
        """`done` of `total` units of the step are finished."""
        step = visible(step)
        if step == COMPILE:
            step = f"{COMPILE}: {done} of {total} kernels"
        with self._lock:
            # "compare: kaca, k = 10" continues the bar of "compare: cb, k = 10".
            fresh = step.partition(": ")[0] != self._state[0].partition(": ")[0]
            self._state = (step, done, total)
            if self._bar is not None and fresh:
                # The speed of a step does not predict that of the next.
                self._bar.remove_task(self._task)
                self._task = self._bar.add_task(step, total=total or None, completed=done)
            elif self._bar is not None:
                self._bar.update(self._task, completed=done, total=total or None, description=step)
        if not self._quiet and time.monotonic() - self._started > PATIENCE:
            self._show()

    def _show(self) -> None:
        with self._lock:
            if self._over or self._quiet:
                return
            step, done, total = self._state
            if sys.stderr.isatty():
                self._start_bar(step, done, total)
            elif self._last_line == self._started or time.monotonic() - self._last_line > LINE_EVERY:
                self._last_line = time.monotonic()
                share = f" {100 * done // total} %" if total and not step.startswith(COMPILE) else ""
                console(err=True).print(f"{step}{share} …")

    def _start_bar(self, step: str, done: int, total: int) -> None:
        if self._bar is not None:
            return
        from rich.progress import (
            BarColumn,
            Task,
            TaskProgressColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )
        from rich.progress import Progress as Bar
        from rich.text import Text

        class TimeLeft(TimeRemainingColumn):
            def render(self, task: Task) -> Text:
                # Some steps include their own estimate in the description.
                known = task.total and not task.description.endswith(" left")
                return Text("left ").append_text(super().render(task)) if known else Text("")

        what = TextColumn("{task.description}", markup=False)
        columns = (what, BarColumn(), TaskProgressColumn(), TimeElapsedColumn(), TimeLeft())
        self._bar = Bar(*columns, console=console(err=True), transient=True)
        self._task = self._bar.add_task(step, total=total or None, completed=done)
        self._bar.start()
