PYTHON ?= python3
VENV ?= .venv

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt
TEST_EXTRAS := test,plot,report,dask,files,zarr,neighbors,torch
# What the site's pages and examples need.
DOCS_EXTRAS := docs,plot,report,dask,files,scanpy,torch
CODE = $(wildcard src paper tests benchmarks docs/conf.py docs/_ext examples setup.py)
# When one of these changes, the environment is installed again.
INSTALLED := pyproject.toml constraints.txt setup.py src/ritz/_compiled.pyx src/ritz/_sections.h

# Tests that run a second time without the compiled part.
NUMPY_TESTS := tests/kernels tests/assembly tests/spectrum
# The environment of the lowest versions that pyproject.toml allows, and what is tested in it: folders
# that use every dependency and take a minute. tests/golden is not among them, as other versions of
# NumPy round the data differently, and rows are drawn by a hash of their bytes.
OLDEST := $(VENV)-oldest
OLDEST_TESTS := tests/solve tests/kernels tests/features tests/bases tests/forms tests/assembly \
  tests/estimators tests/hermite/test_sums.py tests/neural/test_estimator_checks.py
# Two test workers share the cores, so each keeps its linear algebra to one thread.
ONE_THREAD := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1

SITE := docs/_build/html

.DEFAULT_GOAL := help
.PHONY: help demo test test-oldest lint types layers unit docs fuzz reproduce bench bench-full bench-hermite wheel clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.installed-demo ## a spectrum with its picture, then the command line from a file to a report
	$(BIN)/python examples/half_moons.py
	$(BIN)/ritz demo

test: lint types layers unit ## everything a change must pass

test-oldest: $(OLDEST)/.installed ## the core tests with the lowest versions allowed
	$(ONE_THREAD) $(OLDEST)/bin/python -m pytest -n 2 $(OLDEST_TESTS)

lint: $(VENV)/.installed-test ## ruff: rules and format
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)

types: $(VENV)/.installed-test ## mypy, strict
	$(BIN)/mypy

layers: $(VENV)/.installed-test ## import-linter: each layer imports only those below
	$(BIN)/lint-imports

unit: $(VENV)/.installed-test ## tests on two workers, then the docstrings' examples
	$(ONE_THREAD) $(BIN)/python -m pytest -n 2 tests
	RITZ_COMPILED=0 $(ONE_THREAD) $(BIN)/python -m pytest -n 2 $(NUMPY_TESTS)
	$(ONE_THREAD) $(BIN)/python -m pytest --doctest-modules src

# Every example runs, a warning is an error, and then every link is followed. Two pages are built at a
# time, so each keeps its linear algebra to one thread.
docs: $(VENV)/.installed-docs ## the site, in docs/_build/html: runs all examples, checks spelling and links
	rm -rf docs/api/generated
	$(BIN)/codespell docs examples src tests benchmarks paper *.md
	$(ONE_THREAD) $(BIN)/python -m sphinx -W --keep-going -j 2 -q -b html docs $(SITE)
	$(BIN)/python docs/_ext/check_site.py $(SITE)
	@echo "Open $(SITE)/index.html"

# CASES=100000 for more, SEED=1 for others.
fuzz: $(VENV)/.installed-test ## generated calls of every public entry, 10,000 by default; CASES=, SEED=
	$(ONE_THREAD) $(BIN)/python -m tests.fuzz --cases $(or $(CASES),10000) --seed $(or $(SEED),0)

# FIGURE=moons for one figure, OUT=folder, FULL=1 for the paper's sizes, OPTIONS="--seed 1" for others.
reproduce: $(VENV)/.installed-reproduce ## the paper's figures, quick settings (3 min 30 s on two free cores); FIGURE=moons for one
	$(BIN)/python -m paper $(or $(FIGURE),all) $(if $(OUT),--out "$(OUT)") $(if $(FULL),--full) $(OPTIONS)

bench: $(VENV)/.installed-bench ## benchmarks, the quick ones
	$(BIN)/python -m benchmarks

bench-full: $(VENV)/.installed-bench ## all benchmarks (half an hour and more)
	$(BIN)/python -W ignore -m benchmarks --full

bench-hermite: $(VENV)/.installed-peers ## regression on values and gradients, ours and others
	$(BIN)/python -m benchmarks.hermite

wheel: $(BIN)/python ## a file to install where there is no compiler, in dist/
	rm -rf build
	$(BIN)/python -m pip wheel -q --no-deps -w dist .

clean: ## remove the environment and every cache
	rm -rf $(VENV) $(OLDEST) build dist src/*.egg-info src/ritz/*.so
	rm -rf docs/_build docs/api/generated docs/gallery docs/sg_execution_times.rst
	rm -rf .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit( \
	  "ritz needs Python 3.11 or later, and $(PYTHON) is " + sys.version.split()[0] \
	  + ". Name a newer one: make PYTHON=python3.12 ...")'
	@echo "Creating $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

# The interpreter is an order-only prerequisite: its date says nothing about the installs.
$(VENV)/.installed-test: $(INSTALLED) | $(BIN)/python
	@echo "Installing ritz[$(TEST_EXTRAS)] and its pinned dependencies (a minute or two)"
	@$(PIP) -e ".[$(TEST_EXTRAS)]"
	@touch $@

$(VENV)/.installed-docs: $(INSTALLED) | $(BIN)/python
	@echo "Installing ritz[$(DOCS_EXTRAS)] and its pinned dependencies (a minute or two)"
	@$(PIP) -e ".[$(DOCS_EXTRAS)]"
	@touch $@

$(OLDEST)/.installed: $(INSTALLED) constraints-oldest.txt | $(BIN)/python
	@echo "Installing the lowest versions of all dependencies in $(OLDEST) (a minute or two)"
	@$(BIN)/python -m venv $(OLDEST)
	@$(OLDEST)/bin/python -m pip install -q --disable-pip-version-check -c constraints-oldest.txt \
	  -e ".[plot,dask,files,neighbors,torch]" pytest pytest-xdist hypothesis palmerpenguins pandas polars sympy
	@touch $@

$(VENV)/.installed-demo: $(INSTALLED) | $(BIN)/python
	@echo "Installing ritz[report,files] and its pinned dependencies"
	@$(PIP) -e ".[report,files]"
	@touch $@

$(VENV)/.installed-reproduce: $(INSTALLED) | $(BIN)/python
	@echo "Installing ritz[plot,torch] and its pinned dependencies"
	@$(PIP) -e ".[plot,torch]"
	@touch $@

$(VENV)/.installed-peers: $(INSTALLED) | $(BIN)/python
	@echo "Installing ritz[bench,peers] and its pinned dependencies"
	@$(PIP) -e ".[bench,peers]"
	@touch $@

$(VENV)/.installed-bench: $(INSTALLED) | $(BIN)/python
	@echo "Installing ritz[bench] and its pinned dependencies"
	@$(PIP) -e ".[bench]"
	@touch $@
