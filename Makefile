# make demo   set up, ask the demo workspace six questions, open one citation, then reflect
# make test   set up, then every test
# make test-llama       compile llama.cpp, bring a model of 250 MB, then the tests of local models
# make test-openclaw    bring a real OpenClaw and its Node (840 MB, with npm), then the tests of the plug-in in it
# make test-qmd         bring QMD and its Node (1.1 GB, with npm), then the tests of it as a back end
# make plugin-tools     write the table of tools for the plug-in anew
# make lint types bench   the checks and the measurements that a developer runs

PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
DEMO = build/demo
LOCOMO ?=

.PHONY: demo test test-llama test-openclaw test-qmd plugin-tools lint types bench clean

$(VENV)/.ready: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "openclaw-memory needs Python 3.11 or newer: make PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

# The six ways to ask: words, other words, an entity, time, kind, and a script without spaces. The demo's last day is 2025-12-05.
RUN = $(BIN)/openclaw-memory
define show
	@printf '\n\033[1m$$ openclaw memory %s\033[0m\n' '$(1)'
	@$(RUN) $(1) --workspace $(DEMO) $(2)
endef

demo: $(VENV)/.ready
	@rm -rf $(DEMO)
	$(call show,init --demo,| tail -n 1)
	$(call show,index)
	$(call show,recall "How much did the cargo bike cost?" --k 3)
	$(call show,recall "How much lubricant fits into the motor?" --k 2)
	$(call show,recall "What does she need by the end of January?" --entity Elif --k 2)
	$(call show,recall "what happened last week?" --now 2025-12-05 --k 4)
	$(call show,recall "What does Mara prefer about releases?" --kind opinion --k 3)
	$(call show,recall "王芳的猫叫什么？" --k 2)
	$(call show,get memory/2025-11-13.md#L16)
	$(call show,reflect --now 2025-12-06,| tail -n 4)
	$(call show,retain "W @Tomasz: Called winter swimming the best idea of his life." --contradicts bank/opinions.md\#L6 --now 2025-12-06)
	$(call show,reflect --now 2025-12-07 --dry-run)
	$(call show,reflect --now 2025-12-07)
	$(call show,recall "What does Tomasz think about winter swimming?" --kind opinion --k 1)

test: $(VENV)/.ready
	$(BIN)/python -m pytest

$(VENV)/.ready-llama: $(VENV)/.ready
	@echo "llama.cpp is compiled once, which takes about ten minutes"
	CMAKE_BUILD_PARALLEL_LEVEL=2 CMAKE_ARGS="$${CMAKE_ARGS:--DLLAVA_BUILD=OFF}" \
		$(BIN)/python -m pip install --quiet --editable '.[dev,llama,llama-test]'
	touch $@

test-llama: $(VENV)/.ready-llama
	$(BIN)/python -m pytest tests/llama

# The real one, below build/ and used again while it is there; Node comes as an npm package for this machine.
OPENCLAW ?= build/openclaw
OPENCLAW_VERSION = 2026.9.6
NODE_PACKAGE = node-$(shell node -p 'process.platform.replace("win32", "win") + "-" + process.arch')

$(OPENCLAW)/$(OPENCLAW_VERSION).ready:
	mkdir -p $(OPENCLAW) && echo '{"private": true}' >$(OPENCLAW)/package.json
	cd $(OPENCLAW) && npm install --no-audit --no-fund $(NODE_PACKAGE)@24
	cd $(OPENCLAW) && PATH="$$PWD/node_modules/$(NODE_PACKAGE)/bin:$$PATH" \
		npm install --no-audit --no-fund openclaw@$(OPENCLAW_VERSION)
	touch $@

test-openclaw: $(VENV)/.ready $(OPENCLAW)/$(OPENCLAW_VERSION).ready
	OPENCLAW=$(OPENCLAW) $(BIN)/python -m pytest tests/gateway

# Likewise. It searches without what its packages would compile.
QMD ?= build/qmd
QMD_VERSION = 2.8.3

$(QMD)/$(QMD_VERSION).ready:
	mkdir -p $(QMD) && echo '{"private": true}' >$(QMD)/package.json
	cd $(QMD) && npm install --no-audit --no-fund --ignore-scripts $(NODE_PACKAGE)@22
	cd $(QMD) && PATH="$$PWD/node_modules/$(NODE_PACKAGE)/bin:$$PATH" \
		npm install --no-audit --no-fund --ignore-scripts @tobilu/qmd@$(QMD_VERSION)
	touch $@

test-qmd: $(VENV)/.ready $(QMD)/$(QMD_VERSION).ready
	OPENCLAW_MEMORY_TEST_QMD="$(abspath $(QMD))/node_modules/$(NODE_PACKAGE)/bin/node $(abspath $(QMD))/node_modules/@tobilu/qmd/bin/qmd" \
		$(BIN)/python -m pytest tests/recall/qmd

plugin-tools: $(VENV)/.ready
	$(BIN)/openclaw-memory serve --json >integrations/openclaw/tools.json

lint: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# mypy reads the package as it installs, from outside the tree, so that the one import name is what it checks.
types: $(VENV)/.ready
	rm -rf build/types build/lib build/bdist.* && mkdir -p build/types
	$(BIN)/python -m pip install --quiet --no-deps --target build/types .
	cd build/types && MYPYPATH=. ../../$(BIN)/mypy --config-file ../../pyproject.toml -p openclaw_memory

bench: $(VENV)/.ready
	$(BIN)/python benchmarks/speed.py
	$(if $(LOCOMO),$(BIN)/python benchmarks/locomo.py $(LOCOMO))

clean:
	rm -rf $(VENV) build dist *.egg-info
