# Everything is done by a virtual environment in .venv and by node_modules; both come from pinned packages.
.DEFAULT_GOAL := help
.PHONY: help setup demo up down test suites check lint soak simulate mutate bench openapi pins clean
.DELETE_ON_ERROR:
SHELL := bash
.SHELLFLAGS := -euo pipefail -c

BIN := .venv/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)
READY := .venv/.ready node_modules/.ready
PIN := --quiet --universal --python-version 3.11 --generate-hashes --no-header
# Suites that need minutes, not seconds; `make check` leaves them to `make test`.
SLOW := tests/e2e tests/infra tests/simulation

# Which seeds `make simulate` runs.
SEEDS ?= 1000
FROM ?= 0

help:  ## print this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY)  ## install everything into .venv and node_modules (again only when pins change)

demo: $(READY)  ## export a seller's report on a local AWS, from POST to a proven file
	@coatcheck demo

up: $(READY)  ## start the local AWS, its database and the application, and leave them running
	@coatcheck up

down: $(READY)  ## stop what `make up` started
	@coatcheck down

test: $(READY)  ## every check and every test
	@$(MAKE) --no-print-directory --jobs=2 lint suites

suites: $(READY)
	pytest --numprocesses=3 --dist=loadscope --no-loadscope-reorder

check: lint  ## the inner loop: format, lint, types, layers and the quick tests
	pytest --quiet $(foreach suite,$(wildcard $(SLOW)),--ignore=$(suite))

lint: $(READY)
	ruff format --check --quiet .
	ruff check --quiet .
	mypy
	lint-imports --no-logo

soak: $(READY)  ## the tests that go on for minutes, ten each (SOAK_MINUTES=10)
	pytest -m soak

simulate: $(READY)  ## the protocol in a world that fails: SEEDS=1000 FROM=0, or replay one: SEED=17 (JOB=j_…)
	@python -m tests.simulation $(if $(SEED),--seed $(SEED) --job "$(JOB)",--seeds $(SEEDS) --from $(FROM))

mutate: $(READY)  ## take each guard of the protocol away, and see what catches it
	@python -m tests.simulation.mutate

bench: $(READY)  ## the benchmarks: prints ratios, writes bench/results.json
	python -m bench

openapi: $(READY)  ## write docs/openapi.json anew from the code
	python -c 'import json; from coatcheck.openapi import openapi; from coatcheck.registry import kinds; \
	print(json.dumps(openapi(kinds()), indent=2, ensure_ascii=False))' > docs/openapi.json

pins: $(READY)  ## resolve requirements*.txt and package-lock.json anew from pyproject.toml and package.json
	uv pip compile pyproject.toml --extra dev -o requirements-dev.txt $(PIN)
	uv pip compile pyproject.toml -c requirements-dev.txt -o requirements.txt $(PIN)
	npm install --package-lock-only

clean: down  ## stop the stack and remove its data and all that setup installed
	rm -rf .local .venv node_modules cdk.out

# The first interpreter that really runs and can make environments; a bare name may be a version manager's shim.
PYTHON ?= $(shell for python in python3.13 python3.12 python3.11 python3.14 python3 python; do \
	$$python -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)

.venv/.ready: requirements-dev.txt pyproject.toml
	@test -n '$(PYTHON)' || { echo 'Coatcheck needs Python 3.11 or newer with its venv module; name one: make PYTHON=/path/to/python3' >&2; exit 1; }
	@echo 'Installing the pinned Python packages into .venv …'
	@test -x $(BIN)/python || '$(PYTHON)' -m venv .venv
	@# uv itself is installed by pip from the same pins, by its hash
	@awk '/^uv==/ {found = 1} found {print} found && !/\\$$/ {exit}' requirements-dev.txt > .venv/uv.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r .venv/uv.txt
	@$(BIN)/uv pip sync --quiet --python $(BIN)/python --require-hashes requirements-dev.txt
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --offline --editable .
	@touch $@

node_modules/.ready: package-lock.json package.json | .venv/.ready
	@echo 'Installing the CDK command line into node_modules …'
	@$(BIN)/npm ci --silent
	@touch $@
