"""What `check` was given: how a run is going to be started, and with what."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from ..checks.config import Command, Settings
    from ..checks.examine import Subject


NEEDS = 'pip install "verl-doctor[check]"'
EXTRA = ("hydra", "omegaconf", "antlr4", "pyarrow")


@contextmanager
def needing_the_extra() -> Iterator[None]:
    """Turns the lack of what reads configurations and data into a line that says what to install
    (click.ClickException)."""
    try:
        yield
    except ImportError as error:
        if error.name not in EXTRA:
            raise
        raise click.ClickException(f"this check needs {error.name}: {NEEDS}") from error


@dataclass(frozen=True, slots=True)
class Launch:
    """What was named on the command line."""

    words: tuple[str, ...]
    """A script's name, or the words of a command."""
    config: str | None
    """A YAML file."""
    log: str | None
    release: str | None
    """The stated release of verl."""
    train: tuple[str, ...] = ()
    validation: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    gpu_memory: float | None = None
    """GiB of one GPU."""

    def subject(self, python: str | None, *, findings: bool) -> Subject:
        """What is to be checked.

        Takes the interpreter (None: the active one), and whether one that does not start is going
        to be a finding. Raises click.UsageError or ClickException for what can't be read,
        ImportError without hydra-core.
        """
        from ..checks.environment import active_python
        from ..checks.examine import Subject, ask_interpreter, installed_verl

        python = python or active_python()
        installed = ask_interpreter(python)
        failed = installed.failed.get("")
        if failed is not None and failed.how == "start" and not findings:
            raise click.UsageError(f"--python {python} can't be run: {failed.what}")
        verl = self.release or installed_verl(installed)
        named = bool(self.words or self.config or self.log)
        needed = named or self.train or self.validation or self.models
        return Subject(
            python,
            installed,
            verl,
            self._settings(verl) if needed else None,
            named=named,
            train=self.train,
            validation=self.validation,
            models=self.models,
            gpu=self.gpu_memory * 2**30 if self.gpu_memory else None,
        )

    def _settings(self, verl: str) -> Settings:
        """The settings for a release, empty if none is known."""
        from ..checks import config

        base: Mapping[str, Any] | None = None
        command = self._command()
        if self.config:
            base = config.read_config(self.config)
        elif self.log:
            command, base = _from_log(self.log)
        return config.compose(command, config.known_release(verl), base)

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
