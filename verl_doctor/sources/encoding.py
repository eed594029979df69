"""Bytes in any encoding that logs come in to UTF-8."""

from __future__ import annotations

import codecs
from collections.abc import Iterator

from verl_doctor import lazy
from verl_doctor.sources.sniff import utf16
from verl_doctor.sources.types import Notes

SAMPLE = 1 << 16
"""Bytes from the first non-ASCII one on that decide between UTF-8 and GB18030."""

_ENOUGH = 32
"""Characters of three bytes and more that settle it for UTF-8; a few signs alone do not."""

_HIGH = lazy.compile(rb"[\x80-\xff]")
_BOM8 = codecs.BOM_UTF8


def unicode_blocks(head: bytes, blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Drops a byte order mark and turns UTF-16 into UTF-8.

    Takes the first bytes of the content and the blocks that hold it, the head included (cut
    anywhere). Yields blocks, cut anywhere; what is not UTF-16 passes unchanged. Code units that are
    no text become U+FFFD.
    """
    codec = utf16(head)
    if codec is None:
        skip = len(_BOM8) if head.startswith(_BOM8) else 0
        for block in blocks:
            if skip:
                dropped = min(skip, len(block))
                block, skip = block[dropped:], skip - dropped
            if block:
                yield block
        return
    decoder = codecs.getincrementaldecoder(codec)("replace")
    first = True
    for block in blocks:
        text = decoder.decode(block)
        if first and text:
            text, first = text.removeprefix("\ufeff"), False
        if text:
            yield text.encode("utf-8", "replace")
    if tail := decoder.decode(b"", True):
        yield tail.encode("utf-8", "replace")


def chinese_lines(chunks: Iterator[bytes], notes: Notes) -> Iterator[bytes]:
    """Turns a GB18030 log into UTF-8, and says so in `notes`.

    Takes chunks of whole lines and yields as many. ASCII reads the same in both encodings, so the
    choice waits for other bytes; once it is made, a UTF-8 log passes untouched. A log that
    mixes both (the shell prints one, Python the other) is taken line by line.
    """
    undecided = True
    gb18030 = False
    for chunk in chunks:
        if undecided and not chunk.isascii():
            verdict = _guess(chunk)
            undecided = verdict is None
            gb18030 = verdict is True
            if gb18030:
                notes.say("is not UTF-8; read as GB18030 (Chinese).")
        yield _mixed(chunk) if gb18030 and not chunk.isascii() else chunk


def _guess(chunk: bytes) -> bool | None:
    """True for GB18030, False for UTF-8, None where too little speaks for either."""
    found = _HIGH.search(chunk)
    start = found.start() if found else 0
    sample = chunk[start : start + SAMPLE]
    good = chinese = broken = 0
    lines = sample.split(b"\n")
    if len(lines) > 1 and start + SAMPLE < len(chunk):
        lines.pop()  # cut by the end of the sample
    for line in lines:
        if line.isascii():
            continue
        text = _utf8(line, whole=len(lines) > 1)
        if text is not None:
            good += sum(c >= "\u0800" for c in text)
        elif _plausible_gb18030(line):
            chinese += 1
        else:
            broken += 1
    if chinese > broken:
        return True
    return False if good >= _ENOUGH else None


def _plausible_gb18030(line: bytes) -> bool:
    """At least two characters of everyday Chinese, and hardly anything else above ASCII.

    Everyday means GB 2312: full-width punctuation and hanzi, mostly of its first level, the 3755
    common ones. Other single-byte encodings decode as GB18030 too, but into rare characters.
    """
    text = line.decode("gb18030", "replace")
    high = [c for c in text if c > "\x7f"]
    hanzi = common = everyday = 0
    for c in high:
        try:
            code = c.encode("gb2312")
        except UnicodeEncodeError:
            continue
        everyday += 1
        hanzi += code[0] >= 0xB0
        common += 0xB0 <= code[0] <= 0xD7
    return (
        hanzi >= 2
        and common >= 0.7 * hanzi
        and everyday >= 0.9 * len(high)
        and hanzi >= 0.5 * len(high)
    )


def _mixed(chunk: bytes) -> bytes:
    lines = chunk.split(b"\n")
    for i, line in enumerate(lines):
        if line.isascii():
            continue
        text = _utf8(line)
        # Two-byte sequences alone prove nothing: Chinese words in GB18030 can look like them.
        if text is None or max(text) < "\u0800":
            lines[i] = line.decode("gb18030", "replace").encode("utf-8")
    return b"\n".join(lines)


def _utf8(line: bytes, whole: bool = True) -> str | None:
    """The text of a line in UTF-8, or None; `whole=False` allows a last character cut in two."""
    try:
        return codecs.utf_8_decode(line, "strict", whole)[0]
    except UnicodeDecodeError:
        return None
