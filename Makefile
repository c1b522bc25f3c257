# Two commands matter: `make up` and `make test`. `make help` lists the rest.
SHELL   := /bin/bash
PYTHON  ?= $(shell command -v python3.11 || command -v python3)
VENV    := .venv
BIN     := $(VENV)/bin
UV      := $(shell command -v uv || echo .tools/bin/uv)
FETCHED := $(filter .tools/bin/uv,$(UV))
MEMBERS := packages/settings packages/stage services/captain services/bridge packages/cli
STAMP   := $(VENV)/.installed
JOBS    ?= 3
export UV_NO_PROGRESS ?= 1

.PHONY: help setup up test check lock bench soak soak-mutants docker format clean
help:
	@echo "make up      run Clankie: on your Discord with a token in .env, on the stage without one"
	@echo "make test    run every test"
	@echo "make check   format, lint, types, import contracts, dependencies, core coverage, requirement ids, house rules"
	@echo "make format  put the code into the house's form"
	@echo "make bench   measure, as ratios in one run"
	@echo "make soak    kill, freeze and cut everything for some minutes; nothing may be lost or said twice"
	@echo "make docker  build the images and try them on the Docker engine that is there"
	@echo "make setup   make .venv with everything in it"
	@echo "make lock    resolve requirements.lock anew, after a change of dependencies"
	@echo "make clean   remove .venv, .tools and caches; your state folder stays"

setup: $(STAMP)

.tools/bin/uv:
	@echo "fetching uv"
	@$(PYTHON) -m venv .tools
	@.tools/bin/python -m pip install --quiet --disable-pip-version-check uv

$(STAMP): requirements.lock $(FETCHED) $(addsuffix /pyproject.toml,$(MEMBERS))
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' \
	  || { echo "Clankie needs Python 3.11 to 3.14: set PYTHON, as in 'make setup PYTHON=python3.11'"; exit 1; }
	@test -x $(BIN)/python || $(UV) venv --quiet --python "$(PYTHON)" $(VENV)
	@$(UV) pip sync --quiet --python $(BIN)/python --require-hashes requirements.lock
	@$(UV) pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation $(addprefix -e ,$(MEMBERS))
	@touch $@

lock: $(FETCHED)
	$(UV) pip compile --quiet --universal --all-extras --generate-hashes --no-emit-index-url --no-header --python-version 3.11 \
	  $(foreach m,clankie-settings clankie-stage clankie-captain clankie-bridge clankie-cli,--no-emit-package $(m)) \
	  --group dev $(addsuffix /pyproject.toml,$(MEMBERS)) -o requirements.lock

up: setup
	@$(BIN)/clankie up

test: setup
	@$(BIN)/python -m pytest --numprocesses $(JOBS) --dist loadfile

check: setup
	@.ci/check

bench: setup
	@$(BIN)/python -m bench

soak: setup
	@$(BIN)/python -m tests.soak $(SOAK)

soak-mutants: setup
	@$(BIN)/python -m tests.soak.trials

docker: setup
	@$(BIN)/python -m pytest -rs tests/docker

format: setup
	@$(BIN)/ruff check --fix --quiet . ; $(BIN)/ruff format --quiet .

clean:
	@rm -rf .venv .tools .coverage .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	@find packages services tests bench -name __pycache__ -type d -prune -exec rm -rf {} +
