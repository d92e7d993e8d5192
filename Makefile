SHELL := /bin/bash
.DEFAULT_GOAL := help
PYTHON ?= python3
BIN := .venv/bin

##@ Use it
.PHONY: run
run: .venv/run.stamp ## Install what is needed and serve on http://127.0.0.1:8080
	@$(BIN)/jackpot run

##@ Work on it
.PHONY: test
test: .venv/dev.stamp ## Every check and every suite, against real servers
	@deploy/bin/test-tools
	@$(MAKE) --no-print-directory check
	@$(BIN)/pytest -n 2 --dist loadfile

.PHONY: check
check: .venv/dev.stamp ## Format, lint, types, import rules
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

.PHONY: bench
bench: .venv/dev.stamp ## Measure against limits and peers; writes docs/performance.md
	@$(BIN)/python -m deploy.bench

.PHONY: docs
docs: .venv/dev.stamp ## Write the reference pages (settings, error codes) from the code
	@$(BIN)/python -m deploy.reference

.PHONY: lock
lock: .venv/dev.stamp ## Resolve dependencies anew and write the lock files
	@$(BIN)/uv pip compile --quiet --upgrade --universal --generate-hashes --no-header --no-annotate --no-emit-index-url \
	  --system-certs pyproject.toml --group build --output-file requirements.lock
	@$(BIN)/uv pip compile --quiet --upgrade --universal --generate-hashes --no-header --no-annotate --no-emit-index-url \
	  --system-certs pyproject.toml --group dev --output-file requirements-dev.lock

.PHONY: clean
clean: ## Remove the virtual environment and caches; keeps var/, where the meters are
	@rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache *.egg-info build

.PHONY: help
help: ## This list
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} \
	  /^[a-z-]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.venv/bin/python:
	@deploy/bin/make-venv $(PYTHON)

.venv/run.stamp: requirements.lock pyproject.toml | .venv/bin/python
	@deploy/bin/install requirements.lock
	@touch $@

.venv/dev.stamp: requirements-dev.lock pyproject.toml | .venv/bin/python
	@deploy/bin/install requirements-dev.lock
	@touch $@ .venv/run.stamp
