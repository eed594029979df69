"""The report for a terminal. It ends with the verdict, since people look at the tail.

Log text is wrapped in `rich.text.Text` and never parsed: `[rank0]` and `[red]` print as they are.
Commands and overrides stand on lines of their own, unwrapped, so that they can be copied.
"""

from __future__ import annotations

import io
import shlex
from collections.abc import Sequence
from typing import TextIO

from rich.text import Text

from ..logs.text import visible
from ..model import CauseState, Comparison, Curve, Finding, Fix, FixText, Lang, Report, Story
from ..quantities import size
from .labels import label, pasted, remembered, since
from .paper import Paper, console
from .spark import extent, printable, sparkline
from .wrapping import wrapped

COLOURS = {
    "critical": "bold red",
    "high": "bold red",
    "medium": "yellow",
    "low": "cyan",
    "info": "dim",
}
VERDICT_COLOURS = {
    "failed": "bold white on red",
    "hung": "bold black on yellow",
    "degraded": "bold black on yellow",
    "interrupted": "bold black on cyan",
    "healthy": "bold green",
    "unknown": "bold",
}
MAX_OTHERS = 8
MAX_FIXES = 4
MAX_NEW = 6


def short_names(paths: Sequence[str]) -> dict[str, str]:
    """For each path the shortest end of it that no other has, long names cut in the middle."""
    names = {}
    for path in paths:
        parts = path.split("/")
        for count in range(1, len(parts) + 1):
            name = "/".join(parts[-count:])
            if sum(other == path or other.endswith("/" + name) for other in paths) == 1:
                break
        name = visible(name)
        names[path] = name if len(name) <= 30 else f"{name[:10]}…{name[-18:]}"
    return names


class Page:
    """A paper with margins and words of one language."""

    def __init__(self, out: Paper, lang: Lang, paths: Sequence[str] = ()) -> None:
        self.out = out
        self.lang = lang
        self._names = short_names(paths) if len(paths) > 1 else {}
        """Several sources: an evidence line names its file."""

    def say(self, key: str, **values: object) -> str:
        return label(key, self.lang, **values)

    def field(self, name: str, body: Text | str, style: str = "") -> None:
        """`name` in the margin, `body` wrapped beside it."""
        text = body if isinstance(body, Text) else Text(body, style=style)
        mark = Text(name, style="bold")
        mark.pad_right(max(1, 11 - mark.cell_len))
        for i, line in enumerate(wrapped(text, self.out.width - 13)):
            head = Text("  ").append_text(mark) if i == 0 else Text(" " * (2 + mark.cell_len))
            self.out.print(head.append_text(line), soft_wrap=True)

    def paste(self, sign: str, command: str) -> None:
        """A command, override or code on lines of its own, never wrapped."""
        for part in command.rstrip().split("\n"):
            line = Text(" " * 13 + sign + " ", style="dim").append(part, style="bold green")
            self.out.print(line, soft_wrap=True)

    def fix(self, number: int, text: str, fix: Fix | FixText, verify: str) -> None:
        """One fix: words, what can be pasted, how to see that it worked."""
        if fix.risk in ("medium", "high"):
            text += " " + self.say("risk", how=self.say("risk_" + fix.risk))
        if isinstance(fix, FixText) and fix.worked:
            text += " " + self.say("worked")
        self.field(f"{self.say('fix')} {number}", text)
        for sign, command in pasted(fix):
            self.paste(sign, command)
        if verify:
            self.field("", f"{self.say('verify')} {verify}", "dim")

    def log(self, path: str) -> str:
        """The log as a word of a command: its path, or LOG where several were read as one run or
        it came through a pipe."""
        return "LOG" if self._names or path.startswith(("-", "<")) else shlex.quote(visible(path))

    def place(self, path: str, line: int) -> str:
        if not self._names:
            return self.say("line", n=line)
        return f"{self._names.get(path, path)}:{line}"


def _curve(page: Page, curve: Curve) -> None:
    """A sparkline, its range, and a caret under the first bad step."""
    width = max(16, min(48, page.out.width - 30))
    line, bad = sparkline(curve, blocks=printable(page.out.encoding), width=width)
    low, high = extent(curve)
    told = page.say(
        "curve_told",
        metric=curve.key,
        step=curve.first_bad,
        low=f"{low:.4g}",
        high=f"{high:.4g}",
        last=f"{curve.values[-1]:.4g}",
    )
    if curve.healthy:
        told += page.say("curve_healthy", range=curve.healthy)
    page.field(page.say("curve"), line)
    page.out.print(Text(" " * (13 + bad) + "^", style="red"), soft_wrap=True)
    page.field("", told, "dim")


def _story(page: Page, story: Story) -> None:
    """What happened when, and the checkpoint to go back to."""
    say = page.say
    if len(story.moments) > 1:
        for i, one in enumerate(story.moments):
            when = say("line", n=one.line) if one.step is None else say("story_step", n=one.step)
            text = f"{when:<10} {one.rule or '?':<7} {one.text}"
            page.field(say("story") if i == 0 else "", text)
    saved = story.checkpoint
    if saved is not None:
        where = page.place(saved.path, saved.line)
        page.field(say("checkpoint"), say("checkpoint_is", name=saved.name, where=where))
    elif story.first_bad_step is not None:
        page.field(say("checkpoint"), say("checkpoint_none", step=story.first_bad_step), "dim")


def _root(page: Page, finding: Finding, choice: bool) -> None:
    say = page.say
    head = Text(finding.rule or say("unexplained"), style="bold")
    head.append(f"  {say('severity_' + finding.severity)}", style=COLOURS[finding.severity])
    page.out.print(Text("\n").append_text(head))
    for line in wrapped(Text(finding.title, style="bold"), page.out.width - 4):
        page.out.print(Text("  ").append_text(line), soft_wrap=True)
    page.out.print()
    for i, one in enumerate(finding.evidence[:4]):
        if not one.text:
            continue
        page.field(page.place(one.path, one.line), one.text, "red" if i == 0 else "dim")
    if finding.curve is not None:
        _curve(page, finding.curve)
    if finding.workers:
        shown = ", ".join(finding.workers[:4])
        more = len(finding.workers) - 4
        page.field(say("worker"), shown + (f" +{more}" if more > 0 else ""))
    if finding.count > 1:
        page.field(say("count"), say("times", n=finding.count))
    if finding.summary and finding.summary != finding.cause:
        page.field(say("what"), finding.summary)
    _causes(page, finding)
    if finding.checks:
        of = "--only env" if all(one.startswith("env.") for one in finding.checks) else "--log LOG"
        page.field(say("probe"), say("probe_text", names=", ".join(finding.checks), of=of))
        page.paste("$", f"verl-doctor {page.log(finding.evidence[0].path)} --probe")
    for told in remembered(finding, page.lang):
        page.field(say("before"), told, "bold")
    for i, fix in enumerate(finding.fixes[:MAX_FIXES], 1):
        page.fix(i, fix.text, fix, fix.verify)
    for url in finding.references[:2]:
        page.out.print(Text(f"  {say('see')}").append(" " * 8 + url, style="dim"), soft_wrap=True)
    if choice:
        page.field(say("chosen"), finding.why)


def _causes(page: Page, finding: Finding) -> None:
    """The likeliest reason, what else it may be, what is ruled out; each with its evidence."""
    page.field(page.say("why"), finding.cause)
    likely = [one for one in finding.causes if one.state != "ruled_out"]
    _because(page, likely[:1])
    for i, cause in enumerate(likely[1:4]):
        page.field(page.say("or") if i == 0 else "", cause.text)
        _because(page, (cause,))
    for cause in finding.causes:
        if cause.state == "ruled_out" and not cause.other_wording:
            page.field(page.say("ruled_out"), cause.text, "dim")
            _because(page, (cause,))


def _because(page: Page, causes: Sequence[CauseState]) -> None:
    for cause in causes:
        if cause.because:
            page.field("", f"({'; '.join(cause.because)})", "dim")


def _other(page: Page, finding: Finding, choice: bool) -> None:
    mark = Text(f"  {page.say('role_' + finding.role)}", style=COLOURS[finding.severity])
    mark.append(f"  {finding.rule or '?'}  ", style="bold")
    mark.append(finding.title)
    where = page.place(finding.evidence[0].path, finding.evidence[0].line)
    times = f", {finding.count}x" if finding.count > 1 else ""
    if finding.history and finding.history.times:
        times += page.say("seen_short", n=finding.history.times)
    mark.append(f"  ({where}{times})", style="dim")
    page.out.print(mark)
    if finding.curve is not None and finding.role != "advice":
        line, _ = sparkline(finding.curve, blocks=printable(page.out.encoding))
        page.field("", line)
    if choice or finding.role in ("advice", "root"):
        page.field("", finding.why, "dim")


def render(
    report: Report,
    *,
    lang: Lang = "en",
    color: str = "never",
    stream: TextIO | None = None,
    choice: bool = False,
    everything: bool = False,
) -> str:
    """Writes the report to the stream, or returns it as text where none is given.

    Takes the language, the colour mode, whether to say why each finding holds its place
    (`choice`), and whether to list consequences too (`everything`).
    """
    buffer = io.StringIO()
    out = console(stream or buffer, color)
    page = Page(out, lang, [source.path for source in report.sources])
    say = page.say
    for source in report.sources[:5]:
        cut = f"  {say('truncated')}" if source.truncated else ""
        told = say("size", lines=f"{source.lines:,}", size=size(source.bytes))
        out.print(Text(f"{visible(source.path)}: {told}{cut}", style="dim"), soft_wrap=True)
    if len(report.sources) > 5:
        out.print(Text(say("more_sources", n=len(report.sources) - 5), style="dim"))
    root = report.findings[0] if report.findings else None
    others = list(report.findings[1:])
    if not (everything or choice):
        quiet = [one for one in others if one.role in ("cascade", "teardown")]
        others = [one for one in others if one not in quiet]
    else:
        quiet = []
    if others or quiet:
        out.print(Text(f"\n{say('others')}", style="bold"))
        for finding in reversed(others[:MAX_OTHERS]):
            _other(page, finding, choice)
        if len(others) > MAX_OTHERS or quiet:
            n = max(0, len(others) - MAX_OTHERS) + len(quiet)
            out.print(Text(f"  {say('folded_findings', n=n)}", style="dim"))
    if not root or root.rule is None or report.verdict not in ("failed", "interrupted"):
        for line in report.unexplained[-3:]:
            page.field(page.place(line.path, line.line), line.text, "dim")
    if report.compared and report.compared.new:
        _compared(page, report.compared)
    if root:
        _root(page, root, choice)
    if report.story is not None:
        _story(page, report.story)
    hidden = [say(f"hidden_{key}", n=n) for key, n in report.hidden.items() if n]
    if hidden:
        out.print(Text(f"\n  {say('hidden')} {', '.join(hidden)}", style="dim"))
    for note in report.notes:
        page.field(say("note"), note)
    _verdict(page, report, root)
    return buffer.getvalue()


def _compared(page: Page, compared: Comparison) -> None:
    page.out.print(Text(f"\n{since(compared, page.lang)}", style="bold"))
    for one in compared.new[:MAX_NEW]:
        times = f"  ({one.count}x)" if one.count > 1 else ""
        page.field(page.place(one.first.path, one.first.line), one.first.text + times, "dim")
    if len(compared.new) > MAX_NEW:
        page.field("", page.say("new_more", n=len(compared.new) - MAX_NEW), "dim")


def _verdict(page: Page, report: Report, root: Finding | None) -> None:
    say = page.say
    line = Text("\n")
    line.append(f" {say('verdict_' + report.verdict)} ", style=VERDICT_COLOURS[report.verdict])
    where = say("phase_" + report.phase.name)
    if report.phase.step is not None:
        where += say("at_step", n=report.phase.step)
    if root is not None and report.verdict not in ("healthy", "unknown"):
        line.append(f" {where}: ").append(root.title, style="bold")
        line.append(f"\n {say('sure', how=say('sure_' + root.confidence))}")
    elif report.verdict == "unknown":
        line.append(f" {say('unknown_tail', where=where)}")
    else:
        line.append(f" {say('healthy_tail', where=where)}")
    for row in wrapped(line, page.out.width):
        page.out.print(row, soft_wrap=True)
