"""All checks of the environment: asks every section, and has each answer judged."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ..types import Result
from . import (
    extensions,
    gpus,
    installs,
    interpreter,
    limits,
    nvidia,
    packages,
    smoke_tests,
    storage,
    torch_build,
    variables,
    visible_devices,
)
from .ask import Answer, ask
from .asking import Questions
from .facts import Devices
from .sections.interpreter import STACK

TIMEOUT_S = 120.0
"""What one check may take. Importing torch from a cold network file system takes a minute."""
QUICK_S = 20.0
"""What a look may take that imports nothing."""


def environment(
    python: str,
    *,
    smoke: bool = False,
    folders: Sequence[Path] = (),
    timeout_s: float = TIMEOUT_S,
    stopped: Callable[[], bool] = lambda: False,
    tell: Callable[[int, int], None] | None = None,
) -> list[Result]:
    """Checks the environment that an interpreter (see `active_python`) would train in.

    `folders`: what the run is going to write to, beside its caches; `smoke`: run the smoke tests as
    well; `timeout_s`: what a single check may take; `stopped` is asked whether to stop, `tell` is
    told how many of how many answers have come (not of smoke tests). Reads only: nothing is written
    but what a smoke test needs in a temporary folder. What could not be looked at is a result too.
    Errors: Stopped, once every child has been ended.
    """
    with Questions(stopped, tell) as questions:
        survey = _Survey(questions, python, folders, timeout_s)
    found = [*survey.judged()]
    if smoke and survey.torch.facts.get("torch_import"):
        # one after another: each is timed, and two on one GPU would disturb each other
        tests = {
            name: ask(python, f"smoke/{name}", timeout_s=timeout_s) for name in smoke_tests.TESTS
        }
        found += smoke_tests.check(tests)
    return found


class _Survey:
    """The answers of all sections."""

    def __init__(
        self, questions: Questions, python: str, folders: Sequence[Path], timeout_s: float
    ) -> None:
        quick = min(QUICK_S, timeout_s)
        self.python = python
        # torch first: it takes longest. What concerns the machine is asked of the interpreter that
        # is certain to start.
        torch = questions.ask(ask, python, "torch_build", timeout_s=timeout_s)
        known = questions.ask(ask, python, "interpreter", timeout_s=quick)
        compiled = questions.ask(ask, python, "extensions", timeout_s=quick)
        machine = questions.ask(nvidia.machine, quick)
        host = questions.ask(ask, sys.executable, "host", timeout_s=quick)
        self.caches = storage.caches(os.environ)
        wanted = dict.fromkeys([*storage.absolute(folders), *self.caches])
        looked = {
            folder: questions.ask(ask, sys.executable, "folder", folder, timeout_s=quick)
            for folder in wanted
        }
        self.compiled = questions.answer(compiled).facts.get("extensions", [])
        loads = {
            path: questions.ask(ask, python, "library", path, timeout_s=timeout_s)
            for path in extensions.loadable(self.compiled)
        }
        self.machine = questions.answer(machine)
        self.known = questions.answer(known)
        self.host = questions.answer(host)
        self.folders = {folder: questions.answer(answer) for folder, answer in looked.items()}
        self.loads: dict[str, Answer] = {path: questions.answer(one) for path, one in loads.items()}
        self.torch = questions.answer(torch)

    def judged(self) -> Iterator[Result]:
        """What the judges say, the interpreter and its packages first."""
        facts, devices = self.known.facts, self._devices()
        installed = {}
        yield from interpreter.check(self.python, self.known)
        if {"python", "packages", "modules"} <= facts.keys():
            found, modules = facts["packages"], facts["modules"]
            installed = {one["name"]: one["version"] for one in reversed(found)}
            yield from packages.check(facts["python"], found, modules)
            yield from installs.check(found, modules, STACK)
        listed = self.machine.gpus
        hidden = visible_devices.hides_all(os.environ, listed)
        yield from torch_build.check(self.torch, gpus=len(listed), hidden=hidden)
        seen = devices["devices"]
        yield from gpus.check(self.machine, os.environ.get("CUDA_VISIBLE_DEVICES"), len(seen))
        yield from extensions.check(self.compiled, seen, self.loads)
        yield from variables.check(
            os.environ,
            gpus=listed,
            interfaces=self.host.facts.get("network", {}).get("interfaces", ()),
            installed=installed,
        )
        yield from limits.check(self.host.facts)
        yield from storage.check(self.folders, self.caches)
        yield from storage.socket_path(os.environ)

    def _devices(self) -> Devices:
        nothing = Devices(available=False, devices=[], error="", warnings=[])
        found: Devices = self.torch.facts.get("devices", nothing)
        return found
