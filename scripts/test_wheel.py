"""Build coterie and test the package as users get it: `make test-wheel`.

Builds source distribution and wheel, and installs the wheel in empty environments: with every Python from 3.11 to
3.14 on this machine, once with the newest versions of its dependencies and once with the oldest allowed ones. In each
of them scripts/try_installed.py runs README's commands and snippets. It reports what could not be tested.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
RESOLUTIONS = ("highest", "lowest-direct")
EXTRAS = "db,excel,exact,ml,web"
# Of Spark there is no wheel, and half a gigabyte of sources: it is tried with one Python only.
LARGE_EXTRA = "spark"
WHEELS = ["--only-binary", ":all:", "--no-binary", "pyspark"]


@dataclass(frozen=True)
class Environment:
    """One environment to try the wheel in."""

    version: str
    python: Path
    resolution: str
    extras: str

    @property
    def name(self) -> str:
        """Its name."""
        return f"Python {self.version}, {'newest' if self.resolution == 'highest' else 'oldest'} versions"


def find_python(version: str) -> Path | None:
    """Find a working interpreter of this version: on the path, or among those of pyenv and uv."""
    homes = [Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser() / "versions"]
    homes.append(Path(os.environ.get("UV_PYTHON_INSTALL_DIR", "~/.local/share/uv/python")).expanduser())
    found = [shutil.which(f"python{version}")]
    found += [str(path) for home in homes for path in sorted(home.glob(f"*{version}.*/bin/python{version}"))]
    for python in filter(None, found):
        asked = [python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
        if done.returncode == 0 and done.stdout.strip() == version:
            return Path(python)
    return None


def run(*words: str | Path, **more: object) -> None:
    """Run a command; show its output if it fails."""
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False, **more)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}")


def uv(*words: str | Path) -> None:
    """Run uv, without letting it fetch interpreters."""
    beside = Path(sys.executable).with_name("uv")
    run(beside if beside.exists() else "uv", "--quiet", "--no-python-downloads", *words, cwd=ROOT)


def build(folder: Path) -> Path:
    """Build the source distribution and, from it, the wheel."""
    uv("build", "--out-dir", folder)
    (wheel,) = folder.glob("*.whl")
    if not list(folder.glob("*.tar.gz")):
        raise RuntimeError("no source distribution was built")
    return wheel


def install(wheel: Path, environment: Environment, folder: Path) -> Path:
    """Install the wheel and its dependencies into an empty environment, and return its interpreter."""
    uv("venv", "--python", environment.python, folder)
    inside = folder / "bin" / "python"
    needed = folder / "needed.txt"
    extras = [word for extra in environment.extras.split(",") for word in ("--extra", extra) if extra]
    how = ["--resolution", environment.resolution, "--python-version", environment.version, *WHEELS]
    uv("pip", "compile", *how, *extras, "pyproject.toml", "--output-file", needed)
    uv("pip", "install", "--python", inside, *WHEELS, "--requirements", needed, wheel)
    uv("pip", "check", "--python", inside)
    return inside


def try_in(environment: Environment, wheel: Path, folder: Path) -> list[str]:
    """Return the failures in an environment: first without extras, then with them."""
    faults = []
    core = Environment(environment.version, environment.python, environment.resolution, "")
    for each, checks in ((core, ["readme"]), (environment, ["extras", environment.extras])):
        where = folder / f"{each.version}-{each.resolution}-{'extras' if each.extras else 'core'}"
        started = time.monotonic()
        try:
            python = install(wheel, each, where)
            work = where / "work"
            work.mkdir()
            env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "NUMBA"))}
            # Both share the compiled code, as they would for a user who adds an extra.
            env |= {"XDG_CACHE_HOME": str(folder / f"cache-{each.version}-{each.resolution}"), "EDITOR": "true"}
            run(python, "-I", ROOT / "scripts" / "try_installed.py", ROOT / "README.md", *checks, cwd=work, env=env)
        except (RuntimeError, OSError) as error:
            faults.append(f"{each.name}{' with extras' if each.extras else ''}: {error}")
        took = time.monotonic() - started
        what = f"extras {each.extras}" if each.extras else "README's commands and snippets"
        print(f"{each.name}: {what}: {'failed' if faults else 'fine'} ({took:.0f} s)", flush=True)
    return faults


def environments(versions: list[str]) -> list[Environment]:
    """Return all environments available on this machine."""
    found = []
    for version in versions:
        python = find_python(version)
        if python is None:
            print(f"Python {version}: skipped, since there is none on this machine")
            continue
        for resolution in RESOLUTIONS:
            first = not any(each.resolution == resolution for each in found)
            found.append(Environment(version, python, resolution, f"{EXTRAS},{LARGE_EXTRA}" if first else EXTRAS))
    return found


def main() -> int:
    """Build, install, test; the last line sums it up as pytest would."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", nargs="*", default=list(VERSIONS), metavar="VERSION", help="3.11, 3.12, …")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="environments at a time")
    asked = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="coterie-wheel-") as name:
        folder = Path(name)
        wheel = build(folder / "dist")
        tried = environments(asked.python)
        with ThreadPoolExecutor(asked.jobs) as pool:
            faults = [fault for found in pool.map(lambda each: try_in(each, wheel, folder), tried) for fault in found]
    for fault in faults:
        print(f"\n{fault}")
    passed = 2 * len(tried) - len(faults)
    print(f"{len(faults)} failed, {passed} passed in {time.monotonic() - started:.2f}s")
    return 1 if faults or not tried else 0


if __name__ == "__main__":
    sys.exit(main())
