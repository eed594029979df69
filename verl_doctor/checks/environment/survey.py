"""All checks of the environment: asks every section, and has each answer judged."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ..types import Result
from . import (
    children,
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
from .facts import Devices
from .sections.interpreter import STACK

TIMEOUT_S = 120.0
"""What one check may take. Importing torch from a cold network file system takes a minute."""
QUICK_S = 20.0
"""What a look may take that imports nothing."""
AT_ONCE = 4
"""Children at a time."""


def environment(
    python: str,
    *,
    smoke: bool = False,
    folders: Sequence[Path] = (),
    timeout_s: float = TIMEOUT_S,
) -> list[Result]:
    """Checks the environment that an interpreter (see `active_python`) would train in.

    `folders`: what the run is going to write to, beside its caches; `smoke`: run the smoke tests as
    well; `timeout_s`: what a single check may take. Reads only: nothing is written but what a smoke
    test needs in a temporary folder. Raises nothing: what could not be looked at is a result too.
    """
    with ThreadPoolExecutor(AT_ONCE) as pool:
        try:
            survey = _Survey(pool, python, folders, timeout_s)
        except BaseException:  # Ctrl-C: else the pool would wait for every time limit
            pool.shutdown(wait=False, cancel_futures=True)
            children.end_all()
            raise
    found = [*survey.judged()]
    if smoke and survey.torch.facts.get("torch_import"):
        # one after another: each is timed, and two on one GPU would disturb each other
        tests = {
            name: ask(python, f"smoke/{name}", timeout_s=timeout_s) for name in smoke_tests.TESTS
        }
        found += smoke_tests.check(tests)
    return found


class _Survey:
    """The answers of all sections, once the pool has ended."""

    def __init__(
        self, pool: ThreadPoolExecutor, python: str, folders: Sequence[Path], timeout_s: float
    ) -> None:
        quick = min(QUICK_S, timeout_s)
        self.python = python
        # torch first: it takes longest. What concerns the machine is asked of the interpreter that
        # is certain to start.
        torch = pool.submit(ask, python, "torch_build", timeout_s=timeout_s)
        known = pool.submit(ask, python, "interpreter", timeout_s=quick)
        compiled = pool.submit(ask, python, "extensions", timeout_s=quick)
        machine = pool.submit(nvidia.machine, quick)
        host = pool.submit(ask, sys.executable, "host", timeout_s=quick)
        self.caches = storage.caches(os.environ)
        wanted = dict.fromkeys([*storage.absolute(folders), *self.caches])
        looked = {
            folder: pool.submit(ask, sys.executable, "folder", folder, timeout_s=quick)
            for folder in wanted
        }
        self.compiled = compiled.result().facts.get("extensions", [])
        loads = {
            path: pool.submit(ask, python, "library", path, timeout_s=timeout_s)
            for path in extensions.loadable(self.compiled)
        }
        self.machine = machine.result()
        self.known = known.result()
        self.host = host.result()
        self.folders = {folder: answer.result() for folder, answer in looked.items()}
        self.loads: dict[str, Answer] = {path: one.result() for path, one in loads.items()}
        self.torch = torch.result()

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
