# The only commands that people and CI run. `make help` lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
TRAIN := .venv-train
TORCH_VERSION := 2.13.0
# Threads that wait without spinning lose little on a quiet machine and much less on a busy one.
LEARN_THREADS ?= 2
LEARN := OMP_WAIT_POLICY=PASSIVE OMP_NUM_THREADS=$(LEARN_THREADS) $(TRAIN)/bin/python -m
PORT ?= 8000
TASK ?= hard
TESTS ?= tests
WORKERS ?= auto
OPENENV_VERSION := 0.10.0
INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check --no-input --no-deps --require-hashes

# What is installed in the environment counts, and nothing that the caller's shell has on its path.
unexport PYTHONPATH
unexport PYTHONHOME

.DEFAULT_GOAL := help
.PHONY: help run test check format lock tables docs bench baselines gate search serve baseline openenv-install openenv-check docker-build docker-smoke ci clean \
  train-venv train-lock train-test train-smoke learn

help:  ## List the commands.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# The two stamps: what running needs, and what developing needs on top.
$(VENV)/.installed: requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit("kubedrill needs Python 3.11 or newer; name one: make PYTHON=python3.12 …" if sys.version_info < (3, 11) else 0)'
	@test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV)
	$(INSTALL) -r requirements.txt
	@printf '%s\n%s\n' "$(CURDIR)" "$(CURDIR)/client" > "$$($(PY) -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/kubedrill.pth"
	@touch $@

$(VENV)/.developing: requirements-dev.txt $(VENV)/.installed
	$(INSTALL) -r requirements-dev.txt
	@touch $@

run: $(VENV)/.installed  ## Set up, start the embedded server, let the baseline work the incident of TASK (hard).
	$(PY) inference.py --task $(TASK)

test: $(VENV)/.developing  ## Set up and run the tests.
	$(PY) -m pytest -n $(WORKERS) $(TESTS)

check: $(VENV)/.developing  ## Lint, types, layers, shell syntax, generated files.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	for script in .ci/run tests/e2e/container.sh; do bash -n $$script || exit 1; done
	$(PY) -m pytest tests/test_generated.py

format: $(VENV)/.developing  ## Format the code.
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: $(VENV)/.developing  ## Resolve the dependencies again and write the locks.
	$(BIN)/uv pip compile pyproject.toml --generate-hashes --no-emit-index-url --universal --python-version 3.11 --upgrade --quiet --custom-compile-command 'make lock' -o requirements.txt
	$(BIN)/uv pip compile pyproject.toml --extra dev --generate-hashes --no-emit-index-url --universal --python-version 3.11 --upgrade --quiet --custom-compile-command 'make lock' -o requirements-dev.txt

tables: $(VENV)/.developing  ## Derive the API tables from the recorded facts again.
	$(PY) -m env_core.apiserver.data._generate
	$(PY) -m env_core.apiserver.data._generate_rbac tests/golden
	$(PY) -m env_core.apiserver.data._generate_defaults tests/golden

docs: $(VENV)/.developing  ## Write the generated pages of docs/ again.
	$(PY) -m env_core.catalogue docs

bench: $(VENV)/.developing  ## Measure against the budgets, beside a peer in the same run; writes bench.json.
	$(PY) -m tests.bench --json bench.json

baselines: $(VENV)/.developing  ## Measure simple policies on every fault of the repair suite; writes docs/baselines.json.
	$(PY) -m tests.baselines --seeds 0-19

gate: $(VENV)/.developing  ## Play every cheat on every fault of the repair suite.
	$(PY) -m tests.exploits.gate

search: $(VENV)/.developing  ## Search for cheats that the judge would accept (20,000 episodes).
	$(PY) -m tests.exploits.search

serve: $(VENV)/.installed  ## Serve on PORT (8000).
	$(PY) -m server.app --port $(PORT)

baseline: $(VENV)/.installed  ## Play the three official tasks with the baseline.
	$(PY) inference.py --task all

openenv-install: $(VENV)/.developing  ## Install the pinned OpenEnv command line (it is in the lock already).
	@$(PY) -c "import importlib.metadata as m; v = m.version('openenv'); assert v == '$(OPENENV_VERSION)', v; print('openenv', v)"

openenv-check: $(VENV)/.developing  ## Run both generations of `openenv validate` checks that need no container engine.
	$(BIN)/openenv validate --level static .
	$(PY) -m pytest tests/e2e/test_openenv_validate.py

docker-build:  ## Build the image with docker or podman, whichever answers.
	tests/e2e/container.sh build

docker-smoke:  ## Build the image, run it as the validator would, play an episode, stop it.
	tests/e2e/container.sh smoke

ci: check test openenv-check  ## What a change must pass.

# Training has an environment of its own, which never goes into the image. Where torch cannot be had, the stamp says so.
$(TRAIN)/.installed: training/requirements.txt
	@test -x $(TRAIN)/bin/pip || $(PYTHON) -m venv $(TRAIN)
	@if $(TRAIN)/bin/pip install --quiet --disable-pip-version-check --no-input torch==$(TORCH_VERSION); then \
	  $(TRAIN)/bin/pip install --quiet --disable-pip-version-check --no-input --no-deps --require-hashes -r training/requirements.txt && \
	  printf '%s\n%s\n' "$(CURDIR)" "$(CURDIR)/client" > "$$($(TRAIN)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/kubedrill.pth" && \
	  rm -f $(TRAIN)/.unavailable; \
	else touch $(TRAIN)/.unavailable; fi
	@touch $@

train-venv: $(TRAIN)/.installed  ## Set up the environment for training: torch, then the lock.
	@if test -e $(TRAIN)/.unavailable; then rm -f $(TRAIN)/.installed; echo "torch==$(TORCH_VERSION) cannot be had here: no training"; fi

train-lock: $(VENV)/.developing  ## Resolve the dependencies of training again and write their lock.
	$(BIN)/uv pip compile training/requirements.in --override training/overrides.txt --generate-hashes --no-emit-index-url --universal --python-version 3.11 --upgrade --quiet --custom-compile-command 'make train-lock' -o training/requirements.txt

train-test: $(VENV)/.installed train-venv  ## Run the tests of training with torch.
	@if test -e $(TRAIN)/.unavailable; then echo "train-test: not run"; \
	else $(TRAIN)/bin/python -m pytest --noconftest -W default -p no:cacheprovider tests/training; fi

train-smoke: $(VENV)/.installed train-venv  ## Two minutes: 20 steps of imitation and 5 of GRPO through two servers.
	@if test -e $(TRAIN)/.unavailable; then echo "train-smoke: not run"; \
	else $(LEARN) training.smoke; fi

learn: $(VENV)/.installed train-venv  ## The proof that it teaches, on two cores; writes training/results.
	@if test -e $(TRAIN)/.unavailable; then echo "learn: not run"; \
	else $(LEARN) training.learn training/configs/cpu-tiny.yaml; fi

clean:  ## Remove what the other commands made.
	rm -rf $(VENV) $(TRAIN) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache bench.json uv.lock
