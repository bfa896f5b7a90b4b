# Two commands matter: `make run` and `make test`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
NODE_MODULES := tests/js/node_modules/.package-lock.json
PIP    := $(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes

# A service and its tests start many processes: without bytecode each compiles all it imports.
unexport PYTHONDONTWRITEBYTECODE

# What `make check` is made of beside `check-types`, which takes a minute, and `check-js`.
QUICK := check-style check-imports check-migrations

.PHONY: run install unit test whole stores check check-python setup check-types check-quick $(QUICK) check-js js bench promises promises-stores pins \
	clean engines engine-claude engine-models engine-acp apprise

run: $(VENV)/.base
	@exec $(BIN)/python manage.py up

# What `run` needs, and nothing started: after an upgrade, for a service manager, in an image.
install: $(VENV)/.base

# Each worker takes whole files, in the order of tests/order.py: what waits among what works.
WORKERS := --dist loadfile --no-loadscope-reorder -n

# The tests that start no process, which tests/starts.py finds; UNITS=3 files of them at a time, since
# some wait.
UNITS ?= 3
unit: $(VENV)/.dev
	$(BIN)/python -m pytest $(WORKERS) $(UNITS) -m "not process" $(ARGS)

# JOBS=2 runs two files of tests at a time; each worker has a data directory and ports of its own.
# All of them run three more at a time than there are processors, since most wait for the processes
# that they start; what ARGS asks for runs alone.
CORES = $(shell getconf _NPROCESSORS_ONLN)
JOBS ?= $(if $(ARGS),,$(if $(filter 1 2 3 4,$(CORES)),$(shell expr $(CORES) + 3),8))
JOBBED = $(if $(JOBS),$(WORKERS) $(JOBS))

test: $(VENV)/.dev
	$(BIN)/python -m pytest $(JOBBED) $(ARGS)

# Those too that take long and show little beside the others (the mark `slow`), with every engine.
whole: setup
	SVC_RING=whole $(BIN)/python -m pytest $(JOBBED) $(ARGS)

# What uses the database where it matters which one it is, on a private PostgreSQL (needs Debian's postgresql).
CLOCKED := $(addprefix tests/promises/,test_t1_one_firing.py test_t2_on_time.py \
	test_t3_killed_worker.py)
STORES := tests/workspace/chats tests/workspace/triggers tests/workspace/access/test_audit.py \
	tests/dashboard/history tests/promises/test_f6_index.py $(CLOCKED)

stores: $(VENV)/.dev
	SVC_STORE=postgres $(BIN)/python -m pytest $(JOBBED) -m database $(STORES) $(ARGS)

# Two at a time, what each says together; packages of Python are installed one after the other.
check:
	@$(MAKE) --jobs=2 --output-sync=target --no-print-directory check-python check-js

check-python:
	@MAKEFLAGS= $(MAKE) --no-print-directory setup
	@$(MAKE) --no-print-directory check-types check-quick

check-quick: $(QUICK)

# What checks and tests of Python need.
setup: $(VENV)/.dev engines

# The types of the engines are those of their packages, so these are installed here too.
check-types: $(VENV)/.dev engines
	$(BIN)/mypy

check-style: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

check-imports: $(VENV)/.dev
	$(BIN)/lint-imports

check-migrations: $(VENV)/.dev
	$(BIN)/python -W ignore::RuntimeWarning manage.py makemigrations --check --dry-run

# What checks and tests JavaScript, pinned in tests/js; the product needs no node.
JS_BIN := tests/js/node_modules/.bin
JS_CACHE := tests/js/node_modules/.cache
JS := templates/static/js tests/js bench/mcp_peer.mjs tests/clients/sdk_client.mjs

check-js: $(NODE_MODULES)
	$(JS_BIN)/prettier --config tests/js/prettier.json --log-level warn --check \
		--cache --cache-location $(JS_CACHE)/prettier $(JS)
	$(JS_BIN)/eslint --config tests/js/eslint.config.js \
		--cache --cache-location $(JS_CACHE)/eslint $(JS)
	$(JS_BIN)/tsc --project tests/js/tsconfig.json
	$(JS_BIN)/tsc --project tests/js/tsconfig.kit.json

# The tests of modules that need no browser.
js: $(NODE_MODULES)
	node --disable-warning=ExperimentalWarning --import ./tests/js/page.js \
		--test --test-concurrency=2 --test-reporter=spec $(wildcard tests/js/*/*.test.js)

bench: $(VENV)/.dev
	$(BIN)/python -m bench $(ARGS)

# The slow ring takes hours; RING=slow/10 is a tenth of it.
RING ?= slow
SLOWLY := SVC_RING=$(RING) $(BIN)/python -m pytest -o timeout=14400

# Every file whose sizes depend on the ring: the promises, and the properties of all parts.
RINGED = $(shell grep -rl --include='test_*.py' 'promises.rings import' tests)

promises: $(VENV)/.dev
	$(SLOWLY) tests/promises $(filter-out tests/promises/%,$(RINGED)) $(ARGS)

# The slow ring of the clock and the workers on each other store (docs/promises-by-store.md).
promises-stores: $(VENV)/.dev
	SVC_STORE=postgres $(SLOWLY) $(CLOCKED) $(ARGS)
	SVC_STORE=postgres+redis $(SLOWLY) $(CLOCKED) $(ARGS)

# Rewrites all pin files from their .in files (needs uv).
pins:
	uv pip compile -q --no-emit-index-url --no-header --generate-hashes --python-version 3.11 --universal requirements.in -o requirements.txt
	uv pip compile -q --no-emit-index-url --no-header --generate-hashes --python-version 3.11 --universal requirements-dev.in -o requirements-dev.txt
	for extra in claude models acp cluster apprise; do uv pip compile -q --no-emit-index-url --no-header --generate-hashes --python-version 3.11 --universal requirements-$$extra.in -o requirements-$$extra.txt; done
	echo uv | uv pip compile -q --no-emit-index-url --no-header --generate-hashes --universal - -o .ci/uv.txt

clean:
	rm -rf $(VENV) tests/js/node_modules build .pytest_cache .mypy_cache .ruff_cache .hypothesis

# Engines with a model are optional, each with its own pins: all three, or one of them.
engines: engine-claude engine-models engine-acp

engine-claude engine-models engine-acp: engine-%: $(VENV)/.%

# What the channels of kind `apprise` send with (docs/notifications.md).
apprise: $(VENV)/.apprise

$(VENV)/.claude $(VENV)/.models $(VENV)/.acp $(VENV)/.apprise: $(VENV)/.%: requirements-%.txt $(VENV)/.base
	$(PIP) -r requirements-$*.txt
	@touch $@

$(NODE_MODULES): tests/js/package.json tests/js/package-lock.json
	@command -v npm >/dev/null || { echo "JavaScript is checked with node 20 and npm; install them with:" \
		"apt-get install npm"; exit 1; }
	npm --prefix tests/js ci --ignore-scripts --prefer-offline --loglevel=error
	@touch $@

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.base: requirements.txt | $(VENV)/bin/python
	$(PIP) -r requirements.txt
	@touch $@

$(VENV)/.dev: requirements-dev.txt $(VENV)/.base
	$(PIP) -r requirements-dev.txt
	@touch $@
