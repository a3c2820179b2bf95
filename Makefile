# `make demo` and `make test` do all set-up themselves, in .venv.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test lint bench bench-quick clean

demo: .venv/.installed
	@$(BIN)/hornlens envelope examples/pronouns.cnf
	@echo
	@$(BIN)/hornlens learn examples/pronouns.cnf --target cnf --trace

test: .venv/.installed-dev
	$(BIN)/python -m pytest -n 2

lint: .venv/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/.installed-dev
	$(BIN)/python -m benchmarks

bench-quick: .venv/.installed-dev
	$(BIN)/python -m benchmarks --quick

.venv/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "hornlens needs Python 3.11 or newer: make PYTHON=python3.12 ..." >&2; exit 1; }
	$(PYTHON) -m venv .venv
	@touch $@

.venv/.installed: .venv/.created pyproject.toml constraints.txt
	$(PIP) -e .
	@touch $@

.venv/.installed-dev: .venv/.created pyproject.toml constraints.txt
	$(PIP) -e '.[dev]'
	@touch $@ .venv/.installed

clean:
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache
