# `make demo` and `make test` do all their own set-up: Python 3.11 or newer, git and make are enough.
PYTHON ?= python3
BIN := .venv/bin
ASK := $(BIN)/finexpert ask --lm recorded --as-of 2024-09-30

.PHONY: demo test check clean
.DELETE_ON_ERROR:

.venv/.synced: pyproject.toml uv.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed; name one with 'make PYTHON=/path/to/python3 ...'" >&2; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'uv>=0.9'
	$(BIN)/uv sync --quiet --locked --inexact --compile-bytecode
	@touch $@

demo: .venv/.synced  ## two questions of different kinds, answered from recorded completions
	@$(ASK) "How many recessions have there been in the last 30 years?"
	@$(ASK) "Plot the unemployment rate and its 12-month moving average since January 2000, and tell me when the moving average was highest."

check: .venv/.synced
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

test: check  ## ruff, mypy and pytest with doctests
	$(BIN)/python -m pytest

clean:
	rm -rf .venv build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
