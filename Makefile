# Everything runs in .venv, which the first target makes and which is renewed when pyproject.toml changes.
# Needed beforehand: make, and Python 3.11 or newer. Another Python: make PYTHON=/path/to/python3.12 …

PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
JOBS ?= 2
BIN := .venv/bin
READY := .venv/.ready
PEERS := .venv-peers/.ready

.DEFAULT_GOAL := help
.PHONY: help demo test test-wheel test-peers test-web test-db test-spark quick kernels check format mutants soak bench papers docs clean
MAKEFLAGS += --no-print-directory

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(READY)  ## anonymize the bundled Adult table at k=12; leaves out.csv
	@$(BIN)/coterie demo

test: $(READY)  ## all tests, kernels once more with bounds checked, then `make check`
	@echo 'All tests'
	@$(BIN)/pytest -n $(JOBS)
	@$(MAKE) kernels check

quick: $(READY)  ## the tests that take a moment each
	@$(BIN)/pytest -n $(JOBS) -m 'not slow'

test-wheel: $(READY)  ## what users install: the built wheel in empty environments, newest and oldest versions
	@echo 'The wheel in empty environments'
	@$(BIN)/python scripts/test_wheel.py --jobs $(JOBS) $(ARGS)

test-peers: $(READY) $(PEERS)  ## beside other programs, which live in an environment of their own
	@COTERIE_PEERS_PYTHON=$(CURDIR)/.venv-peers/bin/python $(BIN)/pytest -rs tests/peers

test-web: $(READY)  ## pages in a real browser: installs Chromium if it can, then runs tests/pages
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --editable '.[dev,web,browser]'
	@scripts/install_browser.sh
	@$(BIN)/pytest -n $(JOBS) --dist loadfile -rs tests/pages

test-db: $(READY)  ## databases: installs PostgreSQL if it can, then runs tests/db on a server of their own
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --editable '.[dev,db]'
	@scripts/install_postgres.sh
	@$(BIN)/pytest -rs tests/db

test-spark: $(READY)  ## Spark: installs it and Java if it can, then runs tests/spark, also on a cluster of two workers
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --editable '.[dev,spark]' 'pyspark[connect]' \
		|| echo 'Spark could not be installed.'
	@scripts/install_java.sh
	@COTERIE_TEST_SPARK=1 $(BIN)/pytest -rs tests/spark tests/conformance/test_engines.py -k "spark"

# Bounds checking changes the compiled code, so that run keeps its code apart.
kernels: $(READY)
	@echo 'Kernels, every index checked'
	@test ! -d tests/kernels || NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(CURDIR)/.venv/numba-checked \
		$(BIN)/pytest -n $(JOBS) tests/kernels --ignore tests/kernels/test_compiling.py

check: $(READY)  ## style, types, and who imports whom
	@echo 'Style, types, imports'
	@fine=true; \
	$(BIN)/ruff check --quiet . || fine=false; \
	$(BIN)/ruff format --check --quiet . || { fine=false; echo 'Some files are not formatted: make format'; }; \
	$(BIN)/mypy || fine=false; \
	$(BIN)/lint-imports --no-cache >.venv/lint-imports.log || { fine=false; cat .venv/lint-imports.log; }; \
	$$fine

format: $(READY)  ## bring the code into its usual form
	@$(BIN)/ruff check --fix --quiet .
	@$(BIN)/ruff format --quiet .

mutants: $(READY)  ## plant small faults and see whether a test notices; CHANGED=1: in changed lines. ARGS="verification/rows"
	@$(BIN)/python scripts/mutants.py --jobs $(JOBS) $(if $(CHANGED),--changed --minutes 5) $(ARGS)

soak: $(READY)  ## random releases with random kills, judged from outside; ARGS="--minutes 20" bounds it
	@$(BIN)/python scripts/soak.py $(ARGS)

bench: $(READY)  ## benchmarks; each checks its answer. ARGS="name …" runs some
	@$(BIN)/python -m benchmarks $(ARGS)

papers: $(READY)  ## the papers' experiments again; QUICK=1: on few rows, are the effects still there?
	@$(BIN)/python -m benchmarks.papers $(if $(QUICK),--quick --jobs $(JOBS)) $(ARGS)

docs: $(READY)  ## write the pages that follow from the code
	@$(BIN)/python scripts/make_docs.py

clean:  ## remove all that make made, .venv too
	@rm -rf .venv .venv-peers build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis out.csv out.*
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml
	@test -n '$(PYTHON)' || { echo 'coterie needs Python 3.11 or newer, and none was found on the path.' \
		'Install one, or name it: make PYTHON=/path/to/python3.12'; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo 'coterie needs Python 3.11 or newer; $(PYTHON) is older.' \
		'Name another: make PYTHON=/path/to/python3.12'; exit 1; }
	@echo 'Setting up .venv (once; two minutes or three)'
	@$(BIN)/python -c '' 2>/dev/null || $(PYTHON) -m venv --clear .venv
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --editable '.[dev]'
	@echo 'Compiling the kernels (once; they are kept in the cache folder)'
	@$(BIN)/coterie compile
	@touch $@

# Other programs ask for exact versions of what coterie uses as well: so they are kept apart.
$(PEERS): tests/peers/requirements.txt
	@$(PYTHON) -m venv --clear .venv-peers
	@.venv-peers/bin/python -m pip install -qq --disable-pip-version-check --requirement $<
	@touch $@
