# `make demo` shows the product at work, `make check` is the whole gate: on a fresh machine with Python 3.11 or
# newer each of them sets up all that it needs.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo check format lint types test bench lock clean

demo: $(READY)
	$(BIN)/mcp-memory-server demo

check: lint types test

$(READY): requirements/dev.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "mcp-memory-server needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/pyright

test: $(READY)
	$(BIN)/python -m pytest --cov --cov-report=term

bench: $(READY)
	$(BIN)/python benchmarks/startup.py

lock:
	uv pip compile --quiet pyproject.toml --group dev --all-extras --universal --python-version 3.11 --generate-hashes \
		--no-annotate --no-emit-index-url --custom-compile-command "make lock" -o requirements/dev.txt
	uv pip compile --quiet pyproject.toml --group dev --all-extras --universal --python-version 3.11 --generate-hashes \
		--no-annotate --no-emit-index-url --custom-compile-command "make lock" --resolution lowest-direct \
		-o requirements/lowest.txt

clean:
	rm -rf $(VENV) dist build .pytest_cache .ruff_cache .hypothesis .coverage
