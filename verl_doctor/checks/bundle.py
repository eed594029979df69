"""The results of checks as a file, so that a log can be diagnosed away from the machine of its run.

A bundle is JSON, masked, and small. It holds what was seen and no commands: what is made to be
pasted into a shell comes from this program alone, never from a file. It is read as a stranger's
text: bounded in size, every value checked, nothing taken over that is not known.
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, TypeVar, get_args

from ..errors import BundleError
from ..logs.json_text import json_text
from ..logs.mask import mask
from ..logs.text import visible
from ..model import SEVERITIES, Fix, Text
from .names import SUBJECTS
from .types import Result, State

KIND = "verl-doctor checks"
SCHEMA_VERSION = 1
MAX_BYTES = 4 << 20
MAX_RESULTS = 2_000
MAX_SEEN = 200
"""Lines of what one result saw."""
MAX_TEXT = 4_000
"""Characters of one text."""
LATEST = 4e9
"""Seconds since the epoch that a clock can show (the year 2096)."""
OFFSET = 86_400
"""Seconds that a time zone is off UTC, at the very most."""
CHECKS = (*SUBJECTS, "env.smoke")
STATES: tuple[State, ...] = get_args(State)
_Known = TypeVar("_Known")


@dataclass(frozen=True, slots=True)
class Bundle:
    """What checks found, where and when."""

    host: str
    made_at: float
    """Seconds since the epoch."""
    utc_offset: float
    """Seconds that the machine's clock was ahead of UTC."""
    python: str
    """The interpreter that was asked."""
    verl: str
    """The release that counted; empty where none was known."""
    results: tuple[Result, ...]

    @property
    def when(self) -> str:
        """When it was made: `2026-12-01 10:00 UTC`."""
        return datetime.fromtimestamp(self.made_at, timezone.utc).strftime("%Y-%m-%d %H:%M UTC")

    def older_than(self, clock: float) -> bool:
        """Whether it was made before a time that a log of its machine tells: such a clock shows
        local time or UTC, and does not say which."""
        return self.made_at < clock - max(0.0, self.utc_offset)

    @property
    def where(self) -> str:
        """Where and when the results were seen."""
        return f"{self.host}, {self.when}"


def made_here(results: Sequence[Result], python: str, verl: str, now: float) -> Bundle:
    """The bundle of what was found on this machine at that time (seconds since the epoch)."""
    offset = time.localtime(now).tm_gmtoff
    return Bundle(socket.gethostname(), now, offset, python, verl, tuple(results))


def written(bundle: Bundle) -> str:
    """The bundle as JSON, without secrets and home folders."""
    document = {
        "kind": KIND,
        "schema_version": SCHEMA_VERSION,
        "host": mask(bundle.host),
        "made_at": round(bundle.made_at, 3),
        "utc_offset": bundle.utc_offset,
        "python": mask(bundle.python),
        "verl": bundle.verl,
        "results": [_plain(one) for one in bundle.results[:MAX_RESULTS]],
    }
    return json_text(document, indent=1)


def _plain(one: Result) -> dict[str, Any]:
    return {
        "check": one.check,
        "state": one.state,
        "severity": one.severity,
        "rule": one.rule,
        "text": _words(one.text),
        "seen": [mask(visible(line, MAX_TEXT)) for line in one.seen[:MAX_SEEN]],
        "fix": _words(one.fix.text) if one.fix is not None else None,
    }


def _words(text: Text) -> dict[str, str]:
    return {"en": mask(visible(text.en, MAX_TEXT)), "zh": mask(visible(text.zh, MAX_TEXT))}


def read(path: str) -> Bundle:
    """The bundle in a file. Raises BundleError, which says what is wrong with it."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise BundleError(f"{path}: {error.strerror}") from error
    if len(data) > MAX_BYTES:
        raise BundleError(f"{path} is larger than {MAX_BYTES >> 20} MiB: it is no bundle of checks")
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BundleError(f"{path} is no JSON: {error}") from error
    if not isinstance(document, dict) or document.get("kind") != KIND:
        raise BundleError(f"{path} is no bundle; `verl-doctor check --save FILE` makes one")
    if document.get("schema_version") != SCHEMA_VERSION:
        raise BundleError(
            f"{path} has schema_version {document.get('schema_version')!r:.40}, this verl-doctor "
            f"reads {SCHEMA_VERSION}: use the release that made it"
        )
    try:
        return _bundle(document)
    except _Wrong as wrong:
        raise BundleError(f"{path}: {wrong}") from wrong


class _Wrong(Exception):
    """What a value should be, and where it stands."""


def _bundle(document: Mapping[str, Any]) -> Bundle:
    results = document.get("results")
    if not isinstance(results, list) or len(results) > MAX_RESULTS:
        raise _Wrong(f"results is no list of at most {MAX_RESULTS}")
    return Bundle(
        _text(document, "host"),
        _number(document, "made_at", 0, LATEST),
        _number(document, "utc_offset", -OFFSET, OFFSET),
        _text(document, "python"),
        _text(document, "verl"),
        tuple(_result(one, f"results[{i}]") for i, one in enumerate(results)),
    )


def _result(one: Any, place: str) -> Result:
    if not isinstance(one, dict):
        raise _Wrong(f"{place} is no object")
    seen = one.get("seen")
    if not isinstance(seen, list) or len(seen) > MAX_SEEN:
        raise _Wrong(f"{place}.seen is no list of at most {MAX_SEEN}")
    fix = one.get("fix")
    return Result(
        _one_of(CHECKS, one, "check", place),
        _one_of(STATES, one, "state", place),
        _both(one.get("text"), f"{place}.text"),
        _one_of(SEVERITIES, one, "severity", place),
        tuple(_shown(line, f"{place}.seen") for line in seen),
        Fix(_both(fix, f"{place}.fix"), risk="none") if fix is not None else None,
        _shown(one.get("rule"), f"{place}.rule")[:12],
    )


def _one_of(known: Sequence[_Known], one: Mapping[str, Any], key: str, place: str) -> _Known:
    for word in known:
        if one.get(key) == word:
            return word
    raise _Wrong(f"{place}.{key} is none of {', '.join(map(str, known))}")


def _number(mapping: Mapping[str, Any], key: str, least: float, most: float) -> float:
    value = mapping.get(key)
    if not isinstance(value, int | float) or not least <= value <= most:  # NaN is neither
        raise _Wrong(f"{key} is no number from {least:g} to {most:g}")
    return float(value)


def _both(value: Any, place: str) -> Text:
    if not isinstance(value, dict):
        raise _Wrong(f"{place} is no object")
    return Text(_text(value, "en", place), _text(value, "zh", place))


def _text(mapping: Mapping[str, Any], key: str, place: str = "") -> str:
    return _shown(mapping.get(key), f"{place}.{key}".lstrip("."))


def _shown(value: Any, place: str) -> str:
    if not isinstance(value, str):
        raise _Wrong(f"{place} is no text")
    # half surrogate pairs, which JSON can spell and no stream can print, go
    return visible(value.encode("utf-8", "replace").decode(), MAX_TEXT)


def schema() -> dict[str, Any]:
    """JSON Schema of a bundle."""
    text = {"type": "string", "maxLength": MAX_TEXT}
    both = {
        "type": "object",
        "properties": {"en": text, "zh": text},
        "required": ["en", "zh"],
    }
    result = {
        "type": "object",
        "properties": {
            "check": {"enum": list(CHECKS)},
            "state": {"enum": list(STATES)},
            "severity": {"enum": list(SEVERITIES), "description": "how bad, where it is a fault"},
            "rule": {"type": "string", "description": "what would report it from a log, or empty"},
            "text": both,
            "seen": {"type": "array", "items": text, "maxItems": MAX_SEEN},
            "fix": {"anyOf": [both, {"type": "null"}]},
        },
        "required": ["check", "state", "severity", "rule", "text", "seen", "fix"],
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What `verl-doctor check --save` writes",
        "type": "object",
        "properties": {
            "kind": {"const": KIND},
            "schema_version": {"const": SCHEMA_VERSION},
            "host": text,
            "made_at": {"type": "number", "description": "seconds since the epoch"},
            "utc_offset": {"type": "number", "description": "seconds its clock was ahead of UTC"},
            "python": {**text, "description": "the interpreter that was asked"},
            "verl": {**text, "description": "the release that counted, or empty"},
            "results": {"type": "array", "items": result, "maxItems": MAX_RESULTS},
        },
        "required": [
            "kind",
            "schema_version",
            "host",
            "made_at",
            "utc_offset",
            "python",
            "verl",
            "results",
        ],
    }
