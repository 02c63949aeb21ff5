"""A real PostgreSQL server of the tests' own; where there is none, these tests are skipped and say why."""

import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest

PASSWORD = "s3cr3t/päss#@"  # signs that a URL has to encode
ENCODED = "s3cr3t%2Fp%C3%A4ss%23%40"
PORT = 5432  # of a socket in a folder that nobody else has


def programs():
    """The folder with initdb and pg_ctl, or None."""
    places = [Path(os.environ.get("COTERIE_POSTGRES") or "/nowhere")]
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True) + sorted(Path("/usr").glob("pgsql-*/bin"))
    found = shutil.which("initdb")
    places += [Path(found).parent] if found else []
    return next((place for place in places if (place / "initdb").exists() and (place / "pg_ctl").exists()), None)


class Server(NamedTuple):
    """A server that runs."""

    folder: Path
    password: str = PASSWORD

    def url(self, *, user="owner", password=ENCODED, database="census"):
        secret = f":{password}" if password else ""
        return f"postgresql://{user}{secret}@/{database}?host={self.folder}&port={PORT}"

    def run(self, *statements):
        """Run statements as the superuser and return what the last one gives."""
        from adbc_driver_postgresql import dbapi

        with dbapi.connect(self.url(user="postgres"), autocommit=True) as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            return cursor.fetchall() if cursor.description else None


def unprivileged():
    """The user to run the server as, since PostgreSQL refuses root; None for who runs the tests."""
    if os.getuid() != 0:
        return None
    known = {each.pw_name for each in pwd.getpwall()}
    user = next((name for name in ("postgres", "nobody") if name in known), None)
    if user is None or shutil.which("runuser") is None:
        pytest.skip("the tests run as root, PostgreSQL does not, and there is no runuser or nobody to run it as")
    return user


@pytest.fixture(scope="session")
def server():
    """PostgreSQL in a temporary folder, reached through a socket in it, with passwords asked for."""
    pytest.importorskip("adbc_driver_postgresql", reason="the PostgreSQL driver is not installed: make test-db")
    bin_folder = programs()
    if bin_folder is None:
        pytest.skip("no PostgreSQL server was found: scripts/install_postgres.sh installs it where it can")
    user = unprivileged()
    before = ["runuser", "-u", user, "--"] if user else []
    # Short: the path of a socket may have about a hundred signs.
    folder = Path(tempfile.mkdtemp(prefix="coterie-pg-", dir="/tmp"))
    try:
        (folder / "password").write_text(PASSWORD, encoding="utf-8")
        if user:
            shutil.chown(folder, user)
            shutil.chown(folder / "password", user)
        run(before, bin_folder / "initdb", "-D", folder / "data", "-U", "postgres", "-A", "scram-sha-256",
            "--pwfile", folder / "password", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")  # fmt: skip
        options = f"-c listen_addresses= -c unix_socket_directories={folder} -p {PORT} -c fsync=off"
        control = [bin_folder / "pg_ctl", "-D", folder / "data", "-w"]
        run(before, *control, "-l", folder / "log", "-o", options, "start")
        try:
            started = Server(folder)
            make_users(started)
            yield started
        finally:
            run(before, *control, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run(before, *command):
    """Run a program, quietly; its output is shown if it fails. No pipe: the server would keep it open."""
    with tempfile.TemporaryFile() as told:
        done = subprocess.run([*before, *map(str, command)], stdout=told, stderr=told, cwd="/", check=False)
        told.seek(0)
        assert done.returncode == 0, told.read().decode(errors="replace")


def make_users(server):
    from adbc_driver_postgresql import dbapi

    first = server.url(user="postgres", database="postgres")
    with dbapi.connect(first, autocommit=True) as connection, connection.cursor() as cursor:
        for statement in (
            f"CREATE ROLE owner LOGIN PASSWORD '{PASSWORD}'",
            f"CREATE ROLE guest LOGIN PASSWORD '{PASSWORD}'",
            "CREATE DATABASE census OWNER owner",
        ):
            cursor.execute(statement)


@pytest.fixture
def url(server, tmp_path, monkeypatch):
    """The address of an empty database; the current folder is a temporary one, for files beside releases."""
    server.run(
        "DROP SCHEMA public CASCADE",
        "CREATE SCHEMA public AUTHORIZATION owner",
        "GRANT USAGE ON SCHEMA public TO guest",
        'DROP SCHEMA IF EXISTS "odd ""schema" CASCADE',
    )
    monkeypatch.chdir(tmp_path)
    return server.url()
