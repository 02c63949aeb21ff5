"""The local page with large tables: what an upload of 1 GB takes of the server's memory, and how fast rows show."""

from __future__ import annotations

import http.client
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.harness import Bench
from benchmarks.markdown import number, table

TITLE = "The web app: a large upload, and rows of a large table"
UPLOAD, ROWS = 1 << 30, 1_000_000
MEMORY_MB, SHOWN_S = 200.0, 0.5
LOOKS = 40


class Server:
    """A `coterie serve` of its own, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.work = folder / "work"
        self.work.mkdir()
        words = ["serve", "--no-browser", "--port", "0", "--forget"]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "coterie.cli", *words],
            cwd=folder,
            env=os.environ | {"TMPDIR": str(self.work)},
            stdout=subprocess.PIPE,
            text=True,
        )
        found = re.search(r"127\.0\.0\.1:(\d+)/\?token=(\S+)", self.process.stdout.readline())
        self.port, self.cookie = int(found[1]), ""
        self.cookie = self.ask("GET", f"/?token={found[2]}")[1]["set-cookie"].split(";")[0]

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, dict[str, str], str]:
        """One request; status, headers and text of the answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        own = {"Origin": f"http://127.0.0.1:{self.port}", "Cookie": self.cookie}
        connection.request(method, path, body=body, headers={**own, **headers})
        answer = connection.getresponse()
        found = answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read().decode()
        connection.close()
        return found

    def upload(self, lines: list[bytes], size: int) -> str:
        """Send a CSV file of such lines, a piece at a time; where it can be looked at."""
        head = b'--B\r\nContent-Disposition: form-data; name="file"; filename="big.csv"\r\n\r\nid,age,town,note\n'
        tail = b"\r\n--B--\r\n"
        pieces = [lines[place % len(lines)] for place in range(max(size // len(lines[0]), 1))]

        def body() -> Iterator[bytes]:
            yield head
            yield from pieces
            yield tail

        length = str(len(head) + sum(map(len, pieces)) + len(tail))
        form = {"Content-Type": "multipart/form-data; boundary=B", "Content-Length": length}
        status, headers, text = self.ask("POST", "/upload", body(), **form)
        if status != 303:
            raise RuntimeError(f"the upload was refused: {status} {text[-500:]}")
        return headers["location"]

    def memory(self) -> int:
        """The most memory that the server has had, in MB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) // 1024

    def stop(self) -> None:
        """End it as Ctrl-C does."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait(60)


def run(bench: Bench) -> None:
    size, rows = (50 << 20, 50_000) if bench.quick else (UPLOAD, ROWS)
    draw = random.Random(0)
    blocks = [
        "".join(
            f"p{draw.randrange(10**6):06d},{draw.randrange(18, 90)},town{draw.randrange(100):02d},{'x' * 60}\n"
            for _ in range(1000)
        ).encode()
        for _ in range(20)
    ]
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder))
        try:
            _large_upload(bench, server, blocks, size)
            _many_rows(bench, server, blocks, rows)
        finally:
            server.stop()
        bench.holds("nothing is left after the end", not any(server.work.iterdir()))


def _large_upload(bench: Bench, server: Server, blocks: list[bytes], size: int) -> None:
    # Whatever pages load stays loaded: so each of them is visited first.
    page = server.upload(blocks, 5 * len(blocks[0]))
    _wait(server, page)
    for step in ("data", "roles", "hierarchies", "hierarchies/2", "goals", "run", "configuration"):
        server.ask("GET", page.replace("/data", f"/{step}"))
    before, started = server.memory(), time.perf_counter()
    page = server.upload(blocks, size)
    sent = time.perf_counter() - started
    text, looked = _wait(server, page)
    most = server.memory()
    bench.row(what="upload", mb=size >> 20, seconds=round(sent, 2), looked=round(looked, 2), before=before, memory=most)
    bench.holds("the whole file has arrived and is shown", f"{size // len(blocks[0]) * 1000:,}" in text)
    bench.at_most("server while a large file is uploaded, looked at and shown, MB", most, MEMORY_MB)
    server.ask("POST", page.replace("/data", "/delete"), "")


def _many_rows(bench: Bench, server: Server, blocks: list[bytes], rows: int) -> None:
    page = server.upload(blocks, rows // 1000 * len(blocks[0]))
    _wait(server, page)
    draw, times = random.Random(1), []
    for _ in range(LOOKS):
        first = draw.randrange(rows) + 1
        started = time.perf_counter()
        status, _, part = server.ask("GET", f"{page}/rows?row={first}")
        times.append(time.perf_counter() - started)
        if status != 200 or f">{first:,}</th>" not in part:
            raise RuntimeError("other rows than those that were asked for")
    times.sort()
    cells = {"median": round(times[LOOKS // 2], 4), "slowest": round(times[-1], 4)}
    bench.row(what="rows", rows=rows, **cells, memory=server.memory())
    bench.at_most("100 rows anywhere in a large table, seconds, the slowest of 40", times[-1], SHOWN_S)


def _wait(server: Server, page: str) -> tuple[str, float]:
    """The page once the table was looked at, and how long that took."""
    started = time.perf_counter()
    while 'id="looking"' in (text := server.ask("GET", page)[2]):
        time.sleep(0.3)
    return text, time.perf_counter() - started


def lines(result: dict) -> list[str]:
    sent, shown = result["rows"]
    rows = [
        [f"upload of {sent['mb']:,} MB", number(sent["seconds"]), f"{sent['memory']:,}"],
        ["… until it has been read and can be viewed", number(sent["looked"]), f"{sent['memory']:,}"],
        [
            f"100 rows at random among {shown['rows']:,}, median",
            number(shown["median"], 3),
            f"{shown['memory']:,}",
        ],
        ["… the slowest of 40", number(shown["slowest"], 3), f"{shown['memory']:,}"],
    ]
    return [
        "A CSV file is uploaded to a fresh `coterie serve` over HTTP. Memory is the peak of the server process; it was "
        f"{sent['before']} MB after every page had been visited once. A separate process reads the table and then "
        "exits.",
        "",
        *table(["what", "clock s", "server MB"], rows),
    ]
