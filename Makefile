# Everything a newcomer or a CI machine runs. `make demo` and `make test` need nothing but make and
# Python 3.10 to 3.14: each makes .venv, installs the locked dependencies and runs; the next run
# reuses .venv until a lock file or pyproject.toml changes. ARGS reach the program that runs, as in
# `make test ARGS="-k metrics"`.

VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet
PYTHON ?=
ARGS   ?=
UV     := uv==0.13.7

CORE  := $(VENV)/.core-stamp
SERVE := $(VENV)/.serve-stamp
ALL   := $(VENV)/.all-stamp

# Tests whose kernels end in a reasonable time as plain Python.
WITHOUT_COMPILING := tests/encoders tests/search tests/spaces tests/test_topk.py tests/test_voting.py \
	$(addprefix tests/linear/test_,chunks.py contrastive.py contrastive_loss.py incremental.py \
	l1_kernels.py label_softmax.py)

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help install demo test cluster annif dist notebooks fuzz sanitise kill bench lint format docs \
	lock clean distclean

help:
	@echo "make demo       build a corpus from installed docstrings, train, evaluate, tag sentences"
	@echo "make test       run every test and every docstring example"
	@echo "make annif      let Annif, installed from PyPI on its own, ask a server of labelspace"
	@echo "make cluster    install Ray and run the tests that start a cluster of it here"
	@echo "make fuzz       try thousands of changed files, model folders and requests"
	@echo "make kill       kill every verb at random and planned moments, and fill its disk"
	@echo "make sanitise   run kernels with checks of bounds, and some without compiling (slow)"
	@echo "make install    make .venv with the core dependencies and the command .venv/bin/labelspace"
	@echo "make lint       ruff, mypy, the import contract and the floor plan"
	@echo "make format     let ruff rewrite what it can"
	@echo "make docs       build the documentation into site/"
	@echo "make bench      run the benchmarks and render docs/benchmarks.md"
	@echo "make dist       build sdist and wheel, twice, and check what a release needs"
	@echo "make notebooks  run the notebooks of docs/notebooks on the demo corpus"
	@echo "make lock       choose the locked versions again"
	@echo "make clean      remove what the targets above made, but keep .venv"
	@echo "make distclean  remove .venv too"

install: $(CORE)

demo: $(SERVE)
	$(BIN)/labelspace demo $(ARGS)

# Tests of one file stay in one process, since they share fitted models.
test: $(ALL)
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 8 --dist loadfile $(ARGS)

# Annif has other dependencies than ours; it is asked as a program.
ANNIF := .venv-annif/bin/annif

annif: $(ALL) $(ANNIF)
	LABELSPACE_ANNIF=$(CURDIR)/$(ANNIF) $(BIN)/python -m pytest tests/server/test_annif.py $(ARGS)

$(ANNIF):
	$(BIN)/python -m venv .venv-annif
	.venv-annif/bin/python -m pip --disable-pip-version-check --quiet install 'annif>=1.4,<2'

# Ray is large and few want it, so that it comes with this target only.
cluster: $(ALL)
	@$(PIP) install --requirement requirements/cluster.lock
	$(BIN)/python -m pytest tests/engine -m cluster --slow $(ARGS)

fuzz: $(ALL)
	$(BIN)/python -m tests.fuzz $(ARGS)

kill: $(ALL)
	$(BIN)/python -m tests.kill $(ARGS)

sanitise: $(ALL)
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=build/numba-bounds $(BIN)/python -m pytest \
	    tests/test_degenerate_data.py tests/test_estimators.py $(ARGS)
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest $(WITHOUT_COMPILING) $(ARGS)

bench: $(ALL)
	$(BIN)/python -m benchmarks $(ARGS)

lint: $(ALL)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/rooms.py

format: $(ALL)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(ALL)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

dist: $(ALL)
	$(BIN)/python tools/dist.py

notebooks: $(ALL)
	$(BIN)/python tools/notebooks.py $(ARGS)

$(CORE): requirements/core.lock pyproject.toml | $(BIN)/pip
	@echo "Installing the core dependencies into $(VENV) (the first time takes a minute or two)"
	@$(PIP) install --requirement requirements/core.lock
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

# The page that the demo ends with; the demo itself does without.
$(SERVE): $(CORE) requirements/all.lock
	@$(PIP) install --constraint requirements/all.lock --no-build-isolation --editable '.[serve]' && \
	    touch $@ || echo "The extra 'serve' could not be installed: 'labelspace serve' needs it."

$(ALL): requirements/all.lock pyproject.toml | $(BIN)/pip
	@echo "Installing all dependencies into $(VENV) (the first time takes some minutes)"
	@$(PIP) install --requirement requirements/all.lock
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $(CORE) $(SERVE) $@

# The first interpreter that fits; PYTHON=... names one instead.
$(BIN)/pip:
	@fits='import sys, venv, ensurepip; sys.exit(not (3, 10) <= sys.version_info < (3, 15))'; \
	for python in $(or $(PYTHON),python3 python3.14 python3.13 python3.12 python3.11 python3.10); do \
	    if "$$python" -c "$$fits" >/dev/null 2>&1; then \
	        echo "Making $(VENV) with $$("$$python" --version)"; \
	        exec "$$python" -m venv $(VENV); \
	    fi; \
	done; \
	echo "labelspace needs Python 3.10 to 3.14 with its venv module, but $(or $(PYTHON),python3)" \
	    "is missing, too old, too new or without venv: install one (on Debian and Ubuntu also" \
	    "the python3-venv package) or name it, as in 'make demo PYTHON=/path/to/python3.12'." >&2; \
	exit 1

# uv resolves for all supported Python versions and platforms at once; it is used for this only.
LOCK := .venv-lock/bin/uv pip compile --quiet --universal --python-version 3.10 \
	--fork-strategy fewest --no-emit-index-url --no-emit-find-links \
	--custom-compile-command "make lock" --constraint requirements/decided.in \
	pyproject.toml requirements/build.in

lock: $(BIN)/pip
	$(BIN)/python -m venv .venv-lock
	.venv-lock/bin/python -m pip --disable-pip-version-check --quiet install $(UV)
	$(LOCK) --upgrade --output-file requirements/core.lock > /dev/null
	$(LOCK) --upgrade --constraint requirements/core.lock --output-file requirements/all.lock \
	    --extra deep --extra plots --extra serve --extra tables --extra vocabulary \
	    --extra hub --extra onnx --extra encoder --extra dev --extra docs > /dev/null
	$(LOCK) --upgrade --constraint requirements/all.lock --output-file requirements/cluster.lock \
	    --extra cluster > /dev/null

clean:
	rm -rf build dist site .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .schemathesis
	rm -rf .venv-lock labelspace-demo src/*.egg-info
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

distclean: clean
	rm -rf $(VENV)
