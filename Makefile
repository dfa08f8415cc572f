# Two commands do all the set-up on a fresh machine: `make play` and `make test`.
PYTHON ?= python3
VENV := .venv
WORKERS ?= 2
PY := $(VENV)/bin/python

.PHONY: play lab test check bench corpus conformance lock clean

play: $(VENV)/.run        ## the bot in the playground, in your browser
	$(PY) -m bot play $(ARGS)

lab: $(VENV)/.dev         ## the same page on a real control plane, Kueue, Gitea, Flux, Prometheus (needs Go, root)
	$(PY) -m tests.lab $(ARGS)

test: $(VENV)/.dev        ## every test this machine can run; the others say why they are skipped
	$(PY) -m pytest -n $(WORKERS) --dist loadfile $(ARGS)

check: $(VENV)/.dev       ## lint, format, types, architecture
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(VENV)/bin/lint-imports

bench: $(VENV)/.dev       ## the design's performance goals, one line each
	$(PY) -m bench $(ARGS)

corpus: $(VENV)/.dev      ## edit every quota in a folder of manifests: make corpus CORPUS=DIR
	$(PY) -m tests.gitops.corpus $(CORPUS)

conformance: $(VENV)/.dev ## 1,000 random trees against the real Kueue
	GPUBOT_CONFORMANCE_TREES=1000 $(PY) -m pytest tests/conformance $(ARGS)

lock:                     ## write the requirement locks anew (needs uv)
	uv pip compile -q --generate-hashes --no-emit-index-url --no-header --no-annotate \
	  --python-version 3.11 pyproject.toml -o requirements.lock
	uv pip compile -q --generate-hashes --no-emit-index-url --no-header --no-annotate \
	  --python-version 3.11 --group dev pyproject.toml -c requirements.lock -o requirements-dev.lock

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Gpubot needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: requirements.lock | $(VENV)/bin/python
	$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@touch $@

$(VENV)/.dev: requirements-dev.lock pyproject.toml | $(VENV)/bin/python
	$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@ $(VENV)/.run
