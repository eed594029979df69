"""Prompts that are longer than data.max_prompt_length, counted with the model's own tokenizer."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.version import Version

from ...model import Fix, Severity, Text
from ..config.settings import Settings
from ..model.folder import MAX_JSON
from ..types import Result, ok, unknown
from .files import DataFile

CHECK = "data.lengths"
FILES_OF = ("actor_rollout_ref.model.tokenizer_path", "actor_rollout_ref.model.path")
MAX_ENCODED = 2_000
"""Prompts of a file that are encoded at most; those that can't be too long are not among them."""
MANY = 0.5
"""Share of dropped prompts from which it is more than a note."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What prompts are measured by."""

    tokenizer: Any
    tokens: int
    path: Path
    """The tokenizer's file."""


class Lengths:
    """How long the prompts of a file are, of those that were looked at."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.rows = 0
        """Rows that hold a list of messages."""
        self.longer = 0
        self.longest = 0
        self.failed = ""
        """Why the tokenizer is not fit for these prompts; then they are not looked at any more."""
        self._encoded = 0

    def add(self, prompt: Any) -> None:
        """Measures a row's prompt. Once MAX_ENCODED were encoded, nothing is looked at any more."""
        text = _text(prompt) if self._encoded < MAX_ENCODED and not self.failed else None
        if text is None:
            return
        self.rows += 1
        # no token is shorter than a byte
        if len(text.encode("utf-8", "replace")) <= self.limits.tokens:
            return
        self._encoded += 1
        try:
            length = _length(self.limits.tokenizer, text)
        except ValueError as error:
            self.failed = str(error)
            return
        self.longer += length > self.limits.tokens
        self.longest = max(self.longest, length)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What a release does with a prompt that is too long."""

    severity: Severity
    en: str
    zh: str
    rule: str


def limits(settings: Settings) -> tuple[Limits | None, list[Result]]:
    """The run's own tokenizer and limit; None where the `tokenizers` package, a local
    tokenizer.json or the limit is missing, with a result where that file can't be read."""
    limit = settings.get("data.max_prompt_length")
    path = _tokenizer_file(settings)
    if path is None or not isinstance(limit, int) or not importlib.util.find_spec("tokenizers"):
        return None, []
    import tokenizers

    try:
        if path.stat().st_size > MAX_JSON:
            raise ValueError(f"larger than {MAX_JSON >> 20} MiB")
        return Limits(tokenizers.Tokenizer.from_file(str(path)), limit, path), []
    except Exception as error:  # the package raises bare Exception
        return None, [
            unknown(CHECK, f"{path} can't be read: {error}.", f"无法读取 {path}：{error}。")
        ]


def _tokenizer_file(settings: Settings) -> Path | None:
    for key in FILES_OF:
        folder = settings.get(key)
        if isinstance(folder, str):
            path = Path(os.path.expanduser(folder)) / "tokenizer.json"
            return path if path.is_file() else None
    return None


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


def told(found: DataFile, counted: Lengths, settings: Settings) -> Iterator[Result]:
    """The share of prompts above the limit, and what the release does with them; nothing where no
    row holds a list of messages. Contents of messages are counted without the chat template: a
    lower bound."""
    limit = counted.limits.tokens
    if counted.failed:
        why = f"{counted.limits.path} can't encode: {counted.failed}."
        yield unknown(CHECK, why, f"{counted.limits.path} 无法编码：{counted.failed}。")
    if not counted.rows or counted.failed:
        return
    if not counted.longer:
        yield ok(
            CHECK,
            f"{found.path}: none of {counted.rows:,} prompts has more than {limit} tokens before "
            "the chat template.",
            f"{found.path}：{counted.rows:,} 条 prompt（未套 chat template）均不超过 {limit} 个 "
            "token。",
        )
        return
    outcome = _outcome(settings, counted.longer / counted.rows)
    share = f"{counted.longer:,} of {counted.rows:,}"
    yield Result(
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
