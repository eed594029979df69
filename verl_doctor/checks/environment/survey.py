"""The checks of the environment: asks the sections that they need, and has the answers judged."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
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
    shown_variables,
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
LOOKS: Mapping[str, frozenset[str]] = {
    interpreter.CHECK: frozenset({"interpreter"}),
    packages.CHECK: frozenset({"interpreter"}),
    installs.CHECK: frozenset({"interpreter"}),
    torch_build.CHECK: frozenset({"torch", "machine"}),
    gpus.CHECK: frozenset({"machine"}),
    extensions.CHECK: frozenset({"torch", "extensions"}),
    shown_variables.CHECK: frozenset({"machine", "host", "interpreter"}),
    limits.CHECK: frozenset({"host"}),
    storage.CHECK: frozenset({"folders"}),
}
"""Every check of the environment -> what has to be looked at for it."""


def environment(
    python: str,
    *,
    only: Collection[str] = LOOKS.keys(),
    known: Answer | None = None,
    smoke: bool = False,
    folders: Sequence[Path] = (),
    timeout_s: float = TIMEOUT_S,
    stopped: Callable[[], bool] = lambda: False,
    tell: Callable[[int, int], None] | None = None,
) -> list[Result]:
    """Checks the environment that an interpreter (see `active_python`) would train in.

    `only`: the checks to run, keys of LOOKS; nothing is looked at that they don't need. `known`:
    what the interpreter has already told of itself. `folders`: what the run is going to write to,
    beside its caches; `smoke`: run the smoke tests as well, where torch can be imported;
    `timeout_s`: what a single check may take; `stopped` is asked whether to stop, `tell` is told
    how many of how many answers have come (not of smoke tests). Reads only: nothing is written but
    what a smoke test needs in a temporary folder. What could not be looked at is a result too.
    Errors: Stopped, once every child has been ended.
    """
    wanted = {*only, torch_build.CHECK} if smoke else {*only}
    with Questions(stopped, tell) as questions:
        survey = _Survey(questions, python, folders, timeout_s, wanted, known)
    found = [*survey.judged()]
    if smoke and survey.torch.facts.get("torch_import"):
        # one after another: each is timed, and two on one GPU would disturb each other
        tests = {
            name: ask(python, f"smoke/{name}", timeout_s=timeout_s) for name in smoke_tests.TESTS
        }
        found += smoke_tests.check(tests)
    return found


class _Survey:
    """The answers of the sections that some checks need."""

    def __init__(
        self,
        questions: Questions,
        python: str,
        folders: Sequence[Path],
        timeout_s: float,
        wanted: Collection[str],
        known: Answer | None,
    ) -> None:
        quick = min(QUICK_S, timeout_s)
        looks = frozenset[str]().union(*(LOOKS[check] for check in wanted))
        self.python = python
        self.wanted = wanted
        self.looks = looks
        # torch first: it takes longest. What concerns the machine is asked of the interpreter that
        # is certain to start.
        asked: dict[str, Future[Answer]] = {}
        if "torch" in looks:
            asked["torch"] = questions.ask(ask, python, "torch_build", timeout_s=timeout_s)
        for section in ("interpreter", "extensions"):
            if section in looks and not (section == "interpreter" and known):
                asked[section] = questions.ask(ask, python, section, timeout_s=quick)
        if "host" in looks:
            asked["host"] = questions.ask(ask, sys.executable, "host", timeout_s=quick)
        machine = questions.ask(nvidia.machine, quick) if "machine" in looks else None
        self.caches = storage.caches(os.environ) if "folders" in looks else {}
        written = storage.absolute(folders) if "folders" in looks else ()
        looked = {
            folder: questions.ask(ask, sys.executable, "folder", folder, timeout_s=quick)
            for folder in dict.fromkeys([*written, *self.caches])
        }

        def told(section: str) -> Answer:
            return questions.answer(asked[section]) if section in asked else Answer()

        self.compiled = told("extensions").facts.get("extensions", [])
        loads = {
            path: questions.ask(ask, python, "library", path, timeout_s=timeout_s)
            for path in extensions.loadable(self.compiled)
        }
        self.machine = questions.answer(machine) if machine else nvidia.Machine()
        self.known = known or told("interpreter")
        self.host = told("host")
        self.folders = {folder: questions.answer(answer) for folder, answer in looked.items()}
        self.loads = {path: questions.answer(one) for path, one in loads.items()}
        self.torch = told("torch")

    def judged(self) -> Iterator[Result]:
        """What the judges say, the interpreter and its packages first."""
        known = self.known.facts
        readable = {"python", "packages", "modules"} <= known.keys()
        found, modules = known.get("packages", []), known.get("modules", {})
        installed = {one["name"]: one["version"] for one in reversed(found)}
        listed = self.machine.gpus
        devices = self._devices()["devices"]
        if "interpreter" in self.looks:  # one that doesn't start is why the others say nothing
            yield from interpreter.check(self.python, self.known)
        if packages.CHECK in self.wanted and readable:
            yield from packages.check(known["python"], found, modules)
        if installs.CHECK in self.wanted and readable:
            yield from installs.check(found, modules, STACK)
        if torch_build.CHECK in self.wanted:
            hidden = visible_devices.hides_all(os.environ, listed)
            yield from torch_build.check(self.torch, gpus=len(listed), hidden=hidden)
        if gpus.CHECK in self.wanted:
            sees = len(devices) if torch_build.CHECK in self.wanted else None
            yield from gpus.check(self.machine, os.environ.get("CUDA_VISIBLE_DEVICES"), sees)
        if extensions.CHECK in self.wanted:
            yield from extensions.check(self.compiled, devices, self.loads)
        if shown_variables.CHECK in self.wanted:
            interfaces = self.host.facts.get("network", {}).get("interfaces", ())
            yield from variables.check(
                os.environ, gpus=listed, interfaces=interfaces, installed=installed
            )
        if limits.CHECK in self.wanted:
            yield from limits.check(self.host.facts)
        if storage.CHECK in self.wanted:
            yield from storage.check(self.folders, self.caches)
            yield from storage.socket_path(os.environ)

    def _devices(self) -> Devices:
        nothing = Devices(available=False, devices=[], error="", warnings=[])
        found: Devices = self.torch.facts.get("devices", nothing)
        return found
