"""Runs checks on what a run is made of: its settings, its data, its model, this machine."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..detect.config import Settings as LogSettings
from .config.settings import Settings
from .environment.ask import Answer, ask
from .environment.survey import QUICK_S
from .names import SUBJECTS
from .types import Result

MODELS = (
    ("actor", "actor_rollout_ref.model.path"),
    ("critic", "critic.model.path"),
    ("reward", "reward.reward_model.model_path"),
)
"""Whose model stands under which key."""
WRITTEN = ("trainer.default_local_dir", "trainer.rollout_data_dir", "trainer.validation_data_dir")
"""Folders that a run writes its results to."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a run is made of, as far as it is known."""

    python: str
    """The interpreter that trains."""
    installed: Answer
    """What that interpreter has told of itself: `ask_interpreter`."""
    verl: str = ""
    """The release of verl that counts; empty where none is known."""
    settings: Settings | None = None
    """None where nothing says how the run is started."""
    named: bool = False
    """Whether it is the run's own settings that are known, and not only a release's."""
    train: Sequence[str] = ()
    """Data files and model folders in place of those that the settings name."""
    validation: Sequence[str] = ()
    models: Sequence[str] = ()
    gpu: float | None = None
    """Bytes of one GPU of the run; None: those of this machine's smallest."""


def ask_interpreter(python: str) -> Answer:
    """What an interpreter says of itself and its packages; raises nothing."""
    return ask(python, "interpreter", timeout_s=QUICK_S)


def installed_verl(answer: Answer) -> str:
    """The version of verl that an interpreter has; empty if it has none."""
    for one in answer.facts.get("packages", ()):
        if one["name"] == "verl":
            return str(one["version"])
    module = answer.facts.get("modules", {}).get("verl")
    return str(module["version"]) if module else ""


def of_log(subject: Subject, verl: str, found: LogSettings) -> Subject:
    """The subject as the run of a log had it: with the settings that the log shows, none where it
    shows none, for the release that it names (empty: that of the interpreter).

    Raises ImportError without hydra-core where there are settings.
    """
    from . import config

    verl = verl or installed_verl(subject.installed)
    if not found.overrides and not found.config:
        return replace(subject, verl=verl)
    command, release = config.command(found.overrides), config.known_release(verl)
    settings = config.compose(command, release, found.config or None)
    return replace(subject, verl=verl, settings=settings, named=True)


def examine(
    subject: Subject,
    wanted: Collection[str] = SUBJECTS.keys(),
    *,
    smoke: bool = False,
    nan: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[Result]:
    """The results of the wanted checks, in the order of SUBJECTS; nothing else is looked at.

    A check that nothing is known for (no settings, no model) says nothing. `smoke` runs the smoke
    tests, `nan` searches the model's weights (see the checks themselves), `progress` is told the
    rows of data read and to read. Raises ImportError where the package is missing that reads
    configurations or data.
    """

    def of(group: str) -> bool:
        return any(name.startswith(group) for name in wanted)

    settings = subject.settings
    if settings is not None:
        found: list[Result] = []
        if of("config.") and subject.named:
            found += _config(settings, subject.gpu, wanted)
        if of("data."):
            found += _data(subject, settings, progress)
        if of("model."):
            found += _models(subject, settings, nan)
        yield from (one for one in found if one.check in wanted)
    if of("env."):
        from .environment import LOOKS, environment

        yield from environment(
            subject.python,
            only=[name for name in LOOKS if name in wanted],
            known=subject.installed,
            folders=_written(settings) if settings is not None and subject.named else (),
            smoke=smoke,
        )


def _config(settings: Settings, gpu: float | None, wanted: Collection[str]) -> Iterator[Result]:
    from . import config, memory

    yield from config.check(settings)
    if memory.CHECK in wanted:
        yield from memory.check(settings, gpu or _smallest_gpu())


def _smallest_gpu() -> float | None:
    """Bytes of the smallest GPU that nvidia-smi lists here; None without."""
    from .environment.nvidia import machine

    return min((gpu.total for gpu in machine(QUICK_S).gpus if gpu.total), default=None)


def _data(
    subject: Subject, settings: Settings, progress: Callable[[int, int], None] | None
) -> Iterator[Result]:
    from . import data

    train = subject.train or settings.texts("data.train_files")
    validation = subject.validation or settings.texts("data.val_files")
    if train or validation:
        yield from data.check(train, validation, settings, progress)


def _models(subject: Subject, settings: Settings, nan: bool) -> Iterator[Result]:
    from . import model

    found = [("actor", one) for one in subject.models]
    if not found:
        found = [(role, one) for role, key in MODELS for one in settings.texts(key)]
    for role, path in found:
        yield from model.check(Path(path), nan=nan, role=role)


def _written(settings: Settings) -> list[Path]:
    """The local folders that the run is going to write its results to."""
    folders = [settings.get(key) for key in WRITTEN]
    return [Path(one) for one in folders if isinstance(one, str) and one and "://" not in one]
