# Two commands matter: `make run` and `make test`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes

.PHONY: run test check bench promises pins clean engines engine-claude engine-models engine-acp

run: $(VENV)/.base
	@exec $(BIN)/python manage.py up

test: $(VENV)/.dev
	$(BIN)/python -m pytest $(ARGS)

# The types of the engines are those of their packages, so these are installed here too.
check: $(VENV)/.dev engines
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python manage.py makemigrations --check --dry-run

bench: $(VENV)/.dev
	$(BIN)/python -m bench $(ARGS)

promises: $(VENV)/.dev
	SVC_RING=slow $(BIN)/python -m pytest tests/promises $(ARGS)

# Rewrites the pin files from their .in files (needs uv).
pins:
	uv pip compile -q --no-emit-index-url --no-header --generate-hashes --python-version 3.11 --universal requirements.in -o requirements.txt
	uv pip compile -q --no-emit-index-url --no-header --generate-hashes --python-version 3.11 --universal requirements-dev.in -o requirements-dev.txt
	for extra in claude models acp; do uv pip compile -q --no-emit-index-url --no-header --generate-hashes --python-version 3.11 --universal requirements-$$extra.in -o requirements-$$extra.txt; done

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
