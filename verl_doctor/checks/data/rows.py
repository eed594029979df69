"""What stands in the rows: messages, ground truth, sources, lengths, duplicates."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...knowledge import verl_config
from ...model import Fix, Severity, Text
from ..config.settings import UNKNOWN, Settings
from ..types import Result, ok
from .files import Columns, DataFile

CHECK = "data.rows"
DUPLICATES_FROM = 0.05
"""Share of repeated prompts from which it is told; some repetition is usual in mixed sets."""


class Rows:
    """What has been seen of a file's rows."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.rows = 0
        self.prompt_missing = 0
        self.prompt_odd = 0
        self.odd = ""
        """What is wrong with the first odd prompt."""
        self.truth_missing = 0
        self.sources: Counter[str] = Counter()
        self.prompts: Counter[bytes] = Counter()
        """Digest of a prompt -> how often it was seen."""

    @property
    def repeated(self) -> int:
        """Rows whose prompt an earlier row had."""
        return self.prompts.total() - len(self.prompts)

    def add(self, row: Mapping[str, Any]) -> None:
        """Looks at one row."""
        self.rows += 1
        columns = self.columns
        if columns.prompt in row:
            prompt = row[columns.prompt]
            if prompt is None or prompt in ("", []):
                self.prompt_missing += 1
            elif isinstance(prompt, list) and (fault := _odd(prompt)):
                self.prompt_odd += 1
                self.odd = self.odd or fault
            self.prompts[_digest(prompt)] += 1
        truth = row.get("reward_model")
        if "reward_model" in row and (
            truth is None or (isinstance(truth, dict) and truth.get("ground_truth") is None)
        ):
            self.truth_missing += 1
        if isinstance(row.get(columns.source), str):
            self.sources[row[columns.source]] += 1


def _odd(messages: list[Any]) -> str:
    """What is wrong with a list of messages; empty if nothing is."""
    for message in messages:
        if not isinstance(message, dict):
            return f"a message is {type(message).__name__}"
        if not message.get("role") or message.get("content") is None:
            return "a message without role or content"
    if messages[-1]["role"] == "assistant":
        return "the last message is the assistant's: the answer stands in the prompt"
    return ""


def _digest(prompt: Any) -> bytes:
    text = json.dumps(prompt, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()


def told(found: DataFile, seen: Rows, settings: Settings) -> Iterator[Result]:
    """What is to be said of the rows of a file; nothing where it has none."""
    if not seen.rows:
        return
    faults = [*_faults(found, seen), *_sources(found, seen, settings)]
    yield from faults
    if not faults:
        yield ok(
            CHECK,
            f"{found.path}: {seen.rows:,} rows were read, nothing stands out.",
            f"{found.path}：已读取 {seen.rows:,} 行，未见异常。",
            *(f"{name}: {count}" for name, count in seen.sources.most_common(5)),
        )


def _faults(found: DataFile, seen: Rows) -> Iterator[Result]:
    def fault(severity: Severity, en: str, zh: str, *shown: str, rule: str = "") -> Result:
        text = Text(f"{found.path}: {en}", f"{found.path}：{zh}")
        return Result(CHECK, "fault", text, severity, shown, None, rule)

    def of(count: int) -> str:
        return f"{count:,} of {seen.rows:,} rows"

    def of_zh(count: int) -> str:
        return f"{seen.rows:,} 行中有 {count:,} 行"

    if seen.prompt_missing:
        yield fault(
            "critical",
            f"{of(seen.prompt_missing)} have nothing in `{seen.columns.prompt}`.",
            f"{of_zh(seen.prompt_missing)}的 `{seen.columns.prompt}` 为空。",
            rule="VRL021",
        )
    if seen.prompt_odd:
        answer = "assistant" in seen.odd
        yield fault(
            "medium" if answer else "critical",
            f"in {of(seen.prompt_odd)}: {seen.odd}.",
            f"{of_zh(seen.prompt_odd)}的 `{seen.columns.prompt}` 有问题：{seen.odd}。",
        )
    if seen.truth_missing:
        yield fault(
            "high",
            f"{of(seen.truth_missing)} have no reward_model.ground_truth.",
            f"{of_zh(seen.truth_missing)}没有 reward_model.ground_truth。",
            rule="VRL042",
        )
    if seen.repeated / seen.rows >= DUPLICATES_FROM:
        yield fault(
            "low",
            f"{of(seen.repeated)} repeat a prompt that was there before.",
            f"{of_zh(seen.repeated)}与前面的 prompt 重复。",
        )


def _sources(found: DataFile, seen: Rows, settings: Settings) -> Iterator[Result]:
    """Sources for which verl's own reward function has no scorer, where it is the one in use."""
    own = ("reward.custom_reward_function.path", "custom_reward_function.path")
    manager = ("reward.reward_manager.name", "reward_model.reward_manager")
    given = [settings.get(key) for key in own]
    named = [settings.get(key) for key in manager if key in settings.given]
    if any(value is UNKNOWN or value for value in (*given, *named)) or settings.incomplete:
        return
    strange = [name for name in seen.sources if not verl_config.scores(settings.release, name)]
    if strange:
        yield Result(
            CHECK,
            "fault",
            Text(
                f"{found.path}: verl {settings.release} has no reward function for data_source "
                + ", ".join(repr(name) for name in strange[:5])
                + ".",
                f"{found.path}：verl {settings.release} 没有 data_source 为 "
                + "、".join(repr(name) for name in strange[:5])
                + " 的奖励函数。",
            ),
            "high",
            (f"Reward function is not implemented for data_source={strange[0]!r}",),
            Fix(
                Text("Bring your own.", "提供自定义奖励函数。"),
                set=f"{own[0] if settings.has(own[0]) else own[1]}=/abs/path/reward.py",
            ),
            "VRL040",
        )


def overlap(train: Sequence[Rows], validation: Sequence[Rows]) -> Iterator[Result]:
    """Prompts that stand in the training and in the validation files."""
    held_out = {digest for seen in validation for digest in seen.prompts}
    rows = sum(seen.prompts.total() for seen in train)
    shared = sum(
        count for seen in train for digest, count in seen.prompts.items() if digest in held_out
    )
    if shared:
        yield Result(
            CHECK,
            "fault",
            Text(
                f"{shared:,} of {rows:,} training prompts stand in the validation files too "
                f"({len(held_out):,} prompts): its scores tell nothing about new ones.",
                f"{rows:,} 条训练 prompt 中有 {shared:,} 条也在验证集（{len(held_out):,} 条）中："
                "验证分数不能反映泛化能力。",
            ),
            "medium",
        )
