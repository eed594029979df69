"""`verl-doctor incidents`: what was found before on this machine."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import click

from ..model import Lang
from ..store.types import STATES, Incident, Listing, Occurrence, State
from .options import color_option, lang_option

if TYPE_CHECKING:
    from rich.text import Text

_Command = TypeVar("_Command", bound=Callable[..., Any])

SCHEMA_VERSION = 1
_WORDS: dict[str, tuple[str, str]] = {
    "number": ("#", "#"),
    "last seen": ("last seen", "最近出现"),
    "state": ("state", "状态"),
    "severity": ("severity", "级别"),
    "runs": ("runs", "任务数"),
    "what": ("what", "现象"),
    "in runs": ("in {runs} runs, printed {count} times", "{runs} 个任务，共 {count} 次"),
    "first": ("first seen", "首次出现"),
    "fix": ("resolved by", "解决办法"),
    "fingerprint": ("fingerprint", "指纹"),
    "run": ("run", "任务"),
    "ended": ("ended", "结果"),
    "in phase": ("{verdict}, in {phase}", "{verdict}，阶段 {phase}"),
    "at step": (", step {step}", "，第 {step} 步"),
    "cause": ("cause", "原因"),
    "sure": ("how sure", "把握"),
    "workers": ("workers", "进程"),
    "more": (" and {n} more", " 等另外 {n} 个"),
    "log": ("log", "日志"),
    "override": ("override", "配置"),
    "line": ("line {n}", "第 {n} 行"),
    "shown": ("{n} of {total} shown; all: --limit {total}", "共 {total} 条：--limit {total}"),
    "nothing": ("no incidents recorded in {path}", "{path} 中没有记录"),
    "explain": ("Details: verl-doctor explain {rule}", "详情：verl-doctor explain {rule}"),
    "new": ("new", "新"),
    "acknowledged": ("acknowledged", "已确认"),
    "resolved": ("resolved", "已解决"),
    "regressed": ("regressed", "复发"),
}  # fmt: skip
_STATE_COLOURS = {"regressed": "bold red", "new": "yellow", "resolved": "green"}
MAX_WORKERS = 8


def _word(name: str, lang: Lang, **values: object) -> str:
    return _WORDS[name][lang == "zh"].format(**values)


def _format_option(*choices: str) -> Callable[[_Command], _Command]:
    words = "What to print on standard output."
    return click.option("--format", "form", type=click.Choice(choices), default="text", help=words)


def _limit_option(default: int, words: str) -> Callable[[_Command], _Command]:
    bounds = click.IntRange(1, 1_000_000)
    return click.option("--limit", type=bounds, default=default, show_default=True, help=words)


@click.group()
def incidents() -> None:
    """What was found before on this machine.

    Incidents are kept, masked, in ~/.local/state/verl-doctor/incidents.db; VERL_DOCTOR_DB names
    another file.
    """


@incidents.command("list")
@_format_option("text", "json", "jsonl")
@_limit_option(20, "How many to list at most.")
@click.option(
    "--state",
    "states",
    type=click.Choice(STATES),
    multiple=True,
    help="Only those in this state; may be given several times.",
)
@lang_option
@color_option
def list_(form: str, limit: int, states: tuple[State, ...], lang: Lang, color: str) -> None:
    """List the incidents, the one seen last first.

    \b
      verl-doctor incidents list --state regressed
      verl-doctor incidents list --format jsonl | jq .title
    """
    from ..store import incidents as read

    listing = read(states=states, limit=limit)
    if form == "json":
        head = {"schema_version": SCHEMA_VERSION, "store": str(listing.path)}
        rows = [_incident_json(one) for one in listing.incidents]
        _write_json({**head, "total": listing.total, "incidents": rows}, indent=2)
    elif form == "jsonl":
        for one in listing.incidents:
            _write_json({"schema_version": SCHEMA_VERSION, **_incident_json(one)})
    elif listing.incidents:
        _print_list(_Page(_stdout(), color), listing, lang)
    else:
        click.echo(f"verl-doctor: {_word('nothing', lang, path=listing.path)}", err=True)
    _tell_hidden(len(listing.incidents), listing.total, lang)


@incidents.command("show")
@click.argument("name", metavar="ID")
@_format_option("text", "json")
@_limit_option(5, "How many runs to show at most.")
@lang_option
@color_option
def show(name: str, form: str, limit: int, lang: Lang, color: str) -> None:
    """Show one incident: the runs that had it, and the lines that show it.

    ID is the number that `list` prints, or the start of a fingerprint. A number on record goes
    before a fingerprint that starts with the same digits.
    """
    from ..store import default_path, find, occurrences

    found = find(name)
    if not found:
        raise click.ClickException(
            f"no incident {name!r} in {default_path()}. See `verl-doctor incidents list`."
        )
    if len(found) > 1:
        some = ", ".join(f"#{one.number} {one.fingerprint}" for one in found[:5])
        some += ", …" if len(found) > 5 else ""
        raise click.ClickException(
            f"{name!r} is the start of {len(found)} fingerprints: {some}. Give more digits, "
            "or the number."
        )
    runs = occurrences(found[0].fingerprint, limit=limit)
    if form == "json":
        document = {"schema_version": SCHEMA_VERSION, **_incident_json(found[0])}
        _write_json({**document, "seen_in": [_occurrence_json(run) for run in runs]}, indent=2)
    else:
        _print_incident(_Page(_stdout(), color), found[0], runs, lang)
    _tell_hidden(len(runs), found[0].runs, lang)


def _tell_hidden(shown: int, total: int, lang: Lang) -> None:
    if shown < total:
        click.echo(f"verl-doctor: {_word('shown', lang, n=shown, total=total)}", err=True)


# --- JSON -----------------------------------------------------------------------------------

# Characters that steer a terminal, in a form that means the same to a JSON reader.
_STEERING = re.compile("[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]")


def _write_json(value: dict[str, Any], indent: int | None = None) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    text = _STEERING.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    _stdout().write(text + "\n")


def _utc(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    moment = datetime.fromtimestamp(seconds, timezone.utc)
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")


def _dated(row: dict[str, Any]) -> dict[str, Any]:
    return {key: _utc(value) if key.endswith("_at") else value for key, value in row.items()}


def _incident_json(one: Incident) -> dict[str, Any]:
    return _dated(asdict(one))


def _occurrence_json(one: Occurrence) -> dict[str, Any]:
    return {**_dated(asdict(one)), "evidence": [line._asdict() for line in one.evidence]}


# --- text -----------------------------------------------------------------------------------


def _stdout() -> TextIO:
    """Standard output that writes what its encoding lacks (`LC_ALL=C`) as an escape."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    return sys.stdout


def _local(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M")


class _Page:
    """Lines with a hanging indent on a terminal; one line each, whole, in a pipe."""

    def __init__(self, stream: TextIO, color: str) -> None:
        from ..render.text import console

        self.console = console(stream, color)
        self.wrap = stream.isatty()

    def line(self, head: Text | str, body: str = "", style: str = "", bold: bool = False) -> None:
        """Prints `head`, then `body`, which is log text: never markup, controls made visible."""
        from rich.text import Text

        from ..logs.text import visible

        head = Text(head, style="bold" if bold else "") if isinstance(head, str) else head
        text = Text(visible(body).replace("\n", " ⏎ "), style=style)
        width = max(20, self.console.width - head.cell_len)
        for number, part in enumerate(text.wrap(self.console, width) if self.wrap else [text]):
            part.rstrip()
            start = head if number == 0 else Text(" " * head.cell_len)
            whole = Text.assemble(start, part)
            whole.rstrip()
            self.console.print(whole, soft_wrap=True)


def _padded(cell: str, width: int, right: bool = False) -> str:
    from rich.cells import cell_len

    space = " " * (width - cell_len(cell))
    return space + cell if right else cell + space


def _print_list(page: _Page, listing: Listing, lang: Lang) -> None:
    from rich.cells import cell_len
    from rich.text import Text

    from ..render.text import COLOURS

    columns = ("number", "last seen", "state", "severity", "runs")
    rows = [[_word(name, lang) for name in columns]]
    for one in listing.incidents:
        day, state = _local(one.last_seen_at)[:10], _word(one.state, lang)
        rows.append([str(one.number), day, state, one.severity, str(one.runs)])
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    for number, row in enumerate(rows):
        head = Text()
        one = listing.incidents[max(0, number - 1)]
        styles = ("", "", _STATE_COLOURS.get(one.state, ""), COLOURS.get(one.severity, ""), "")
        for place, (cell, width, style) in enumerate(zip(row, widths, styles, strict=True)):
            head.append(_padded(cell, width, place in (0, 4)), style if number else "bold")
            head.append("  ")
        title = f"{one.rule} {one.title}" if one.rule else one.title
        page.line(head, title if number else _word("what", lang), "" if number else "bold")


def _print_incident(page: _Page, one: Incident, runs: tuple[Occurrence, ...], lang: Lang) -> None:
    rule = f"{one.rule} " if one.rule else ""
    page.line(f"#{one.number} ", f"{rule}{one.title}", "bold", bold=True)
    counts = _word("in runs", lang, runs=one.runs, count=one.occurrences)
    counts = re.sub(r"\b1 (run|time)s\b", r"1 \1", counts)
    facts = [
        ("state", f"{_word(one.state, lang)}, {one.severity}, {counts}"),
        ("fix", one.fix),
        ("first", _local(one.first_seen_at)),
        ("last seen", _local(one.last_seen_at)),
        ("fingerprint", one.fingerprint),
    ]
    _print_facts(page, facts, lang)
    for run in runs:
        page.console.print()
        page.line(f"{_word('run', lang)} {run.run}  ", run.name, "bold", bold=True)
        ended = _word("in phase", lang, verdict=run.verdict, phase=run.run_phase or "?")
        if run.step is not None:
            ended += _word("at step", lang, step=run.step)
        workers = ", ".join(run.workers[:MAX_WORKERS])
        if len(run.workers) > MAX_WORKERS:
            workers += _word("more", lang, n=len(run.workers) - MAX_WORKERS)
        facts = [("ended", ended), ("last seen", _local(run.last_seen_at)), ("cause", run.cause)]
        facts += [("sure", run.confidence), ("workers", workers)]
        facts += [("log", log) for log in run.logs[:MAX_WORKERS]]
        facts += [("override", override) for override in run.overrides]
        _print_facts(page, facts, lang)
        for line in run.evidence:
            page.line(f"  {_word('line', lang, n=line.line)}: ", line.text)
    if one.rule:
        page.console.print()
        page.line("", _word("explain", lang, rule=one.rule))


def _print_facts(page: _Page, facts: list[tuple[str, str]], lang: Lang) -> None:
    for name, value in facts:
        if value:
            page.line(f"  {_padded(_word(name, lang), 12)} ", value)
