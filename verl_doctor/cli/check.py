"""`verl-doctor check`: before the run."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..model import SEVERITIES, Lang, severity_rank
from .options import color_option, lang_option

if TYPE_CHECKING:
    from ..checks.config import Command, Settings
    from ..checks.types import Result

GROUPS = ("config", "data", "model", "env")
NVIDIA_SMI_S = 10.0
NEEDS = 'pip install "verl-doctor[check]"'


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

    A launch script is read, never run. Files are only read; nothing is written anywhere.
    """
    from ..checks.environment import active_python, environment
    from ..render import checks as page
    from . import ExitCode

    python = python or active_python()
    groups = only or GROUPS
    stated = release or _installed_verl(python) or ""
    given = _Given(words, config, log)
    results: list[Result] = []
    try:
        results += _of_the_run(given, stated, groups, train, val, model, nan, gpu_memory, lang)
    except ImportError as error:
        if error.name not in ("hydra", "omegaconf", "antlr4", "pyarrow"):
            raise
        raise click.ClickException(f"this check needs {error.name}: {NEEDS}") from error
    if "env" in groups:
        results += environment(python, smoke=smoke)
    about = {"verl": stated or None, "python": python}
    if form == "json":
        sys.stdout.write(page.as_json(results, about, lang))
    else:
        page.render(results, lang=lang, color=color, stream=sys.stdout, everything=everything)
    sys.stdout.flush()
    worst = min(
        (severity_rank(one.severity) for one in results if one.state == "fault"), default=99
    )
    return ExitCode.FINDINGS if worst <= severity_rank(fail_on) else ExitCode.OK


@dataclass(frozen=True, slots=True)
class _Given:
    """Where the settings come from."""

    words: tuple[str, ...]
    config: str | None
    log: str | None

    def __bool__(self) -> bool:
        return bool(self.words or self.config or self.log)

    def settings(self, stated: str) -> Settings:
        """Takes the stated release, empty if none is known."""
        from ..checks import config

        release = config.known_release(stated)
        base: Mapping[str, Any] | None = None
        command = self._command()
        if self.config:
            base = config.read_config(self.config)
        elif self.log:
            command, base = _from_log(self.log)
        return config.compose(command, release, base)

    def _command(self) -> Command:
        from ..checks import config

        if len(self.words) == 1 and "=" not in self.words[0]:
            path = Path(self.words[0])
            if not path.exists():
                raise click.UsageError(f"no script is called {path}; overrides hold a `=`")
            found = config.script(config.read_script(str(path)), os.environ)
            if not found.module:
                raise click.ClickException(
                    f"{path} starts no verl (no `-m verl.…` in it). Give the overrides themselves: "
                    "verl-doctor check -- data.train_batch_size=… …"
                )
            return found
        return config.command(self.words)


def _from_log(path: str) -> tuple[Command, Mapping[str, Any] | None]:
    """The overrides and the dumped config of a run, out of its log."""
    from ..checks import config
    from ..knowledge.load import load
    from ..pipeline import Session
    from ..sources import chunks, expand

    sources, _ = expand([path])
    session = Session(*load(()))
    for source in sources:
        session.begin(source.path, [])
        for chunk in chunks(source):
            session.feed(chunk)
        session.end()
    found = session.settings
    if not found.overrides and not found.config:
        raise click.ClickException(
            f"{path} shows no overrides and no config; give them: verl-doctor check -- …"
        )
    return config.command(found.overrides), found.config or None


def _of_the_run(
    given: _Given,
    stated: str,
    groups: Sequence[str],
    train: Sequence[str],
    val: Sequence[str],
    models: Sequence[str],
    nan: bool,
    gpu_memory: float | None,
    lang: Lang,
) -> list[Result]:
    """The checks that depend on how the run is started; none of them where nothing is known."""
    from ..checks import config, memory

    if not (given or train or val or models):
        return []
    settings = given.settings(stated)
    results = []
    if "config" in groups and given:
        results += config.check(settings)
        results += memory.check(settings, _gpu_bytes(gpu_memory))
    if "data" in groups:
        results += _data(settings, train, val, lang)
    if "model" in groups:
        results += _models(settings, models, nan)
    return results


def _gpu_bytes(stated: float | None) -> float | None:
    """The stated GiB, else the smallest GPU that nvidia-smi lists here, in bytes; None without."""
    from ..checks.environment.nvidia import machine

    if stated is not None:
        return stated * 2**30
    return min((gpu.total for gpu in machine(NVIDIA_SMI_S).gpus if gpu.total), default=None)


def _data(settings: Settings, train: Sequence[str], val: Sequence[str], lang: Lang) -> list[Result]:
    """The files that were named, else those of the settings where they were given."""
    from ..checks import data

    train = train or settings.texts("data.train_files")
    val = val or settings.texts("data.val_files")
    if not train and not val:
        return []
    with _Progress(lang) as tell:
        return list(data.check(train, val, settings, tell))


class _Progress:
    """A line on a terminal's standard error while rows are read."""

    def __init__(self, lang: Lang) -> None:
        self._text = "{:,} 行" if lang == "zh" else "{:,} rows"
        self._on = sys.stderr.isatty()

    def __enter__(self) -> Callable[[int, int], None]:
        def tell(file: int, rows: int) -> None:
            if self._on:
                sys.stderr.write(f"\r\x1b[K[{file + 1}] " + self._text.format(rows))
                sys.stderr.flush()

        return tell

    def __exit__(self, *_: object) -> None:
        if self._on:
            sys.stderr.write("\r\x1b[K")


def _models(settings: Settings, folders: Sequence[str], nan: bool) -> list[Result]:
    from ..checks import model

    found = [("actor", Path(one)) for one in folders]
    if not found:
        for role, key in (
            ("actor", "actor_rollout_ref.model.path"),
            ("critic", "critic.model.path"),
            ("reward", "reward.reward_model.model_path"),
        ):
            found += [(role, Path(one)) for one in settings.texts(key)]
    return [result for role, path in found for result in model.check(path, nan=nan, role=role)]


def _installed_verl(python: str) -> str | None:
    """The version of verl in an interpreter, by its metadata; None if it has none."""
    import subprocess

    # the working folder may hold anything, an `importlib` too
    code = "import sys; sys.path = [one for one in sys.path if one]; "
    code += "import importlib.metadata as m; print(m.version('verl'))"
    try:
        done = subprocess.run(
            [python, "-c", code], capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise click.UsageError(f"--python {python} can't be run: {error}") from error
    return done.stdout.strip() or None
