"""The server: one process on the loopback address. See work_folders.py for where it keeps projects."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import uvicorn

from coterie.errors import ConfigError, Problem
from coterie.web.app import create_app
from coterie.web.projects.half_open import TimedProtocol
from coterie.web.projects.routes import open_path
from coterie.web.settings import Settings, resolve_allowed

LOOPBACK = "127.0.0.1"
USUAL_PORT = 8765


def serve(
    settings: Settings,
    *,
    file: Path | None = None,
    config: Path | None = None,
    browser: bool = True,
    say: Callable[[str], None] = lambda _: None,
) -> None:
    """Run until interrupted, then stop all runs.

    Args:
        settings: The server's settings; the port may be 0 for any free one.
        file: A table to open at once.
        config: The coterie.toml that its project reads and writes.
        browser: Whether to open a browser.
        say: Called with messages for the user.
    """
    _quiet_logs()
    with bound(settings.port) as listener:
        settings = replace(settings, port=listener.getsockname()[1])
        app = create_app(settings)
        at = "/" if file is None else f"{open_path(app, file, configuration=config).url}/data"
        address = settings.address.replace("/?", f"{at}?", 1)
        say(f"coterie is running at {address}")
        say("Only this machine can reach it, with this address only. Ctrl-C stops it.")
        say("Everything is deleted then." if settings.forget else f"Projects are kept in {settings.work_folder}")
        if browser:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
        # No access log: addresses of requests may contain search terms.
        options = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=1,
            http=TimedProtocol,
            lifespan="on",
        )
        _end_in_order()
        try:
            uvicorn.Server(options).run(sockets=[listener])
        except KeyboardInterrupt:
            pass
        finally:
            app.state.jobs.stop_all()


def usual_port() -> int:
    """Return the usual port, or 0 if another program uses it."""
    try:
        with bound(USUAL_PORT):
            return USUAL_PORT
    except ConfigError:
        return 0


@contextmanager
def bound(port: int) -> Iterator[socket.socket]:
    """Return a socket on the loopback address."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((LOOPBACK, port))
            listener.listen()  # a browser that is faster than the server waits
        except (OSError, OverflowError):
            text = f"{port} cannot be used: another program has it, or it is reserved; choose another, or 0 for any"
            raise ConfigError([Problem("port", text)]) from None
        yield listener
    finally:
        listener.close()


def _end_in_order() -> None:
    """Make a closed terminal and a plain kill end the server as Ctrl-C does: runs are stopped first."""
    if threading.current_thread() is not threading.main_thread():
        return

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    # uvicorn handles SIGTERM, ends, and then raises it again for the previous handler.
    signal.signal(signal.SIGTERM, stop)
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))


def check_file(file: str, folders: Sequence[Path]) -> Path:
    """Check that the file given on the command line exists and is in an allowed folder."""
    path = Path(file)
    if not path.is_file():
        raise ConfigError([Problem("file", f"there is no file {file}")])
    resolved = resolve_allowed(str(path.absolute()), tuple(folders))
    if resolved is None:
        folder = path.resolve().parent
        raise ConfigError([Problem("file", f"{file} is outside the allowed folders; add --allow {folder}")])
    return resolved


def _quiet_logs() -> None:
    """Log only errors, by kind and place."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("coterie: %(message)s"))
    log = logging.getLogger("coterie.web")
    if not log.handlers:
        log.addHandler(handler)
    log.propagate = False
    # uvicorn's own messages about broken requests quote nothing, but tracebacks would.
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "uvicorn.asgi"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
