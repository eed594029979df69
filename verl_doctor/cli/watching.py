"""A log that still grows, told as it comes: the live part of `verl-doctor diagnose`."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from ..model import Lang, Report

if TYPE_CHECKING:
    from ..knowledge.base import RuleBase
    from ..scan.database import Scanner


def watch_log(
    log: str,
    base: RuleBase,
    scanner: Scanner,
    *,
    lang: Lang,
    speak: bool,
    stdin: BinaryIO | None,
) -> tuple[Report, bool]:
    """Reads a log that still grows and tells its findings as they come.

    Takes the path (`-`: `stdin`), the rules, and whether to print the news on standard output.
    Returns the last report, and whether Ctrl-C ended the reading.
    """
    from ..live import News, Watch
    from ..pipeline import Session
    from ..render.news import Status, line
    from ..sources.follow import follow_file, follow_stream

    remarks: list[str] = []
    session = Session(base, scanner, lang)
    status = Status(lang)
    session.begin("<stdin>" if log == "-" else log, remarks)

    def tell(news: News) -> None:
        status.clear()
        if speak:
            print(line(news, lang), flush=True)

    def tick(quiet_s: float) -> None:
        status.show(session.last_step, session.lines, quiet_s)

    watch = Watch(session, tell, tick=tick)
    if log == "-" and stdin:
        stream = follow_stream(stdin, heard=watch.heard)
    else:
        stream = follow_file(log, remarks, heard=watch.heard)
    interrupted = False
    try:
        watch.run(stream)
    except KeyboardInterrupt:
        interrupted = True
    status.clear()
    session.end()
    return session.report(), interrupted
