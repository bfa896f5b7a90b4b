# Two commands matter: `make run` and `make test`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes

.PHONY: run test check bench promises pins clean

run: $(VENV)/.base
	@exec $(BIN)/python manage.py up

test: $(VENV)/.dev
	$(BIN)/python -m pytest $(ARGS)

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python manage.py makemigrations --check --dry-run

bench: $(VENV)/.dev
	$(BIN)/python -m bench $(ARGS)

promises: $(VENV)/.dev
	SVC_RING=slow $(BIN)/python -m pytest tests/promises $(ARGS)

# Rewrites both pin files from their .in files (needs uv).
pins:
	uv pip compile -q --no-emit-index-url --no-header --generate-hashes --python-version 3.11 --universal requirements.in -o requirements.txt
	uv pip compile -q --no-emit-index-url --no-header --generate-hashes --python-version 3.11 --universal requirements-dev.in -o requirements-dev.txt

clean:
	rm -rf $(VENV) build .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.base: requirements.txt | $(VENV)/bin/python
	$(PIP) -r requirements.txt
	@touch $@

$(VENV)/.dev: requirements-dev.txt $(VENV)/.base
	$(PIP) -r requirements-dev.txt
	@touch $@
