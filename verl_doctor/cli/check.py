"""`verl-doctor check`: before the run."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from ..checks.names import GROUPS, SUBJECTS
from ..model import SEVERITIES, Lang, severity_rank
from .inout import put
from .launch import Launch, needing_the_extra
from .options import color_option, lang_option

if TYPE_CHECKING:
    from ..checks.bundle import Bundle
    from ..checks.types import Result


@click.command()
@click.argument("words", nargs=-1, metavar="[SCRIPT | COMMAND | OVERRIDE…]")
@click.option("--verl", "release", metavar="VERSION", help="verl release; else the installed one.")
@click.option(
    "--config", type=click.Path(exists=True, dir_okay=False), help="The run's config as YAML."
)
@click.option(
    "--log", type=click.Path(exists=True, dir_okay=False), help="Take the settings from this log."
)
@click.option("--data", "train", multiple=True, metavar="FILE", help="A training file; repeatable.")
@click.option("--val", multiple=True, metavar="FILE", help="A validation file; repeatable.")
@click.option("--model", multiple=True, metavar="DIR", help="A model folder or checkpoint.")
@click.option("--python", metavar="PATH", help="Interpreter that trains; else the active one.")
@click.option(
    "--smoke", is_flag=True, help="Run small tests on the GPU: kernel, matmul, all-reduce."
)
@click.option("--nan", is_flag=True, help="Search all weights of the model for NaN (reads them).")
@click.option(
    "--gpu-memory",
    type=click.FloatRange(min=0, min_open=True),
    metavar="GIB",
    help="Memory of one GPU of the run; else of this machine's.",
)
@click.option("--only", multiple=True, type=click.Choice(GROUPS), help="These groups alone.")
@click.option(
    "--save",
    type=click.Path(dir_okay=False, writable=True),
    metavar="FILE",
    help="Keep the results, masked, to diagnose a log with elsewhere (--bundle FILE).",
)
@click.option(
    "--from",
    "bundle",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="Print what such a file holds and check nothing.",
)
@click.option("--format", "form", type=click.Choice(("text", "json")), default="text")
@click.option(
    "--all", "everything", is_flag=True, help="Show what was seen where all is well, too."
)
@click.option("--fail-on", type=click.Choice(SEVERITIES), default="high")
@lang_option
@color_option
def check(
    words: tuple[str, ...],
    release: str | None,
    config: str | None,
    log: str | None,
    train: tuple[str, ...],
    val: tuple[str, ...],
    model: tuple[str, ...],
    python: str | None,
    smoke: bool,
    nan: bool,
    gpu_memory: float | None,
    only: tuple[str, ...],
    save: str | None,
    bundle: str | None,
    form: str,
    everything: bool,
    fail_on: str,
    lang: Lang,
    color: str,
) -> int:
    """Look at the configuration, the data, the model and this machine before the run.

    \b
      verl-doctor check run_grpo.sh
      verl-doctor check -- python3 -m verl.trainer.main_ppo data.train_batch_size=512 …
      verl-doctor check --only data --data train.parquet --val test.parquet
      verl-doctor check --model /models/Qwen3-8B --python /opt/venv/bin/python

    A launch script is read, never run. Files are only read; nothing is written but what --save
    names.
    """
    from ..checks import bundle as bundles
    from ..checks.examine import examine
    from . import ExitCode

    groups = only or GROUPS
    if bundle is not None:
        if words or config or log or train or val or model or smoke or save:
            raise click.UsageError("--from prints what was found before: name nothing to check")
        found = bundles.read(bundle)
    else:
        wanted = [name for name in SUBJECTS if name.partition(".")[0] in groups]
        launch = Launch(words, config, log, release, train, val, model, gpu_memory)
        with needing_the_extra(), _progress(lang) as tell:
            subject = launch.subject(python, findings="env" in groups)
            results = [*examine(subject, wanted, smoke=smoke, nan=nan, progress=tell)]
        found = bundles.made_here(results, subject.python, subject.verl, time.time())
    shown = [one for one in found.results if one.check.partition(".")[0] in groups]
    _show(found, shown, form, lang, color, everything, again=bundle is not None)
    if save is not None:  # last: a file that can't be written takes nothing away
        put(bundles.written(found), save)
    worst = min((severity_rank(one.severity) for one in shown if one.state == "fault"), default=99)
    return ExitCode.FINDINGS if worst <= severity_rank(fail_on) else ExitCode.OK


def _show(
    found: Bundle,
    results: Sequence[Result],
    form: str,
    lang: Lang,
    color: str,
    everything: bool,
    *,
    again: bool,
) -> None:
    """Prints results; `again`: they come from a file, and it is told where and when they were
    seen."""
    from ..render import checks as page

    if form == "json":
        about: dict[str, Any] = {"verl": found.verl or None, "python": found.python}
        if again:
            about |= {"host": found.host, "made_at": found.made_at}
        sys.stdout.write(page.as_json(results, about, lang))
    else:
        if again:
            print(f"verl-doctor: checked on {found.where}, with {found.python}", file=sys.stderr)
        page.render(results, lang=lang, color=color, stream=sys.stdout, everything=everything)
    sys.stdout.flush()


@contextmanager
def _progress(lang: Lang) -> Iterator[Callable[[int, int], None]]:
    """A bar on a terminal's standard error while rows are read; gives what is told of (rows read,
    rows to read)."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("数据行" if lang == "zh" else "rows"), BarColumn(), MofNCompleteColumn())
    console, off = Console(stderr=True), not sys.stderr.isatty()
    with Progress(*columns, console=console, transient=True, disable=off) as bar:
        task = bar.add_task("", total=None, visible=False)
        yield lambda done, total: bar.update(task, completed=done, total=total, visible=True)
