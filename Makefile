# Everything runs in .venv, which make creates with Python 3.11 or newer.
# Choose an interpreter: make demo PYTHON=python3.12      Options of the demo: make demo ARGS=--help

PYTHON ?=
ARGS ?=

VENV := .venv
WEB_CHECKS := tests/tools/web
WIRE := clients/kibitz_clients/web/static/wire
CLIENT ?= build/kibitz-client
WEB_TOOLS := $(WEB_CHECKS)/node_modules/.made
IN_VENV := $(VENV)/bin/python
PIP := $(IN_VENV) -m pip --disable-pip-version-check install --quiet -c constraints.txt
PYTEST = $(IN_VENV) -m pytest -n $(or $(WORKERS),auto) --maxprocesses 8 --dist $(or $(DIST),loadgroup) --durations=10
CANDIDATES := python3 python3.14 python3.13 python3.12 python3.11 python

# Ignore the caller's Python settings. Bytecode caching must stay on, or each process that the tests
# start would compile all its modules.
unexport PYTHONPATH
unexport PYTHONHOME
unexport PYTHONDONTWRITEBYTECODE
export PYTHONNOUSERSITE := 1
export PYTHONWARNINGS :=

# Recreate an environment that was copied or moved, or whose interpreter is missing.
SOUND := $(shell test "`cat $(VENV)/.home 2>/dev/null`" = "$(CURDIR)" \
	&& $(IN_VENV) -c 'import sys, pip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo yes)
ifneq ($(SOUND),yes)
FORCE := anew
endif

.PHONY: help demo test test-all warm lint ruff mypy imports prose figures format schema web-check client-package docs bench experiments strength clean anew
.DEFAULT_GOAL := help

help:
	@echo 'make demo      set up and show a demo of live matches on one screen'
	@echo 'make test      set up and run the fast tests, which do not start processes'
	@echo 'make test-e2e  run the tests that start processes'
	@echo 'make test-peers  run the tests that need external programs, such as proxies'
	@echo 'make test-all  run all tests, including slow ones'
	@echo 'make lint      run ruff, mypy and the checks of imports, prose and figures'
	@echo 'make format    format the sources with ruff'
	@echo 'make schema    write what is generated from the code: schemas, types, pages'
	@echo 'make web-check check the types of the browser client with TypeScript from npm'
	@echo 'make client-package  build the websocket client for npm in build/kibitz-client'
	@echo 'make docs      build the documentation site in site/'
	@echo 'make release-check  list the addresses that the owner must enter before a release'
	@echo 'make bench     measure the server and the searches'
	@echo 'make experiments  repeat the experiments of the reports and write their page'
	@echo 'make strength  measure the strength of all bots overnight; run it again to resume'
	@echo 'make clean     remove everything that make created'

demo: $(VENV)/.run
	@$(IN_VENV) -m kibitz demo $(ARGS)

# Compile what the tests need before they start, on all cores, and cache it. `loadgroup` counts all
# finished tests again after each one, and builds what the tests of a module share in every worker.
test: DIST ?= worksteal
test: export HYPOTHESIS_PROFILE ?= quick
test: $(VENV)/.dev
	$(IN_VENV) -m tests.tools.warm_cache fast
	$(PYTEST) $(ARGS)

# These tests spend half of their time waiting, so run two workers per core.
.PHONY: test-e2e
test-e2e: WORKERS ?= $(shell getconf _NPROCESSORS_ONLN | awk '{ print 2 * $$1 }')
test-e2e: export HYPOTHESIS_PROFILE ?= default
test-e2e: $(VENV)/.dev $(WEB_TOOLS)
	$(IN_VENV) -m tests.tools.warm_cache e2e
	$(PYTEST) -m 'e2e and not slow' $(ARGS)

# Runs with the installed proxies, engines and SDKs; tests of the others are reported as skipped.
.PHONY: test-peers
test-peers: $(VENV)/.dev
	$(PYTEST) -m 'peers and not slow' $(ARGS)

test-all: export HYPOTHESIS_PROFILE ?= thorough
test-all: $(VENV)/.dev $(WEB_TOOLS)
	$(IN_VENV) -m tests.tools.warm_cache fast
	$(IN_VENV) -m tests.tools.warm_cache e2e
	$(PYTEST) -m '' $(ARGS)
	KIBITZ_PLAIN=1 HYPOTHESIS_PROFILE=default $(PYTEST) tests/games $(ARGS)

# Compile what all test sets need; `make -j2 lint warm` runs both at once.
warm: $(VENV)/.dev
	$(IN_VENV) -m tests.tools.warm_cache fast
	$(IN_VENV) -m tests.tools.warm_cache e2e

lint: ruff mypy imports prose figures web-check

ruff: $(VENV)/.dev
	$(IN_VENV) -m ruff check
	$(IN_VENV) -m ruff format --check

mypy: $(VENV)/.dev
	$(IN_VENV) -m mypy

imports: $(VENV)/.dev
	$(VENV)/bin/lint-imports

# Find sentences without a subject, and sentences of more than 40 words.
prose: $(VENV)/.dev
	$(IN_VENV) -m tests.tools.prose

figures: $(VENV)/.dev
	$(IN_VENV) -m tests.tools.figures

format: $(VENV)/.dev
	$(IN_VENV) -m ruff check --fix
	$(IN_VENV) -m ruff format

schema: $(VENV)/.dev
	$(IN_VENV) -m docs.generate

# TypeScript checks the modules of the browser client; the client itself needs nothing from npm.
web-check: $(WEB_TOOLS)
	@if test -f $(WEB_TOOLS); then node $(WEB_CHECKS)/node_modules/typescript/bin/tsc --project $(WEB_CHECKS); \
	else echo 'skipping the type check of the browser client: npm not found'; fi

# Package the modules of the browser client, with TypeScript declarations.
client-package: $(WEB_TOOLS)
	@rm -rf $(CLIENT) && mkdir -p $(CLIENT)
	@cp $(WIRE)/*.js $(WIRE)/*.d.ts clients/typescript/package.json clients/typescript/README.md LICENSE $(CLIENT)
	@node $(WEB_CHECKS)/node_modules/typescript/bin/tsc --project clients/typescript --outDir $(CLIENT)
	@echo 'the package is in $(CLIENT)'

docs: $(VENV)/.docs
	@NO_MKDOCS_2_WARNING=1 $(IN_VENV) -m mkdocs build --strict --quiet
	@echo 'the documentation is in site/index.html'

# Fails while a place that the owner fills in is still marked.
.PHONY: release-check
release-check: $(VENV)/.dev
	@$(IN_VENV) -m tests.tools.release

bench: $(VENV)/.dev
	$(IN_VENV) -m benchmarks.server $(ARGS)
	$(IN_VENV) -m benchmarks.search

# Short versions by default; ARGS=--full runs full lengths, ARGS=NAME runs one experiment.
experiments: $(VENV)/.dev
	$(IN_VENV) -m benchmarks.experiments $(ARGS)
	$(IN_VENV) -m docs.generate

# The status of the events is that of the command; the page shows failed claims as well.
strength: $(VENV)/.dev
	$(IN_VENV) -m benchmarks.strength --missing --write $(ARGS); \
	status=$$?; $(IN_VENV) -m docs.generate && exit $$status

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	rm -rf build dist site demo-records $(WEB_CHECKS)/node_modules
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Stamp files: .run for kibitz's dependencies, .dev for developer tools too, .docs for mkdocs.
$(VENV)/.run: pyproject.toml constraints.txt $(VENV)/.home $(FORCE)
	@echo 'installing kibitz into $(VENV)'
	@$(PIP) hatchling editables
	@$(PIP) --no-build-isolation -e '.[all]'
	@touch $@

$(VENV)/.dev: $(VENV)/.run
	@echo 'installing the developer tools into $(VENV)'
	@$(PIP) --no-build-isolation -e '.[all,dev,environments,pictures]'
	@touch $@

# Tools from npm that check the web pages; without npm, those checks are skipped.
$(WEB_TOOLS): $(WEB_CHECKS)/package.json
	@if command -v npm >/dev/null 2>&1; then \
		echo 'installing the tools that check the web pages'; \
		npm --prefix $(WEB_CHECKS) install --no-package-lock --loglevel error --no-audit --no-fund \
			&& touch $@; \
	fi

$(VENV)/.docs: $(VENV)/.run
	@echo 'installing the documentation tools into $(VENV)'
	@$(PIP) --no-build-isolation -e '.[all,docs]'
	@touch $@

$(VENV)/.home: $(FORCE)
	@python=; \
	for candidate in $(or $(PYTHON),$(CANDIDATES)); do \
		command -v "$$candidate" >/dev/null 2>&1 || continue; \
		seen="$$seen $$candidate (`"$$candidate" -c 'import platform; print(platform.python_version())' 2>/dev/null || echo broken`)"; \
		"$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
		fit="$$candidate"; \
		"$$candidate" -c 'import ensurepip, venv' 2>/dev/null || continue; \
		python="$$candidate"; break; \
	done; \
	if test -z "$$fit"; then \
		echo "kibitz needs Python 3.11 or newer; found:$${seen:- none}. choose an interpreter with: make PYTHON=/path/to/python3" >&2; exit 1; \
	elif test -z "$$python"; then \
		echo "$$fit cannot create virtual environments: its venv or ensurepip is missing; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; \
	fi; \
	echo "creating $(VENV) with $$python"; \
	rm -rf $(VENV) && "$$python" -m venv $(VENV) && printf '%s' '$(CURDIR)' > $(VENV)/.home
