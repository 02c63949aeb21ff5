"""Benchmarks: each checks its answer and prints a ratio. Run them by `make bench`, or `python -m benchmarks NAME`.

    __main__.py       which benchmarks there are, and the command line
    harness.py        timing, checks, results as JSON under results/
    cases.py          the tables that methods are measured on
    worker.py         groups one table in a process of its own: time, loss and peak memory
    brute.py          k-members by looking at every free row, in Numba
    census.py         a synthetic census        kdd.py  a real one, downloaded
    page.py           results → docs/benchmarks.md and the table in the README        plots.py  results → docs/plots
    all other files   one benchmark each

A benchmark is a module with `TITLE`, `run(bench)` and `lines(result)`, which are its lines on the page.
"""
