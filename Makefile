# Every target makes its own virtual environment on first use, and again when pyproject.toml changes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
SYSTEM := $(VENV)/.system
SPARK := $(VENV)/.spark
SITE := $(VENV)/.site
# Tests in a browser mostly wait: four workers keep two cores busy.
WORKERS ?= 4
MINUTES ?= 60
COUNT ?= 10000
SEED ?= 1

.DEFAULT_GOAL := help
.PHONY: help demo app test lint types check-all coverage lowest fuzz mutants bench screenshots docs clean

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

$(INSTALLED): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Tacita needs Python 3.11 or newer, this is %d.%d. Remedy: make PYTHON=python3.11" % sys.version_info[:2] if sys.version_info < (3, 11) else 0)'
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $@

# Tried once per environment, so that a machine that cannot have a browser is not asked again and again.
$(SYSTEM): $(INSTALLED)
	@$(BIN)/python tests/system_packages.py
	@touch $@

# Spark is large, and only slow tests use it.
$(SPARK): $(INSTALLED)
	@$(BIN)/python tests/system_packages.py --slow
	@touch $@

# What builds the site is needed for nothing else.
$(SITE): $(INSTALLED)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[docs]"
	@touch $@

demo: $(INSTALLED)  ## protect a small table, results in build/demo
	@$(BIN)/tacita demo --out build/demo

app: $(INSTALLED)  ## the web app, in your browser
	@$(BIN)/tacita app

test: $(SYSTEM)  ## the tests, without the slow ones
	@$(BIN)/python -m pytest -n $(WORKERS) -m "not slow" -rs

lint: $(INSTALLED)  ## style and format
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(INSTALLED)  ## strict type check
	@$(BIN)/mypy --strict src

check-all: lint types $(SYSTEM) $(SPARK)  ## everything: slow tests, many times the examples of every property, pages behind a slow line
	@TACITA_HYPOTHESIS_PROFILE=long $(BIN)/python -m pytest -n $(WORKERS) -rs
	@TACITA_TEST_LAG=0.4 $(BIN)/python -m pytest -n $(WORKERS) -rs tests/browser
	@$(MAKE) --no-print-directory coverage lowest

# Apart from the long run, which would take nearly twice the time if every line were counted.
coverage: $(INSTALLED)  ## which lines the tests run, without a browser
	@TACITA_HYPOTHESIS_PROFILE=few $(BIN)/python -m pytest -n $(WORKERS) -m "not slow" -rs --cov=tacita --cov-report=term:skip-covered \
		--ignore=tests/browser --ignore=tests/adversary --ignore=tests/faults --ignore=tests/docs

lowest:  ## a fast part of the tests with the oldest dependencies that are allowed
	@$(PYTHON) tests/lowest.py $(VENV)-lowest

fuzz: $(INSTALLED)  ## the adversary with new seeds for MINUTES=60
	@$(BIN)/python tests/adversary/fuzz.py --minutes $(MINUTES)

mutants: $(INSTALLED)  ## COUNT=10000 mutated files of all formats, read with SEED=1
	@$(BIN)/python tests/faults/mutants.py --count $(COUNT) --seed $(SEED)

bench: $(SYSTEM)  ## every benchmark, one after the other
	@set -e; for script in $(sort $(wildcard benchmarks/*.py)); do echo "== $$script"; $(BIN)/python $$script; done

screenshots: $(SYSTEM)  ## the pictures of docs/app.md, taken anew
	@PYTHONPATH=tests $(BIN)/python tests/browser/screenshots.py docs/images

docs: $(SITE)  ## the documents as a site, in build/site; a link that leads nowhere is an error
	@$(BIN)/python website/pages.py build/docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build  # --quiet would count no warnings, and be strict about nothing
	@$(BIN)/python website/outside.py build/site
	@echo "build/site/index.html; with search: $(BIN)/python -m http.server --bind 127.0.0.1 --directory build/site"

clean:  ## remove the environment, caches and build results
	@rm -rf $(VENV) $(VENV)-lowest .coverage build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	@find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
