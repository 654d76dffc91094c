# `make demo` shows the product at work, `make check` is the whole gate: on a fresh machine with Python 3.11 or
# newer each of them sets up all that it needs.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# The demo has an environment of its own, with what a user of the package has and nothing else.
DEMO := .venv-demo
DEMO_READY := $(DEMO)/.ready
PIP := python -m pip install --quiet --disable-pip-version-check

# Beside each other, as many as fill two cores although they wait now and then.
MAKEFLAGS += --jobs=3

.PHONY: demo check format lint types test test-processes test-providers test-others bench bundle lock clean supported

demo: $(DEMO_READY)
	$(DEMO)/bin/mcp-memory-server demo

check: lint types test

supported:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "mcp-memory-server needs Python 3.11 or newer: make PYTHON=python3.12 ...")'

$(READY): requirements/dev.txt pyproject.toml | supported
	$(PYTHON) -m venv $(VENV)
	$(BIN)/$(PIP) --require-hashes -r requirements/dev.txt
	$(BIN)/$(PIP) --no-deps --no-build-isolation --editable .
	touch $@

$(DEMO_READY): requirements/demo.txt pyproject.toml | supported
	$(PYTHON) -m venv $(DEMO)
	$(DEMO)/bin/$(PIP) --require-hashes -r requirements/demo.txt
	$(DEMO)/bin/$(PIP) --no-deps --no-build-isolation --editable .
	touch $@

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/pyright

# Three shares of about the same length, for some wait for processes and for a database while others compute; what they
# cover is put together in the end.
SHARES := test-processes test-providers test-others

test: $(SHARES)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

PYTEST = COVERAGE_FILE=.coverage.$@ $(BIN)/python -m pytest --quiet $(COVERED) $(OPTIONS)
COVERED := --cov --cov-report=
# What .ci/run adds for its second run.
OPTIONS :=

test-processes: $(READY)
	$(PYTEST) tests/process

test-providers: $(READY)
	$(PYTEST) tests/providers

test-others: $(READY)
	$(PYTEST) --ignore=tests/process --ignore=tests/providers

bench: $(READY)
	$(BIN)/python benchmarks/startup.py

LOCK := uv pip compile --quiet pyproject.toml --universal --python-version 3.11 --generate-hashes --no-annotate \
	--no-emit-index-url --custom-compile-command "make lock"

# What desktop hosts install with one click; needs mcpb, as in .ci/node.
bundle: $(READY)
	$(BIN)/python mcpb/pack.py

lock:
	$(LOCK) --group dev --all-extras -o requirements/dev.txt
	$(LOCK) --group dev --all-extras --resolution lowest-direct -o requirements/lowest.txt
	$(LOCK) --group build --extra demo -o requirements/demo.txt
	$(LOCK) --group build --extra postgres -o requirements/image.txt

clean:
	rm -rf $(VENV) $(DEMO) dist build .pytest_cache .ruff_cache .hypothesis .coverage .coverage.*
