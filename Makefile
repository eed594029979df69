# `make check` is what CI runs, in an environment that has `pip install -e . --group dev`.
PYTHON ?= python
.PHONY: check lint types contracts rules test wheel docs score

check: lint types contracts rules test wheel

lint:
	ruff check .
	ruff format --check .

types:
	mypy

contracts:
	lint-imports

rules:
	verl-doctor rules lint
	verl-doctor rules test

test:
	$(PYTHON) -m pytest -n 2

# the built wheel carries the rules and works without the checkout
wheel:
	$(PYTHON) tests/wheel_smoke.py

# generated from the rules each time, and not kept: it can't drift
docs:
	$(PYTHON) scripts/gen_docs.py docs/site

# CASES=/path/to/cases: a folder with cases.jsonl, logs/ and score.py
score:
	$(PYTHON) $(CASES)/score.py --cmd verl-doctor --show
