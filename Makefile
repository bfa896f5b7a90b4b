# Two commands matter: `make run` and `make test`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes

.PHONY: run install test stores check bench promises promises-stores pins clean engines engine-claude \
	engine-models engine-acp

run: $(VENV)/.base
	@exec $(BIN)/python manage.py up

# What `run` needs, and nothing started: after an upgrade, for a service manager, in an image.
install: $(VENV)/.base

# JOBS=2 runs two files of tests at a time; each worker has a data directory and ports of its own.
test: $(VENV)/.dev
	$(BIN)/python -m pytest $(if $(JOBS),-n $(JOBS) --dist loadfile) $(ARGS)

# What depends on the store, on a private PostgreSQL (needs Debian's postgresql).
CLOCKED := $(addprefix tests/promises/,test_t1_one_firing.py test_t2_on_time.py \
	test_t3_killed_worker.py)
STORES := tests/workspace/chats tests/workspace/triggers tests/workspace/access/test_audit.py \
	tests/dashboard/history tests/promises/test_f6_index.py $(CLOCKED)

stores: $(VENV)/.dev
	SVC_STORE=postgres $(BIN)/python -m pytest $(STORES) $(ARGS)

# The types of the engines are those of their packages, so these are installed here too.
check: $(VENV)/.dev engines
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -W ignore::RuntimeWarning manage.py makemigrations --check --dry-run

bench: $(VENV)/.dev
	$(BIN)/python -m bench $(ARGS)

# The slow ring takes hours; RING=slow/10 is a tenth of it.
RING ?= slow
SLOWLY := SVC_RING=$(RING) $(BIN)/python -m pytest -o timeout=14400

promises: $(VENV)/.dev
	$(SLOWLY) tests/promises $(ARGS)

# The slow ring of the clock and the workers on each other store (docs/promises-by-store.md).
promises-stores: $(VENV)/.dev
	SVC_STORE=postgres $(SLOWLY) $(CLOCKED) $(ARGS)
	SVC_STORE=postgres+redis $(SLOWLY) $(CLOCKED) $(ARGS)

# Rewrites all pin files from their .in files (needs uv).
pins:
	uv pip compile -q --no-emit-index-url --no-header --generate-hashes --python-version 3.11 --universal requirements.in -o requirements.txt
	uv pip compile -q --no-emit-index-url --no-header --generate-hashes --python-version 3.11 --universal requirements-dev.in -o requirements-dev.txt
	for extra in claude models acp cluster; do uv pip compile -q --no-emit-index-url --no-header --generate-hashes --python-version 3.11 --universal requirements-$$extra.in -o requirements-$$extra.txt; done

clean:
	rm -rf $(VENV) build .pytest_cache .mypy_cache .ruff_cache .hypothesis

# Engines with a model are optional, each with its own pins: all three, or one of them.
engines: engine-claude engine-models engine-acp

engine-claude engine-models engine-acp: engine-%: $(VENV)/.%

$(VENV)/.claude $(VENV)/.models $(VENV)/.acp: $(VENV)/.%: requirements-%.txt $(VENV)/.base
	$(PIP) -r requirements-$*.txt
	@touch $@

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.base: requirements.txt | $(VENV)/bin/python
	$(PIP) -r requirements.txt
	@touch $@

$(VENV)/.dev: requirements-dev.txt $(VENV)/.base
	$(PIP) -r requirements-dev.txt
	@touch $@
