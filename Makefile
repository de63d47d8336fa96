# make demo   set up, then recall on the demo workspace
# make test   set up, then every test
# make lint types bench   the checks and the measurements a developer runs

PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
LOCOMO ?=

.PHONY: demo test lint types bench clean

$(VENV)/.ready: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "openclaw-memory needs Python 3.11 or newer; run make PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

demo: $(VENV)/.ready
	@$(BIN)/python benchmarks/demo.py

test: $(VENV)/.ready
	$(BIN)/python -m pytest

lint: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# mypy reads the package as it installs, from outside the tree, so that the one import name is what it checks.
types: $(VENV)/.ready
	rm -rf build/types && mkdir -p build/types
	$(BIN)/python -m pip install --quiet --no-deps --target build/types .
	cd build/types && MYPYPATH=. ../../$(BIN)/mypy --config-file ../../pyproject.toml -p openclaw_memory

bench: $(VENV)/.ready
	$(BIN)/python benchmarks/speed.py
	$(if $(LOCOMO),$(BIN)/python benchmarks/locomo.py $(LOCOMO))

clean:
	rm -rf $(VENV) build dist *.egg-info
