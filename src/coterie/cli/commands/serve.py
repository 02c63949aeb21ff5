"""`coterie serve`: the local web app."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from coterie.cli.flags import ConfigFile, Quiet, option, switch
from coterie.errors import BackendError, ConfigError, Problem

NEEDED = ("starlette", "uvicorn", "python_multipart", "tomlkit")
GIGABYTE = 1 << 30


def serve(
    data: Annotated[str | None, typer.Argument(metavar="[FILE]")] = None,
    config: ConfigFile = None,
    port: int | None = option(None, "N", "Port; 0 picks a free one. [default: 8765, if free]"),
    browser: bool = option(True, "", "Open a browser."),
    allow: list[Path] | None = option(
        None, "FOLDER", "Folder whose files may be opened by path; may be repeated. [default: the current folder]"
    ),
    upload_limit: float = option(4.0, "GB", "Maximum size of an upload."),
    project: Path | None = option(
        None,
        "FOLDER",
        "Folder of the projects, with their uploads, configurations, hierarchies and runs. "
        "[default: in your data folder]",
    ),
    forget: bool = switch("--forget", "Keep projects in a temporary folder and delete them on exit."),
    quiet: Quiet = False,
) -> None:
    """Open the local web app, which takes you from a file to a release.

    FILE is the table to start with; you can also open or upload files in the app.

    Only this machine can reach the app, and its address contains a token. With --config it reads and writes that
    file; otherwise you can download the configuration. Projects remain until you delete them in the app: start it
    again to continue.
    """
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise BackendError("The web app needs the web extra.", hint="Install it: pip install 'coterie[web]'")
    from coterie.web import serve as server
    from coterie.web.projects import work_folders
    from coterie.web.settings import Settings

    folders = tuple(folder.resolve() for folder in (allow or [Path.cwd()]))
    problems = [Problem("allow", f"there is no folder {folder}") for folder in folders if not folder.is_dir()]
    if upload_limit <= 0:
        problems.append(Problem("upload limit", "must be more than 0"))
    if config is not None and data is None:
        problems.append(Problem("config", "needs a table; give its FILE"))
    if forget and project is not None:
        problems.append(Problem("forget", "conflicts with --project, whose folder is permanent"))
    if problems:
        raise ConfigError(problems)
    file = None if data is None else server.check_file(data, folders)
    if port is None:
        port = server.usual_port()
    with work_folders.passing_folder() if forget else work_folders.project_folder(project) as folder:
        size = int(upload_limit * GIGABYTE)
        settings = Settings(
            folder,
            port=port,
            allowed_folders=folders,
            token=work_folders.kept_token(folder),
            upload_limit=size,
            unpacked_limit=max(4 * size, 16 * GIGABYTE),
            forget=forget,
        )
        server.serve(
            settings,
            file=file,
            config=None if config is None else config.resolve(),
            browser=browser,
            say=lambda text: None if quiet and "http" not in text else typer.echo(text),
        )
