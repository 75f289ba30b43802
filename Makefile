# `make demo` and `make test` work from a clean clone; `make lint` runs the linters.

VENV ?= .venv
PYTHON ?= python3
READY = $(VENV)/.ready
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: all demo test lint bench bench-peers bench-flat bench-lore bench-search fuzz clean

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

# Comparisons with other programs, on the mails of EPOCH (a repository of public-inbox;
# invented mail without it): docs/performance.md.
#   make bench-peers EPOCH=~/lore/LIST/0.git KERNEL_LORE=~/venv/bin MAILS=30000 ROUNDS=3
bench-peers: $(READY)
	$(VENV)/bin/python -m bench.peers $(EPOCH) --mails $(or $(MAILS),0) \
		--rounds $(or $(ROUNDS),3) $(if $(KERNEL_LORE),--kernel-lore $(KERNEL_LORE)) $(BENCH_ARGS)

bench-lore: $(READY)
	$(VENV)/bin/python -m bench.lore $(EPOCH) $(BENCH_ARGS)

# EPOCHS are several; ARCHIVES have 80,000 mails, each with another engine.
bench-flat: $(READY)
	$(VENV)/bin/python -m bench.flat $(EPOCHS) $(BENCH_ARGS)

bench-search: $(READY)
	$(VENV)/bin/python -m bench.search $(ARCHIVES) $(BENCH_ARGS)

# Every public parser under atheris, one after the other: make fuzz SECONDS=60
fuzz: $(READY)
	$(VENV)/bin/pip install -q --group fuzz
	$(VENV)/bin/python fuzz/run --seconds $(or $(SECONDS),60)

clean:
	rm -rf $(VENV) build dist *.egg-info
