# Two commands matter: `make up` and `make test`. `make help` lists the rest.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV   := .venv
BIN    := $(VENV)/bin
UV     := $(shell command -v uv || echo .tools/bin/uv)
MEMBERS := packages/settings packages/stage services/captain services/bridge packages/cli
STAMP  := $(VENV)/.installed

.PHONY: help setup up test check lock bench format
help:
	@echo "make up      run Clankie: on your Discord with a token in .env, on the stage without one"
	@echo "make test    run every test"
	@echo "make check   format, lint, types, import contracts, dependencies, core coverage"
	@echo "make bench   measure, as ratios in one run"
	@echo "make setup   make .venv with everything in it"
	@echo "make lock    resolve requirements.lock anew"

setup: $(STAMP)

.tools/bin/uv:
	@echo "fetching uv"
	@$(PYTHON) -m venv .tools
	@.tools/bin/python -m pip install --quiet uv

$(STAMP): requirements.lock $(if $(filter .tools/bin/uv,$(UV)),.tools/bin/uv) $(addsuffix /pyproject.toml,$(MEMBERS))
	@test -x $(BIN)/python || $(UV) venv --quiet --python "$(PYTHON)" $(VENV)
	@$(UV) pip sync --python $(BIN)/python --require-hashes requirements.lock
	@$(UV) pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation $(addprefix -e ,$(MEMBERS))
	@touch $@

lock: $(if $(filter .tools/bin/uv,$(UV)),.tools/bin/uv)
	$(UV) pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header --python-version 3.11 \
	  $(foreach m,clankie-settings clankie-stage clankie-captain clankie-bridge clankie-cli,--no-emit-package $(m)) \
	  --group dev $(addsuffix /pyproject.toml,$(MEMBERS)) -o requirements.lock

up: setup
	@$(BIN)/clankie up

test: setup
	@$(BIN)/python -m pytest

format: setup
	@$(BIN)/ruff check --fix --quiet . ; $(BIN)/ruff format --quiet .
