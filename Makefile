# Everything runs in .venv, which is created on first use and updated when pyproject.toml changes.
# Requires make and Python 3.11 or newer. To choose a Python: make PYTHON=/path/to/python3.12 …

PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
JOBS ?= 2
BIN := .venv/bin
READY := .venv/.ready
PEERS := .venv-peers/.ready

.DEFAULT_GOAL := help
.PHONY: help demo test test-wheel test-peers test-web test-db test-spark quick kernels check format mutants soak bench papers docs clean
MAKEFLAGS += --no-print-directory

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(READY)  ## anonymize the bundled Adult table at k=12 and write out.csv
	@$(BIN)/coterie demo

test: $(READY)  ## run all tests, then the kernels' again with bounds checking, then `make check`
	@echo 'All tests'
	@$(BIN)/pytest -n $(JOBS)
	@$(MAKE) kernels check

quick: $(READY)  ## run the fast tests
	@$(BIN)/pytest -n $(JOBS) -m 'not slow'

test-wheel: $(READY)  ## test the built wheel in empty environments, with the newest and oldest dependencies
	@echo 'The wheel in empty environments'
	@$(BIN)/python scripts/test_wheel.py --jobs $(JOBS) $(ARGS)

test-peers: $(READY) $(PEERS)  ## compare with other anonymization tools, in a separate environment
	@COTERIE_PEERS_PYTHON=$(CURDIR)/.venv-peers/bin/python $(BIN)/pytest -rs tests/peers

test-web: $(READY)  ## test the web app in a real browser; installs Chromium if possible
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --editable '.[dev,web,browser]'
	@scripts/install_browser.sh
	@$(BIN)/pytest -n $(JOBS) --dist loadfile -rs tests/pages

test-db: $(READY)  ## test databases on a private PostgreSQL server; installs it if possible
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --editable '.[dev,db]'
	@scripts/install_postgres.sh
	@$(BIN)/pytest -rs tests/db

test-spark: $(READY)  ## test Spark, also on a cluster of two workers; installs it and Java if possible
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --editable '.[dev,spark]' 'pyspark[connect]' \
		|| echo 'Spark could not be installed.'
	@scripts/install_java.sh
	@COTERIE_TEST_SPARK=1 $(BIN)/pytest -rs tests/spark tests/conformance/test_engines.py -k "spark"

# Bounds checking changes the compiled code, so that run has a separate cache.
kernels: $(READY)
	@echo 'Kernels with bounds checking'
	@test ! -d tests/kernels || NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(CURDIR)/.venv/numba-checked \
		$(BIN)/pytest -n $(JOBS) tests/kernels --ignore tests/kernels/test_compiling.py

check: $(READY)  ## check style, types and imports
	@echo 'Style, types, imports'
	@fine=true; \
	$(BIN)/ruff check --quiet . || fine=false; \
	$(BIN)/ruff format --check --quiet . || { fine=false; echo 'Some files are not formatted: make format'; }; \
	$(BIN)/mypy || fine=false; \
	$(BIN)/lint-imports --no-cache >.venv/lint-imports.log || { fine=false; cat .venv/lint-imports.log; }; \
	$$fine

format: $(READY)  ## format the code
	@$(BIN)/ruff check --fix --quiet .
	@$(BIN)/ruff format --quiet .

mutants: $(READY)  ## mutation tests; CHANGED=1 tests only changed lines, ARGS="verification/rows" some files
	@$(BIN)/python scripts/mutants.py --jobs $(JOBS) $(if $(CHANGED),--changed --minutes 3) $(ARGS)

soak: $(READY)  ## soak test: random releases with random kills; ARGS="--minutes 20" limits it
	@$(BIN)/python scripts/soak.py --jobs $(JOBS) $(ARGS)

bench: $(READY)  ## run the benchmarks, each of which checks its result; ARGS="name …" runs some
	@$(BIN)/python -m benchmarks $(ARGS)

papers: $(READY)  ## repeat the papers' experiments; QUICK=1 uses few rows and checks that the effects remain
	@$(BIN)/python -m benchmarks.papers $(if $(QUICK),--quick --jobs $(JOBS)) $(ARGS)

docs: $(READY)  ## write the generated docs pages
	@$(BIN)/python scripts/make_docs.py

clean:  ## remove everything that make created, including .venv
	@rm -rf .venv .venv-peers build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis out.csv out.*
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml
	@test -n '$(PYTHON)' || { echo 'coterie needs Python 3.11 or newer, and none was found on the path.' \
		'Install one, or name it: make PYTHON=/path/to/python3.12'; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo 'coterie needs Python 3.11 or newer; $(PYTHON) is older.' \
		'Name another: make PYTHON=/path/to/python3.12'; exit 1; }
	@echo 'Setting up .venv (once; takes two to three minutes)'
	@$(BIN)/python -c '' 2>/dev/null || $(PYTHON) -m venv --clear .venv
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --editable '.[dev]'
	@echo 'Compiling the kernels (once; they are cached)'
	@$(BIN)/coterie compile
	@touch $@

# Other tools pin exact versions of coterie's dependencies, so they have their own environment.
$(PEERS): tests/peers/requirements.txt
	@$(PYTHON) -m venv --clear .venv-peers
	@.venv-peers/bin/python -m pip install -qq --disable-pip-version-check --requirement $<
	@touch $@
