"""The line that data takes, the only module that knows all stages.

sources -> chunks -> scan -> records and blocks -> matches -> incidents -> report
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import BinaryIO

from .diagnose.collect import Collector
from .diagnose.report import report
from .knowledge.base import RuleBase
from .logs.reader import Reader
from .model import Lang, Report, SourceInfo
from .scan.database import Scanner
from .sources import Source, chunks


def diagnose_chunks(
    named: Iterable[tuple[str, Iterable[bytes], list[str]]],
    base: RuleBase,
    scanner: Scanner,
    *,
    lang: Lang = "en",
    notes: Sequence[str] = (),
) -> tuple[Report, bool]:
    """Diagnoses logs given as chunks of bytes that end at line ends.

    Takes (name, chunks, notes of their reading) for each source, in order; the notes may still
    grow while the chunks are read. Returns the report, and whether Ctrl-C cut the reading short
    (what had been read by then is diagnosed).
    """
    collector = Collector(base)
    infos: list[SourceInfo] = []
    tail = ""
    told = list(notes)
    offsets: dict[str, int] = {}
    interrupted = False
    for name, parts, remarks in named:
        reader = Reader(scanner, name, collector.total_lines)
        offsets[name] = collector.total_lines
        collector.last_path = name
        try:
            for item in reader.read(parts):
                collector.add(item)
        except KeyboardInterrupt:
            interrupted = True
            remarks.append("reading was stopped by Ctrl-C")
        collector.end_source(name, reader.lines)
        infos.append(SourceInfo(name, reader.lines, reader.bytes, tuple(remarks)))
        told += [f"{name}: {remark}" for remark in remarks]
        if reader.tail.strip():
            tail = reader.tail.decode("utf-8", "replace")
        if interrupted:
            break
    collector.finish()
    return report(collector, infos, offsets, tail, told, lang), interrupted


def diagnose(
    sources: Sequence[Source],
    base: RuleBase,
    scanner: Scanner,
    *,
    lang: Lang = "en",
    notes: Sequence[str] = (),
    stdin: BinaryIO | None = None,
    progress: Callable[[int], None] | None = None,
) -> tuple[Report, bool]:
    """Diagnoses sources as one run, and says whether Ctrl-C cut the reading short.

    Takes what `sources.expand` gave, the rules, and a callback that is told the bytes read so far.
    Reading errors end that source and become notes; they never raise.
    """

    def parts(source: Source, remarks: list[str]) -> Iterable[bytes]:
        done = 0
        for chunk in chunks(source, stdin=stdin, notes=remarks):
            yield chunk
            done += len(chunk)
            if progress is not None:
                progress(done)

    named = []
    for source in sources:
        remarks: list[str] = []
        named.append((source.path, parts(source, remarks), remarks))
    return diagnose_chunks(named, base, scanner, lang=lang, notes=notes)
