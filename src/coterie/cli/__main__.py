"""`python -m coterie.cli`: the same as `coterie`."""

from __future__ import annotations

from coterie.cli.app import console

if __name__ == "__main__":
    console()
