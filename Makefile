# `make demo` and `make test` do all their own set-up: Python 3.11 or newer, git and make are enough.
PYTHON ?= python3
BIN := .venv/bin
# One more than there are cores: tests wait for processes and servers.
WORKERS = $(shell expr $$(nproc) + 1)
ASK := $(BIN)/finexpert ask --lm recorded --as-of 2024-09-30

# Where it is set, each process that a test starts compiles the whole package again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo serve test test-skipped test-slow test-engines test-browser check attack docs clean
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

serve: .venv/.synced  ## the web page over the sample economy, with recorded completions, on http://127.0.0.1:8400
	$(BIN)/finexpert serve --lm recorded --as-of 2024-09-30

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*  ## /\1: /p' Makefile

check: .venv/.synced  ## ruff, mypy --strict and import-linter
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy -n auto
	$(BIN)/lint-imports --no-logo

test: check  ## ruff, mypy and pytest with doctests
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile -m 'not browser and not slow and not alone'

test-skipped: .venv/.synced  ## what the last run of pytest skipped, where what it needs is there now
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --skipped || [ $$? -eq 5 ]

test-slow: .venv/.synced  ## what `make test` leaves out: slow tests, those that need the machine alone, the browser
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile -m 'slow and not alone and not browser' tests
	$(BIN)/python -m pytest -m alone tests
	$(BIN)/python -m pytest -m browser tests/app/browser

docs: .venv/.synced  ## the pages as a site, under site/
	$(BIN)/uv sync --quiet --locked --inexact --group docs
	$(BIN)/mkdocs build --strict --quiet

attack: .venv/.synced  ## every attack on the boundaries, with a table of what was tried and what held
	$(BIN)/finexpert sandbox attack
	$(BIN)/python -m pytest -q tests/attacks tests/sandbox tests/confidentiality tests/injections tests/poison tests/cli/test_screen.py \
	  tests/answers/test_exported_code.py tests/warehouse/test_hostile_files.py tests/warehouse/test_catalogue_apart.py \
	  tests/warehouse/test_attack_statements.py tests/warehouse/test_select_rules.py tests/warehouse/test_as_of_forms.py tests/warehouse/test_hostile_servers.py tests/warehouse/test_hostile_sqlite.py \
	  tests/filings/library/test_exhausting.py tests/app/security tests/app/mcp/test_held.py tests/tracking/test_hostile_traces.py \
	  tests/cli/test_folder_file.py tests/storage/test_foreign_yaml.py tests/storage/test_appended_lines.py
	$(BIN)/python -m pytest -q -m browser tests/app/browser/test_safety.py tests/app/browser/test_hostile_texts.py

test-engines: .venv/.synced  ## ClickHouse, Spark (with Java 17) and Ray for real; about 1 GB of packages
	$(BIN)/uv sync --quiet --locked --inexact --group engines
	$(BIN)/python -m pytest tests/warehouse/engines tests/batch/test_on_ray.py tests/cli/eval/test_on_ray.py tests/optimizers/program/test_spark.py

test-browser: .venv/.synced  ## the web page in Chromium, where it is installed
	$(BIN)/python -m pytest -m browser tests/app/browser

clean:  ## remove what the targets made
	rm -rf site
	rm -rf .venv build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
