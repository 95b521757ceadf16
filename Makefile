# The two commands of the README are `make demo` and `make test`; each sets itself up and says what it is doing.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --disable-pip-version-check
VENV := .venv/.made
DEMO := .venv/.demo
TEST := .venv/.test
BENCH := .venv/.bench
DOCS := .venv/.docs

# modules that were compiled once are not compiled again by the next run, nor by each process that the tests start
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo demo-collect quick test check bounds fuzz bench neighbours mutants faults notebooks browser spark-tests browser-tools r-package r-tools hyparquet docs pictures clean

demo: $(DEMO)  ## publish a hospital table of 100,000 patients and ask it three questions
	$(BIN)/scumble demo

demo-collect: $(TEST)  ## serve a survey on this machine, let 2,000 made-up people answer it, and close it into a release
	$(BIN)/scumble collect demo

quick: $(TEST)  ## lint, and the tests that take no time, in a minute: while you work
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m pytest -n auto -m "not slow" --durations=10 --durations-min=0.5

test: $(TEST) check  ## lint, types, doctests and all tests
	$(BIN)/python -m pytest -n auto --dist worksteal

check: $(TEST)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bounds: $(TEST)  ## the lowest versions that pyproject.toml allows install together, on every Python
	for version in 3.11 3.12 3.13 3.14; do \
	  $(BIN)/uv pip compile -q --resolution lowest-direct --only-binary :all: --extra all --extra test --extra reproduce \
	    --python-version $$version pyproject.toml -o .venv/lowest-$$version.txt || exit 1; \
	done

fuzz: $(TEST)  ## 10,000 random tables, specs, flags and questions: no traceback, hang or wrong answer
	PYTHONPATH=tests $(BIN)/python -m fuzz 10000

bench: $(BENCH)  ## ratios against peers and limits, in one run
	$(BIN)/python -m benchmarks

neighbours: $(TEST)  ## whole outputs of neighbouring tables, 10,000 of each: the table of docs/audit.md. Hours
	PYTHONPATH=tests $(BIN)/python tests/laws/neighbours.py 10000

mutants: $(TEST)  ## a hundred plausible bugs of the publishing code, one after the other: is each caught by verify and audit? Ten minutes
	PYTHONPATH=src:. $(BIN)/python -m mutants

faults: $(TEST)  ## publications killed at every call and at 1,000 random moments, full or broken disks, and collectors that are killed while clients answer
	PYTHONPATH=src:. $(BIN)/python -m faults
	PYTHONPATH=src:. $(BIN)/python -m faults.collector --store sqlite
	PYTHONPATH=src:. $(BIN)/python -m faults.collector --store postgres --tokens codes

browser: $(TEST)  ## 500 random questions to the explore page in Chromium, and all other tests of pages
	SCUMBLE_BROWSER=required SCUMBLE_QUESTIONS=500 $(BIN)/python -m pytest -n auto tests/web

spark-tests: $(TEST)  ## real Spark on this machine, from pyspark (480 MB, installed here); Java 17 has to be there
	$(BIN)/uv pip install --python $(BIN)/python -e '.[spark]'
	SCUMBLE_SPARK=required $(BIN)/python -m pytest tests/engines/test_spark_engine.py

browser-tools:  ## what pages are tested with: Chromium from Debian, axe-core and esbuild from npm
	@test -x /usr/bin/chromium || (apt-get update && apt-get install -y --no-install-recommends chromium fonts-liberation)
	npm ci --prefix tests/web/node --ignore-scripts --no-audit --no-fund

r-tools:  ## R from Debian, with V8; where another Node keeps Debian's library away, that is unpacked into .venv/r
	@command -v Rscript >/dev/null || (apt-get update && apt-get install -y --no-install-recommends r-base-core)
	apt-get install -y --no-install-recommends r-cran-jsonlite r-cran-digest r-cran-rcpp libc-ares2 libcurl4
	@Rscript -e 'library(V8)' >/dev/null 2>&1 || apt-get install -y --no-install-recommends r-cran-v8 || \
	  (mkdir -p .venv/r && cd .venv/r && apt-get download r-cran-v8 r-cran-curl libnode108 && for package in *.deb; do dpkg -x $$package . ; done)

r-package: $(TEST)  ## puts the estimator into the R package in r/
	mkdir -p r/inst
	$(BIN)/python -c 'from scumble.web.bundle import script; print(script("embedded.js"), end="")' > r/inst/scumble.js

hyparquet: $(TEST) browser-tools  ## builds the vendored Parquet reader anew: it has to be the one that is here
	$(BIN)/python tests/web/vendored.py

docs: $(DOCS)  ## builds the site of the documentation in build/docs/site, without network; a broken link fails
	$(BIN)/python docs/site/build.py

pictures: $(TEST)  ## makes the pictures of README and docs anew, from the demonstration, with Chromium
	$(BIN)/scumble demo
	$(BIN)/python docs/images/pictures.py

notebooks: $(TEST)  ## run the tutorials and store what they show
	$(BIN)/python docs/notebooks/run.py

$(VENV):
	$(PYTHON) -c 'import sys; sys.exit("scumble needs Python 3.11 or newer; say which: make PYTHON=python3.12 ..." if sys.version_info < (3, 11) else 0)'
	@echo "making a virtual environment in .venv"
	$(PYTHON) -m venv .venv
	touch $@

$(DEMO): pyproject.toml | $(VENV)
	@echo "installing scumble and what draws its report into .venv: about a minute, once"
	$(PIP) -e '.[report]'
	touch $@

$(TEST): pyproject.toml | $(VENV)
	@echo "installing scumble and the tools of its tests into .venv: a minute or two, once"
	$(PIP) -e '.[test]'
	touch $@

$(BENCH): $(TEST)
	@echo "installing what the benchmarks compare with"
	$(PIP) -e '.[bench]'
	touch $@

$(DOCS): pyproject.toml | $(VENV)
	@echo "installing what builds the site of the documentation"
	$(PIP) -e '.[docs]'
	touch $@

clean:
	rm -rf .venv demo
