# `make demo` and `make test` work from a clean clone; `make lint` runs the linters.

VENV ?= .venv
PYTHON ?= python3
READY = $(VENV)/.ready
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: all demo test lint bench fuzz clean

all: test

$(READY): pyproject.toml tools/make-venv
	tools/make-venv $(PYTHON) $(VENV)
	touch $@

demo: $(READY)
	PATH="$(CURDIR)/$(VENV)/bin:$$PATH" demo/run

test: $(READY)
	$(VENV)/bin/python -m pytest $(PYTEST_ARGS)

lint: $(READY)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

bench: $(READY)
	$(VENV)/bin/python bench/ingest.py

# Every public parser under atheris, one after the other: make fuzz SECONDS=60
fuzz: $(READY)
	$(VENV)/bin/pip install -q --group fuzz
	$(VENV)/bin/python fuzz/run --seconds $(or $(SECONDS),60)

clean:
	rm -rf $(VENV) build dist *.egg-info
