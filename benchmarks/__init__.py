"""Benchmarks: each checks its answer and prints a ratio. Run them by `make bench`."""
