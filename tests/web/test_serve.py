"""The server itself: where it listens, what it prints, how it ends, and how much memory uploads take."""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from coterie.cli.app import main
from coterie.web.projects import half_open
from coterie.web.projects.work_folders import PREFIX, data_folder, passing_folder

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and /proc")


class Server:
    """A running `coterie serve`."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.work = folder / "work"
        self.work.mkdir(exist_ok=True)
        words = [sys.executable, "-m", "coterie.cli", "serve", *arguments]
        words += ["--no-browser", "--port", "0"]
        # Among temporary files of its own, unless told to keep projects.
        words += [] if "--project" in arguments else ["--forget"]
        how = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "env": os.environ | {"TMPDIR": str(self.work)}}
        self.process = subprocess.Popen(words, cwd=folder, text=True, **how)
        line = self.process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)(/\S*)\?token=(\S+)", line)
        assert found, line + self.process.stdout.read()
        self.port, self.path, self.token = int(found[1]), found[2], found[3]
        self.cookie = ""

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        host = f"127.0.0.1:{self.port}"
        headers = {"Host": host, "Origin": f"http://{host}", "Cookie": self.cookie, **headers}
        connection.request(method, path, body=body, headers=headers)
        answer = connection.getresponse()
        found = answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        connection.close()
        return found

    def enter(self) -> None:
        status, headers, _ = self.ask("GET", f"/?token={self.token}")
        assert status == 303
        self.cookie = headers["set-cookie"].split(";")[0]

    def upload(self, size: int) -> str:
        """Send a CSV file of about so many bytes, a piece at a time; the address that follows."""
        line = b"12345,some text,678.9\n" * 1000
        head = b'--B\r\nContent-Disposition: form-data; name="file"; filename="big.csv"\r\n\r\na,b,c\n'
        tail = b"\r\n--B--\r\n"
        count = size // len(line)

        def body() -> Iterator[bytes]:
            yield head
            for _ in range(count):
                yield line
            yield tail

        length = str(len(head) + count * len(line) + len(tail))
        kind = "multipart/form-data; boundary=B"
        status, headers, answer = self.ask(
            "POST", "/upload", body(), **{"Content-Type": kind, "Content-Length": length}
        )
        assert status == 303, answer
        return headers["location"]

    def memory(self, field: str = "VmHWM") -> int:
        """Most memory that the server had so far, in MB."""
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(rf"{field}:\s+(\d+)", text)[1]) // 1024

    def stop(self) -> str:
        self.process.send_signal(signal.SIGINT)
        rest = self.process.stdout.read()
        self.process.wait(30)
        return rest


@pytest.fixture
def server(tmp_path: Path, adult_csv: Path) -> Iterator[Server]:
    (tmp_path / "adult.csv").write_bytes(adult_csv.read_bytes())
    server = Server(tmp_path, "adult.csv")
    yield server
    if server.process.poll() is None:
        server.process.kill()
        server.process.wait()
    server.process.stdout.close()


def wait_for(found, seconds: float = 240) -> None:
    end = time.monotonic() + seconds
    while not found():
        assert time.monotonic() < end
        time.sleep(0.05)


def workers(server: Server) -> list[int]:
    """The processes that the server has started."""
    found = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text().split()
    return [int(number) for number in found]


def test_it_opens_the_file_and_listens_on_the_loopback_address_only(server):
    server.enter()
    assert re.fullmatch(r"/p/[0-9a-f]{16}/data", server.path)
    wait_for(lambda: b"Continue to Roles" in server.ask("GET", server.path)[2])
    listening = Path("/proc/net/tcp").read_text() + Path("/proc/net/tcp6").read_text()
    hexed = f":{server.port:04X}"
    where = {line.split()[1] for line in listening.splitlines()[1:] if line.split()[1].endswith(hexed)}
    assert {address.split(":")[0] for address in where} == {"0100007F"}
    for other in {address[4][0] for address in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}:
        if not other.startswith("127."):
            with pytest.raises(OSError), socket.create_connection((other, server.port), timeout=2):
                pass


def test_ctrl_c_ends_runs_and_removes_everything_at_once(server, tmp_path):
    server.enter()
    wait_for(lambda: b"Continue to Roles" in server.ask("GET", server.path)[2])
    run = server.path.replace("/data", "/run")
    form = "method=compact&options-effort=thorough&action=run"
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    assert server.ask("POST", run, form, **kind)[0] == 303
    wait_for(lambda: workers(server))
    started = workers(server)
    assert list(server.work.glob(f"{PREFIX}*"))
    begun = time.monotonic()
    rest = server.stop()
    assert time.monotonic() - begun < 30
    assert server.process.returncode == 0
    assert "Traceback" not in rest
    assert list(server.work.iterdir()) == []
    assert (tmp_path / "adult.csv").exists()
    for number in started:
        status = Path(f"/proc/{number}/stat")
        wait_for(lambda status=status: not status.exists() or status.read_text().split()[2] == "Z")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=["kill", "terminal"])
def test_a_kill_and_a_closed_terminal_end_it_in_order_too(server, number):
    server.enter()
    assert list(server.work.iterdir())
    server.process.send_signal(number)
    assert "Traceback" not in server.process.stdout.read()
    assert server.process.wait(30) == 0
    assert list(server.work.iterdir()) == []


def test_the_usual_port_is_taken_if_it_is_free(monkeypatch):
    from coterie.web import serve

    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        monkeypatch.setattr(serve, "USUAL_PORT", other.getsockname()[1])
        assert serve.usual_port() == 0
    assert serve.usual_port() == serve.USUAL_PORT


def test_workers_end_when_the_server_is_killed_and_the_next_one_cleans_up(server, monkeypatch):
    server.enter()
    wait_for(lambda: b"Continue to Roles" in server.ask("GET", server.path)[2])
    form = "method=compact&options-effort=thorough&action=run"
    server.ask(
        "POST", server.path.replace("/data", "/run"), form, **{"Content-Type": "application/x-www-form-urlencoded"}
    )
    wait_for(lambda: workers(server))
    started = workers(server)
    server.process.kill()
    server.process.wait()
    for number in started:
        status = Path(f"/proc/{number}/stat")
        wait_for(lambda status=status: not status.exists() or status.read_text().split()[2] == "Z")
    left = list(server.work.glob(f"{PREFIX}*"))
    assert len(left) == 1
    monkeypatch.setattr("tempfile.tempdir", str(server.work))
    with passing_folder() as fresh:
        assert list(server.work.iterdir()) == [fresh]
        with passing_folder() as second:  # one that lives is left alone
            assert {*server.work.iterdir()} == {fresh, second}
    assert list(server.work.iterdir()) == []


def run_of(server: Server, **options: str) -> str:
    """Start a run, and the address of its results."""
    form = "&".join(f"{name}={value}" for name, value in {"method": "mondrian", "action": "run", **options}.items())
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    assert server.ask("POST", server.path.replace("/data", "/run"), form, **kind)[1]["location"].endswith("/run")
    return server.path.replace("/data", "/results/0001")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["stop", "crash"])
def test_a_project_is_a_folder_that_survives_the_server(tmp_path, adult_csv, number):
    """Configuration, trees and runs are there again; a run that was under way is told to have been stopped."""
    (tmp_path / "adult.csv").write_bytes(adult_csv.read_bytes())
    kept = tmp_path / "kept"
    first = Server(tmp_path, "adult.csv", "--project", str(kept))
    try:
        first.enter()
        wait_for(lambda: b"Continue to Roles" in first.ask("GET", first.path)[2])
        results = run_of(first)
        wait_for(lambda: b"Every guarantee holds" in first.ask("GET", results)[2])
        form = "k=7&purpose=a+study&action=save"
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        assert first.ask("POST", first.path.replace("/data", "/goals"), form, **kind)[0] == 303
        told = subprocess.run(
            [sys.executable, "-m", "coterie.cli", "serve", "--no-browser", "--project", str(kept)],
            capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
        assert told.returncode == 2
        assert "another coterie serve uses" in told.stderr
        run_of(first, method="compact", **{"options-effort": "thorough"})
        wait_for(lambda: workers(first))
    finally:
        first.process.send_signal(number)
        first.process.stdout.read()
        first.process.wait(30)
        first.process.stdout.close()
    assert (kept.stat().st_mode & 0o777, (kept / "token").stat().st_mode & 0o777) == (0o700, 0o600)
    second = Server(tmp_path, "adult.csv", "--project", str(kept))
    try:
        second.cookie = first.cookie.replace(str(first.port), str(second.port))  # the token is the same
        assert second.path == first.path
        assert b"adult.csv" in second.ask("GET", "/")[2]
        assert b"Every guarantee holds" in second.ask("GET", results)[2]
        assert b'value="a study"' in second.ask("GET", second.path.replace("/data", "/goals"))[2]
        runs = second.ask("GET", second.path.replace("/data", "/run"))[2].decode()
        assert "Run 2 was cancelled" in runs
        assert not list(kept.rglob("*.part"))
    finally:
        second.stop()
        second.process.stdout.close()


def test_without_a_folder_projects_are_kept_among_the_users_data(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    assert data_folder() == tmp_path / "coterie" / "projects"
    assert main(["serve", "--no-browser", "--forget", "--project", str(tmp_path)]) == 2


def test_half_open_connections_are_closed(monkeypatch):
    """One that says nothing, and one that begins and does not go on; one that is answered slowly stays."""
    import asyncio

    import uvicorn

    monkeypatch.setattr(half_open, "PATIENCE", 0.3)

    async def app(scope, receive, send):
        await asyncio.sleep(0.8)
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    async def talk():
        config = uvicorn.Config(app, port=0, http=half_open.TimedProtocol, lifespan="off", log_config=None)
        server = uvicorn.Server(config)
        task = asyncio.create_task(server.serve())
        while not server.started:
            await asyncio.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        answers = []
        for said in (
            b"",
            b"GET / HT",
            b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf",
            b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        ):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(said)
            await writer.drain()
            answers.append(await asyncio.wait_for(reader.read(12), 20))
            writer.close()
        server.should_exit = True
        await task
        return answers

    assert asyncio.run(talk()) == [b"", b"", b"", b"HTTP/1.1 204"]


def test_an_upload_takes_disk_and_no_memory(server):
    server.enter()
    wait_for(lambda: b"Continue to Roles" in server.ask("GET", server.path)[2])
    before = server.memory()
    size = 96 << 20
    path = server.upload(size)
    assert server.memory() - before < 24
    uploaded = list(server.work.glob(f"{PREFIX}*/*/upload.csv"))
    assert len(uploaded) == 1
    assert uploaded[0].stat().st_size > size - (1 << 20)
    assert server.ask("GET", path)[0] == 200


def test_an_upload_that_is_cancelled_leaves_nothing(server):
    server.enter()
    head = b'--B\r\nContent-Disposition: form-data; name="file"; filename="half.csv"\r\n\r\na,b,c\n'
    host = f"127.0.0.1:{server.port}"
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
    connection.putrequest("POST", "/upload", skip_host=True)
    for name, value in {"Host": host, "Origin": f"http://{host}", "Cookie": server.cookie}.items():
        connection.putheader(name, value)
    connection.putheader("Content-Type", "multipart/form-data; boundary=B")
    connection.putheader("Content-Length", str(8 << 20))
    connection.endheaders(head + b"1,2,3\n" * 100_000)
    wait_for(lambda: list(server.work.glob(f"{PREFIX}*/*/upload")))
    assert b"half.csv" not in server.ask("GET", "/")[2]  # no project yet
    connection.close()
    wait_for(lambda: not list(server.work.glob(f"{PREFIX}*/*/upload")))
    wait_for(lambda: len([each for each in server.work.glob(f"{PREFIX}*/*") if each.is_dir()]) == 1)


def test_nothing_about_requests_is_printed(server):
    server.enter()
    server.ask("GET", "/?find=secret-value")
    server.ask("GET", "/p/secret-value/data")
    server.ask("POST", "/open", "path=secret-value", **{"Content-Type": "application/x-www-form-urlencoded"})
    server.ask("GET", "/", Host="secret-value")
    assert "secret-value" not in server.stop()


def test_a_port_that_is_taken_and_files_that_are_not_there(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert main(["serve", "--no-browser", "--port", str(taken.getsockname()[1])]) == 2
    assert "choose another" in capsys.readouterr().err
    assert main(["serve", "nothing.csv", "--no-browser"]) == 2
    assert "there is no file nothing.csv" in capsys.readouterr().err
    (tmp_path / "inside").mkdir()
    (tmp_path / "a.csv").write_text("x\n1\n")
    assert main(["serve", "a.csv", "--no-browser", "--allow", "inside"]) == 2
    assert "--allow" in capsys.readouterr().err
    assert main(["serve", "--no-browser", "--allow", "nowhere"]) == 2
    assert main(["serve", "--no-browser", "-c", "coterie.toml"]) == 2


def test_without_the_extra_it_says_what_to_install(monkeypatch, capsys):
    from coterie.cli.commands import serve as cli_serve

    monkeypatch.setattr(cli_serve, "find_spec", lambda name: None)
    assert main(["serve"]) == 2
    assert "pip install 'coterie[web]'" in capsys.readouterr().err
