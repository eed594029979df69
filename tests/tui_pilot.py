"""Runs the real app without a terminal: keys in, the text of the screen out."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from textual.pilot import Pilot
from textual.widgets import Input as Field

from verl_doctor.model import Lang
from verl_doctor.sources import expand
from verl_doctor.tui.app import DoctorApp
from verl_doctor.tui.reading import Input
from verl_doctor.tui.screens.triage import Triage
from verl_doctor.tui.widgets.detail import Detail
from verl_doctor.tui.widgets.findings import FindingList
from verl_doctor.tui.widgets.logview import LogView
from verl_doctor.tui.widgets.strip import Strip

PATIENCE_S = 60.0
"""A loaded machine is slow; a test that waits this long has failed."""


class User:
    """Someone at the keyboard."""

    def __init__(self, app: DoctorApp, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def triage(self) -> Triage:
        return self.app._triage

    @property
    def log(self) -> LogView:
        return self.triage.query_one(LogView)

    @property
    def findings(self) -> FindingList:
        return self.triage.query_one(FindingList)

    @property
    def detail(self) -> Detail:
        return self.triage.query_one(Detail)

    @property
    def strip(self) -> Strip:
        return self.triage.query_one(Strip)

    @property
    def line(self) -> int | None:
        """Number of the line that the cursor is on."""
        return self.log.number()

    async def press(self, *keys: str) -> None:
        """Presses keys and waits until everything that they began is done."""
        await self.pilot.press(*keys)
        await self.settle()

    async def type(self, text: str) -> None:
        """Puts a text into the question that is asked, and presses Enter."""
        await self.until(lambda: self.app.screen.query(Field))
        self.app.screen.query_one(Field).value = text
        await self.press("enter")

    async def settle(self) -> None:
        """Waits for the threads that search, filter and ask the store."""
        for _ in range(2):
            # not `workers.wait_for_complete`: it takes a search that was overtaken for an error
            await self.until(lambda: all(worker.is_finished for worker in self.app.workers))
            await self.pilot.pause()

    async def until(self, holds: Callable[[], object]) -> None:
        """Waits until a condition holds."""
        end = time.monotonic() + PATIENCE_S
        while not holds():
            assert time.monotonic() < end, f"never held; the screen:\n{self.screen()}"
            await self.pilot.pause(0.02)

    async def read(self) -> None:
        """Waits until the log has been read and the store has answered."""
        await self.until(lambda: self.triage.snapshot.finished and self.app.recorded)
        await self.settle()

    def screen(self) -> str:
        """The text of the screen as a terminal would show it, without colours."""
        # Textual has no public way to the cells of the screen; this is the only place that knows
        strips = self.app.screen._compositor.render_strips()
        return "\n".join(strip.text.rstrip() for strip in strips) + "\n"

    def messages(self) -> list[str]:
        """What the app has told in passing, the last one last."""
        return [one.message for one in self.app._notifications]


def use(
    paths: str | Path | list[str | Path] | Input,
    script: Callable[[User], Awaitable[Any]],
    *,
    size: tuple[int, int] = (120, 36),
    lang: Lang = "en",
    read: bool = True,
    **options: Any,
) -> None:
    """Opens logs in the app and lets a script use it; `read`: once they have been read."""
    if isinstance(paths, Input):
        wanted = paths
    else:
        some = paths if isinstance(paths, list) else [paths]
        sources, failures = expand([str(path) for path in some])
        assert not failures, failures
        wanted = Input(tuple(sources))

    async def run() -> None:
        app = DoctorApp(wanted, lang=lang, **options)
        async with app.run_test(size=size) as pilot:
            user = User(app, pilot)
            if read:
                await user.read()
            await script(user)

    asyncio.run(run())
