"""What stands in the rows: messages, ground truth, sources, lengths, duplicates."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...knowledge import verl_config
from ...model import Fix, Severity, Text
from ..config.settings import UNKNOWN, Settings
from ..types import Result, ok
from .files import Columns, DataFile, unreadable
from .sample import sampled, undamaged

CHECK = "data.rows"
DUPLICATES_FROM = 0.05
"""Share of repeated prompts from which it is told; some repetition is usual in mixed sets."""
MAX_HASHES = 2_000_000


@dataclass(slots=True)
class _Seen:
    rows: int = 0
    prompt_missing: int = 0
    prompt_odd: int = 0
    odd: str = ""
    truth_missing: int = 0
    repeated: int = 0
    sources: Counter[str] = field(default_factory=Counter)
    hashes: set[bytes] = field(default_factory=set)


def check(
    files: Sequence[DataFile],
    columns: Columns,
    settings: Settings,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[Result]:
    """Looks at the rows of each file, and says how many it read, or that it can't be read."""
    for number, found in enumerate(files):
        seen = _Seen()
        try:
            for batch in sampled(found, [columns.prompt, columns.source, "reward_model"]):
                for row in batch:
                    _row(row, columns, seen)
                if progress is not None:
                    progress(number, seen.rows)
        except (OSError, ValueError, MemoryError) as error:
            yield unreadable(found.path, found.kind, error)
            continue
        if seen.rows:
            yield from _told(found, seen, columns, settings)


def _row(row: dict[str, Any], columns: Columns, seen: _Seen) -> None:
    seen.rows += 1
    if columns.prompt in row:
        prompt = row[columns.prompt]
        if prompt is None or prompt in ("", []):
            seen.prompt_missing += 1
        elif isinstance(prompt, list) and (fault := _odd(prompt)):
            seen.prompt_odd += 1
            seen.odd = seen.odd or fault
        digest = _digest(prompt)
        seen.repeated += digest in seen.hashes
        if len(seen.hashes) < MAX_HASHES:
            seen.hashes.add(digest)
    truth = row.get("reward_model")
    if "reward_model" in row and (
        truth is None or (isinstance(truth, dict) and truth.get("ground_truth") is None)
    ):
        seen.truth_missing += 1
    if isinstance(row.get(columns.source), str):
        seen.sources[row[columns.source]] += 1


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


def _told(found: DataFile, seen: _Seen, columns: Columns, settings: Settings) -> Iterator[Result]:
    before = len(results := list(_faults(found, seen, columns, settings)))
    yield from results
    if not before:
        yield ok(
            CHECK,
            f"{found.path}: {seen.rows:,} rows were read, nothing stands out.",
            f"{found.path}：已读取 {seen.rows:,} 行，未见异常。",
            *(f"{name}: {count}" for name, count in seen.sources.most_common(5)),
        )


def _faults(found: DataFile, seen: _Seen, columns: Columns, settings: Settings) -> Iterator[Result]:
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
            f"{of(seen.prompt_missing)} have nothing in `{columns.prompt}`.",
            f"{of_zh(seen.prompt_missing)}的 `{columns.prompt}` 为空。",
            rule="VRL021",
        )
    if seen.prompt_odd:
        answer = "assistant" in seen.odd
        yield fault(
            "medium" if answer else "critical",
            f"in {of(seen.prompt_odd)}: {seen.odd}.",
            f"{of_zh(seen.prompt_odd)}的 `{columns.prompt}` 有问题：{seen.odd}。",
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
    yield from _sources(found, seen, settings)


def _sources(found: DataFile, seen: _Seen, settings: Settings) -> Iterator[Result]:
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


def _digests(found: DataFile, columns: Columns) -> Iterator[bytes]:
    """The prompts of a file up to a damaged place, of which `check` tells."""
    for batch in undamaged(found, [columns.prompt]):
        yield from (_digest(row[columns.prompt]) for row in batch)


def overlap(
    train: Sequence[DataFile], validation: Sequence[DataFile], columns: Columns
) -> Iterator[Result]:
    """Prompts that stand in the training and in the validation files."""
    if not train or not validation:
        return
    held_out: set[bytes] = set()
    shared = rows = 0
    for found in validation:
        held_out.update(_digests(found, columns))
    for found in train:
        for digest in _digests(found, columns):
            rows += 1
            shared += digest in held_out
    if shared and held_out:
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
