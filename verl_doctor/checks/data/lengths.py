"""Prompts that are longer than data.max_prompt_length, counted with the model's own tokenizer."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.version import Version

from ...model import Fix, Severity, Text
from ..config.settings import Settings
from ..types import Result, ok, unknown
from .files import Columns, DataFile
from .sample import undamaged

CHECK = "data.lengths"
FILES_OF = ("actor_rollout_ref.model.tokenizer_path", "actor_rollout_ref.model.path")
MAX_ENCODED = 2_000
"""Prompts of a file that are encoded at most; those that can't be too long are not among them."""
MANY = 0.5
"""Share of dropped prompts from which it is more than a note."""


@dataclass(frozen=True, slots=True)
class _Count:
    rows: int
    longer: int
    longest: int


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What a release does with a prompt that is too long."""

    severity: Severity
    en: str
    zh: str
    rule: str


def check(files: Sequence[DataFile], columns: Columns, settings: Settings) -> Iterator[Result]:
    """The share of prompts above the limit, and what the release does with them.

    Counts the contents of the messages without the chat template: a lower bound. Says nothing
    where the `tokenizers` package, a local tokenizer.json or the limit is missing.
    """
    limit = settings.get("data.max_prompt_length")
    path = _tokenizer_file(settings)
    if path is None or not isinstance(limit, int) or not importlib.util.find_spec("tokenizers"):
        return
    import tokenizers

    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(path))
    except Exception as error:  # the package raises bare Exception
        yield unknown(CHECK, f"{path} can't be read: {error}.", f"无法读取 {path}：{error}。")
        return
    for found in files:
        try:
            counted = _count(found, columns.prompt, tokenizer, limit)
        except ValueError as error:
            yield unknown(CHECK, f"{path} can't encode: {error}.", f"{path} 无法编码：{error}。")
            return
        if counted is not None:
            yield _told(found, counted, limit, settings)


def _tokenizer_file(settings: Settings) -> Path | None:
    for key in FILES_OF:
        folder = settings.get(key)
        if isinstance(folder, str):
            path = Path(os.path.expanduser(folder)) / "tokenizer.json"
            return path if path.is_file() else None
    return None


def _count(found: DataFile, column: str, tokenizer: Any, limit: int) -> _Count | None:
    """Counts; None where no row holds a list of messages."""
    rows = longer = longest = encoded = 0
    for batch in undamaged(found, [column]):
        for row in batch:
            text = _text(row.get(column))
            if text is None:
                continue
            rows += 1
            # no token is shorter than a byte
            if len(text.encode("utf-8", "replace")) <= limit:
                continue
            encoded += 1
            length = _length(tokenizer, text)
            longer += length > limit
            longest = max(longest, length)
            if encoded >= MAX_ENCODED:
                return _Count(rows, longer, longest)
    return _Count(rows, longer, longest) if rows else None


def _length(tokenizer: Any, text: str) -> int:
    """The tokens of a text. Raises ValueError for a tokenizer that is not fit for it: the package
    raises bare Exception, and where its Rust panics what is no Exception at all."""
    try:
        return len(tokenizer.encode(text, add_special_tokens=False).ids)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        raise ValueError(str(error)) from error


def _text(prompt: Any) -> str | None:
    """The contents of the messages, of their text parts where they have parts."""
    if not isinstance(prompt, list):
        return None
    texts: list[str] = []
    for message in prompt:
        content = message.get("content") if isinstance(message, Mapping) else None
        parts = content if isinstance(content, list) else [{"text": content}]
        for part in parts:
            text = part.get("text") if isinstance(part, Mapping) else None
            if isinstance(text, str):
                texts.append(text)
    return "\n".join(texts)


def _told(found: DataFile, counted: _Count, limit: int, settings: Settings) -> Result:
    if not counted.longer:
        return ok(
            CHECK,
            f"{found.path}: none of {counted.rows:,} prompts has more than {limit} tokens before "
            "the chat template.",
            f"{found.path}：{counted.rows:,} 条 prompt（未套 chat template）均不超过 {limit} 个 "
            "token。",
        )
    outcome = _outcome(settings, counted.longer / counted.rows)
    share = f"{counted.longer:,} of {counted.rows:,}"
    return Result(
        CHECK,
        "fault",
        Text(
            f"{found.path}: at least {share} prompts have more than data.max_prompt_length "
            f"{limit} tokens, the longest {counted.longest:,}: {outcome.en}.",
            f"{found.path}：{counted.rows:,} 条 prompt 中至少 {counted.longer:,} 条超过 "
            f"data.max_prompt_length {limit}，最长 {counted.longest:,}：{outcome.zh}。",
        ),
        outcome.severity,
        (f"data.filter_overlong_prompts={settings.get('data.filter_overlong_prompts')}",),
        Fix(
            Text("Leave them out, or raise data.max_prompt_length:", "过滤，或调大上限："),
            set=f"data.filter_overlong_prompts=True data.max_prompt_length={limit}",
        ),
        outcome.rule,
    )


def _outcome(settings: Settings, share: float) -> _Outcome:
    """rl_dataset.py and agent_loop.py of each release: up to 0.6 the dataset obeys data.truncation,
    0.7 neither cuts nor refuses and fails where the batch is put together, from 0.8 on the agent
    loop cuts the beginning."""
    if settings.get("data.filter_overlong_prompts") is True:
        if share == 1:
            return _Outcome("high", "the filter drops all of them", "过滤后一条不剩", "VRL020")
        severity: Severity = "medium" if share >= MANY else "low"
        return _Outcome(severity, "the filter drops these", "会被过滤掉", "")
    version = Version(settings.release)
    if version >= Version("0.8"):
        return _Outcome(
            "medium",
            "verl cuts their beginning, the system prompt first",
            "verl 会截掉开头，最先丢掉系统提示",
            "VRL087",
        )
    if version >= Version("0.7"):
        return _Outcome(
            "high",
            "verl neither drops nor cuts them, and the batch can't be put together",
            "verl 既不过滤也不截断，拼 batch 时会报错",
            "",
        )
    cut = settings.get("data.truncation")
    if cut == "error":
        return _Outcome("critical", "verl stops at the first", "verl 遇到第一条即报错", "VRL025")
    return _Outcome("medium", f"verl cuts them ({cut})", f"verl 会截断（{cut}）", "")
