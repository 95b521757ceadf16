# The two commands of the README are `make demo` and `make test`; each sets itself up.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: demo test check bench notebooks clean

demo: $(STAMP)  ## publish a hospital table of 100,000 patients and ask it three questions
	$(BIN)/scumble demo

test: $(STAMP) check  ## lint, types, doctests and tests
	$(BIN)/python -m pytest -n auto

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(STAMP) .venv/.bench  ## ratios against peers and limits, in one run
	$(BIN)/python -m benchmarks

notebooks: $(STAMP)  ## run the tutorials and store what they show
	$(BIN)/python docs/notebooks/run.py

$(STAMP): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("scumble needs Python 3.11 or newer; say which: make PYTHON=python3.12 ..." if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	touch $@

.venv/.bench: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	touch $@

clean:
	rm -rf .venv demo
