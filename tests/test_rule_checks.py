"""What rules wait for from checks: words that a check really says, from a check that exists."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import regex

from verl_doctor import checks
from verl_doctor.authoring.lint import lint
from verl_doctor.checks.examine import Subject, ask_interpreter, examine
from verl_doctor.knowledge.base import RuleBase
from verl_doctor.scan.database import Scanner

HERE = Path(checks.__file__).parent
SAMPLES = (
    "7",
    "3 GiB",
    "/tmp/cache",
    "prompt",
    "data_source",
    "data.train_files",
    "actor_rollout_ref.model.path",
    "actor_rollout_ref.actor.optim.lr_warmup_steps_ratio",
    "custom_reward_function.path",
    "update",
    "log_prob",
    "rollout",
    "weight sync",
    "The container's or job's memory",
    "This machine's memory",
)
"""What may stand where a check puts in a value."""
FILES = ("model.safetensors", "tokenizer.json")
"""Names that stand in front of the fault of a file."""


def texts(node: ast.expr, sample: str) -> set[str]:
    """The texts that an expression of literals, values and choices between them can give."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return {node.value}
    if isinstance(node, ast.JoinedStr):
        parts = [{sample} if isinstance(one, ast.FormattedValue) else texts(one, sample)
                 for one in node.values]  # fmt: skip
        return {"".join(chosen) for chosen in product(*parts)}
    if isinstance(node, ast.IfExp):
        return texts(node.body, sample) | texts(node.orelse, sample)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return {a + b for a, b in product(texts(node.left, sample), texts(node.right, sample))}
    return {sample}


@pytest.fixture(scope="module")
def said() -> str:
    """Everything that checks can say in English, a text a line."""
    found: set[str] = set()
    for path in HERE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value)
            elif isinstance(node, ast.JoinedStr | ast.BinOp):
                found.update(*(texts(node, sample) for sample in SAMPLES))
    named = [f"{file}: {text}" for file in FILES for text in found if text[:1].islower()]
    # nvidia-smi's own words, which a check passes on
    return "\n".join([*found, *named, "Failed to initialize NVML: Driver/library version mismatch"])


def hints(base: RuleBase) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each piece of evidence that a check gives, with its rule."""
    for name, plain in base.plains.items():
        for cause in plain.get("causes", ()):
            for hint in cause.get("evidence", ()):
                if hint.get("check"):
                    yield name, hint


def test_a_rule_waits_for_words_that_a_check_says(
    shipped: tuple[RuleBase, Scanner], said: str
) -> None:
    base, _ = shipped
    waits = [(rule, hint) for rule, hint in hints(base) if hint.get("matches")]
    assert len({rule for rule, _ in waits}) >= 100
    never = [
        (rule, hint["matches"])
        for rule, hint in waits
        if not regex.search(hint["matches"], said, regex.MULTILINE)
    ]
    assert never == []


def test_a_check_that_does_not_exist_is_told_with_the_nearest(
    shipped: tuple[RuleBase, Scanner],
) -> None:
    base, _ = shipped
    plain = base.plains["CUD002"]
    cause = {**plain["causes"][0], "evidence": [{"check": "env.gpu", "effect": "supports"}]}
    said = [str(one) for one in lint([{**plain, "causes": [cause]}])]
    assert any(text.endswith("no check is called 'env.gpu', but 'env.gpus' is") for text in said)


def test_a_check_that_does_not_exist_stops_no_other() -> None:
    python = sys.executable
    subject = Subject(python, ask_interpreter(python))
    found = list(examine(subject, ["env.nothing", "env.limits", "config.nothing"]))
    assert {one.check for one in found} == {"env.limits"}


def test_evidence_on_a_capture_that_no_pattern_has_is_told(
    shipped: tuple[RuleBase, Scanner],
) -> None:
    plain = shipped[0].plains["HF041"]
    hint = {"capture": "tokens", "more_than": "feature", "effect": "supports"}
    cause = {**plain["causes"][0], "evidence": [hint]}
    said = [str(one) for one in lint([{**plain, "causes": [cause]}])]
    assert any(text.endswith("nothing captures 'feature'") for text in said)
