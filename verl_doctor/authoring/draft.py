"""A drafted rule with its example filled in, out of a line of a log."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..errors import RuleError
from ..knowledge.base import RuleBase
from ..logs.items import Done, Seen
from ..logs.reader import Reader
from ..logs.text import visible
from ..model import Block
from ..scan.colours import plain
from ..scan.database import Scanner

CONTEXT = 3
"""Lines above the decisive one that go into the example."""

_VARIABLE = re.compile(r"\b0x[0-9a-fA-F]+|\d+(?:\.\d+)?|'[^']{1,80}'|\"[^\"]{1,80}\"|/[\w./-]{3,}")

TEMPLATE = """\
id: {id}
slug: {slug}
status: experimental
severity: high
role: root
layer: {layer}
title:
  en: "TODO: what happened, with a capture in braces where it helps"
  zh: "TODO"
summary:
  en: "TODO: why, in one to three sentences."
  zh: "TODO"
match:
{match}
fingerprint: []
causes:
  - id: todo
    likelihood: medium
    text: {{en: "TODO: the reason.", zh: "TODO"}}
    fixes:
      - text: {{en: "TODO: what to do.", zh: "TODO"}}
        risk: low
references:
  - {{url: "https://TODO.example/", kind: source, checked: {today}}}
emitted_by: [TODO]
examples:
  match:
    - origin: genuine
      log: |
{example}
  no_match:
    - origin: synthetic
      log: "TODO: a near miss"
      because: "TODO"
"""


def next_id(base: RuleBase, layer: str) -> str:
    """The next free id of the layer's prefix; `USR001` for a layer without rules."""
    used = [rule for rule, plain in base.plains.items() if plain["layer"] == layer]
    if not used:
        return "USR001"
    prefix = max({re.sub(r"\d+$", "", rule) for rule in used}, key=len)
    numbers = [int(rule[len(prefix) :]) for rule in base.plains if rule[:-3] == prefix]
    return f"{prefix}{max(numbers) + 1:03}"


def pattern_of(text: str) -> str:
    """A regular expression for a message: its words as they are, what varies as captures."""
    parts, place = [], 0
    for count, found in enumerate(_VARIABLE.finditer(text), 1):
        parts.append(re.escape(text[place : found.start()]).replace("\\ ", " "))
        value = found.group()
        number = value[0].isdigit() and not value.startswith("0x")
        kind = r"\d+(?:\.\d+)?" if number else r"\S+?"
        if value[0] in "'\"":
            quote = value[0]
            parts.append(f"{quote}(?P<value{count}>[^{quote}]+){quote}")
        else:
            parts.append(f"(?P<value{count}>{kind})")
        place = found.end()
    parts.append(re.escape(text[place:]).replace("\\ ", " "))
    return "".join(parts)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def draft(
    base: RuleBase, scanner: Scanner, parts: Iterable[bytes], line: int, layer: str, today: str
) -> str:
    """The YAML of a drafted rule for a line of a log.

    Takes the log's chunks, the 1-based line, the layer and today's date (ISO). If the line lies
    in a traceback, the rule matches its exception. Errors: RuleError where there is no such line.
    """
    raw = plain(b"".join(parts))
    lines = raw.decode("utf-8", "replace").split("\n")
    if not 0 < line <= len(lines) or not lines[line - 1].strip():
        raise RuleError(f"the log has no text at line {line} (it has {len(lines)} lines)")
    seen, block = _at(scanner, raw, line)
    text = seen or lines[line - 1].strip()
    if block is not None:
        exc = next(one for one in block.chain if one.line <= line <= one.last_line)
        first = exc.message.partition("\n")[0][:300]
        match = f"  traceback:\n    - exception: {exc.name}\n"
        match += f"      message: {_quoted(pattern_of(first))}" if first else ""
        span = lines[block.first_line - 1 : exc.last_line]
        slug = exc.name
    else:
        fixed = [part.strip() for part in _VARIABLE.split(text) if len(part.strip()) >= 5]
        anchor = max(fixed, key=len, default=text[:40])
        match = f"  line:\n    - contains: {_quoted(anchor)}\n"
        match += f"      regex: {_quoted(pattern_of(text[:300]))}"
        span = lines[max(0, line - 1 - CONTEXT) : line]
        slug = anchor
    words = re.findall(r"[a-z0-9]+", re.sub(r"([a-z])([A-Z])", r"\1-\2", slug).lower())
    example = "\n".join(f"        {visible(one.split(chr(13))[-1])}" for one in span)
    return TEMPLATE.format(
        id=next_id(base, layer),
        slug="-".join(words[:6]) or "todo",
        layer=layer,
        match=match.rstrip(),
        today=today,
        example=example,
    )


def _at(scanner: Scanner, raw: bytes, line: int) -> tuple[str, Block | None]:
    """The peeled text of the line as the engine sees it, and the traceback it is a message of."""
    text, block = "", None
    reader = Reader(scanner, "draft")
    for item in reader.read([raw]):
        if isinstance(item, Seen) and item.line.number == line:
            text = item.line.text
        elif isinstance(item, Done) and any(
            exc.line <= line <= exc.last_line for exc in item.block.chain
        ):
            block = item.block
    return text.strip(), block
