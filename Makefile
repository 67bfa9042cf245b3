# Verbs for daily use; `make` alone prints them. Each verb makes what it needs, from the virtual
# environment on; a stamp file per environment says when it was last brought up to date.

PYTHON ?= python3
VENV ?= .venv
DEBUG_VENV ?= .venv-debug
DEBUG_TESTS ?= $(addprefix tests/,core oracles models solvers inputs preprocessing) \
	tests/estimators/test_serving.py
PYTEST_WORKERS ?= 2
PYTEST_ARGS ?=
VERSIONS_ARGS ?=
# How long threads ask fresh models.
THREADS_SECONDS ?= 3600
N ?= 20000
SEED ?= 0

BIN := $(VENV)/bin
DEBUG_BIN := $(DEBUG_VENV)/bin
PIP_OPTIONS := --quiet --disable-pip-version-check
# What takes minutes says how far it is.
PROGRESS := $(PYTHON) .ci/progress.py
PIP_VERBOSE := --verbose --disable-pip-version-check
# Python compiles modules when they are first imported. Compiling thousands that never are costs more
# than everything else that pip does.
PIP_LAZY := $(PIP_VERBOSE) --no-compile
BUILD_TOOLS := "setuptools>=77.0.1" "Cython>=3.1.2"
METADATA := pyproject.toml setup.py
COMPILED := $(shell find sskit -name '*.pyx' -o -name '*.pxd' -o -name '*.hpp' 2>/dev/null)
MODULES := $(shell find sskit -name '*.py' 2>/dev/null)
PROBES := $(wildcard tests/compiled/*.py* examples/compiled/*.pyx)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-slow test-threads test-deep debug fuzz mutants lint doc doc-noplot bench bench-peers
.PHONY: inplace clean

help:
	@echo "make demo          train on handwritten digit strings to a certified duality gap"
	@echo "make test          run the test suite (PYTEST_ARGS=... is passed to pytest)"
	@echo "make test-slow     run the slow tests and those on real data (found in SSKIT_DATA)"
	@echo "make test-threads  let threads ask models that have answered nothing, THREADS_SECONDS long"
	@echo "make test-deep     run that, the suite on every supported Python, and more of it in debug"
	@echo "make debug         run DEBUG_TESTS on a build that checks indices and undefined behaviour"
	@echo "make fuzz          make N random calls of all public functions, N / 200 random products"
	@echo "make mutants       break compiled code in N places, one at a time: do the tests see it?"
	@echo "make lint          check style, spelling, docstrings and types"
	@echo "make doc           build the documentation with its gallery into doc/_build/html"
	@echo "make doc-noplot    build the documentation without running the gallery"
	@echo "make bench         run the benchmarks of examples/benchmarks"
	@echo "make bench-peers   measure other packages beside this one, and draw the figures of the page"
	@echo "make inplace       compile what has changed and install the checkout, editable"
	@echo "make clean         remove builds, environments and caches"

# ---- environments ------------------------------------------------------------------------

# Everything but the package itself: made again when the dependencies may have changed.
$(VENV)/.tools: pyproject.toml
	@echo "making an environment, $(VENV)"
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PROGRESS) $(BIN)/python -m pip install $(PIP_LAZY) $(BUILD_TOOLS)
	touch $@

# The package, editable: compiled again when a compiled source or a header has changed.
$(VENV)/.installed: $(VENV)/.tools $(METADATA) $(COMPILED)
	$(PROGRESS) $(BIN)/python -m pip install $(PIP_LAZY) --no-build-isolation -e .
	touch $@

# What else is needed for the suite: once, for what has been compiled since is found as it is.
$(VENV)/.test: pyproject.toml | $(VENV)/.installed
	$(PROGRESS) $(BIN)/python -m pip install $(PIP_VERBOSE) --no-build-isolation -e ".[test]"
	touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/.installed
	$(BIN)/python -m pip install $(PIP_OPTIONS) --no-build-isolation -e ".[dev]"
	touch $@

$(VENV)/.doc: pyproject.toml | $(VENV)/.installed
	$(BIN)/python -m pip install $(PIP_OPTIONS) --no-build-isolation -e ".[docs]"
	touch $@

# The packages that are measured beside this one.
$(VENV)/.bench: pyproject.toml | $(VENV)/.installed
	$(BIN)/python -m pip install $(PIP_OPTIONS) --no-build-isolation -e ".[bench]"
	touch $@

# The build that checks is installed as a copy, so the release build in the checkout stays.
$(DEBUG_VENV)/.installed: $(METADATA) $(COMPILED) $(MODULES)
	test -x $(@D)/bin/python || $(PYTHON) -m venv $(@D)
	$(PROGRESS) $(@D)/bin/python -m pip install $(PIP_VERBOSE) $(BUILD_TOOLS)
	SSKIT_BUILD=debug $(PROGRESS) \
		$(@D)/bin/python -m pip install $(PIP_VERBOSE) --no-build-isolation ".[test]"
	touch $@

# Compiled modules that only tests need, against the package as it is installed.
$(DEBUG_VENV)/.probes: export SSKIT_BUILD = debug
%/.probes: %/.installed $(PROBES)
	$(PROGRESS) $(@D)/bin/python tests/compiled/setup.py build_ext
	touch $@

# ---- verbs -------------------------------------------------------------------------------

inplace: $(VENV)/.installed $(VENV)/.test $(VENV)/.probes

demo: $(VENV)/.installed
	$(BIN)/python examples/demo.py

test: $(VENV)/.installed $(VENV)/.test $(VENV)/.probes
	$(BIN)/pytest -n $(PYTEST_WORKERS) $(PYTEST_ARGS)

test-slow: $(VENV)/.installed $(VENV)/.test $(VENV)/.probes
	$(BIN)/pytest -m "slow or realdata" -n $(PYTEST_WORKERS) $(PYTEST_ARGS)

test-threads: $(VENV)/.installed $(VENV)/.test
	SSKIT_SECONDS=$(THREADS_SECONDS) $(BIN)/pytest -m slow tests/estimators/test_serving.py

# The oldest Python with the lowest dependencies and the code for compilers without vector
# extensions, the others with the newest and the release build; then more tests on the debug build.
test-deep:
	$(PYTHON) .ci/versions.py $(VERSIONS_ARGS) -- -n $(PYTEST_WORKERS) $(PYTEST_ARGS)
	$(MAKE) debug DEBUG_TESTS="$(DEBUG_TESTS) tests/estimators"
	$(MAKE) test-threads

fuzz: $(VENV)/.installed $(VENV)/.test $(VENV)/.probes
	SSKIT_FUZZ=$(N) SSKIT_SEED=$(SEED) $(BIN)/pytest -m slow -n $(PYTEST_WORKERS) tests/fuzz

# With --debug what survives near by is tried in the debug build too.
MUTANTS_ARGS ?=
mutants: N = 50
mutants: $(VENV)/.installed $(VENV)/.test
	$(BIN)/python .ci/mutants.py -n $(N) --seed $(SEED) $(MUTANTS_ARGS)

# Python is built without the sanitizers: it loads what they need at run time before all else, and
# takes memory for each object by itself. Reports go to files, since pytest keeps what tests print.
DEBUG_REPORT = $(abspath build/debug)/report
debug: $(DEBUG_VENV)/.probes
	rm -f $(DEBUG_REPORT).*
	status=0; \
	LD_PRELOAD="$(foreach name,asan ubsan stdc++,$(shell $(CXX) -print-file-name=lib$(name).so))" \
	ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:log_path=$(DEBUG_REPORT) \
	UBSAN_OPTIONS=print_stacktrace=1:log_path=$(DEBUG_REPORT) \
	PYTHONMALLOC=malloc \
	$(DEBUG_BIN)/pytest -n $(PYTEST_WORKERS) $(PYTEST_ARGS) $(DEBUG_TESTS) \
	|| status=$$?; \
	for report in $(DEBUG_REPORT).*; do \
		if test -s $$report; then cat $$report; status=1; fi; \
	done; exit $$status

lint: $(VENV)/.installed $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	PATH="$(abspath $(BIN)):$$PATH" cython-lint sskit tests/compiled examples/compiled
	$(BIN)/python .ci/check_indices.py
	$(BIN)/codespell
	$(BIN)/python -m numpydoc.hooks.validate_docstrings $(MODULES)
	$(BIN)/python .ci/check_types.py

doc: $(VENV)/.installed $(VENV)/.doc
	$(BIN)/python -m sphinx -W --keep-going -b html doc doc/_build/html

doc-noplot: $(VENV)/.installed $(VENV)/.doc
	$(BIN)/python -m sphinx -W --keep-going -D plot_gallery=0 -b html doc doc/_build/html

SCRIPTS = $(filter-out %peers.py,$(wildcard examples/benchmarks/[!_]*.py))
bench: $(VENV)/.installed $(VENV)/.dev
	set -e; for script in $(sort $(SCRIPTS)); do \
		echo "== $$script"; $(BIN)/python $$script; \
	done

# Goes on with what peers.json lacks; PEERS="addresses --again" measures a subject again.
PEERS ?=
bench-peers: $(VENV)/.installed $(VENV)/.bench
	$(BIN)/python examples/benchmarks/peers.py $(PEERS)
	$(BIN)/python examples/benchmarks/draw_peers.py

clean:
	rm -rf build dist *.egg-info $(VENV) $(DEBUG_VENV) .venv-3.*
	rm -rf doc/_build doc/auto_examples doc/generated doc/sg_execution_times.rst
	rm -rf .pytest_cache .ruff_cache .hypothesis
	find sskit tests examples -name __pycache__ -type d -prune -exec rm -rf {} +
	find sskit -name '*.so' -delete
