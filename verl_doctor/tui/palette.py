"""The command palette: the keys of the screen in use, one a line, in the order of its help."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from .keys import KEY_WIDTH, PANES
from .screens.base import DoctorScreen
from .words import word

if TYPE_CHECKING:
    from .app import DoctorApp


class Command(NamedTuple):
    """What a key does, and doing it."""

    keys: str
    """As a person reads them."""
    title: str
    run: Callable[[], object]

    def line(self, title: Content) -> Content:
        """Its line in the palette, with a title that may have parts marked."""
        return Content.assemble((f"{self.keys:<{KEY_WIDTH}} ", "bold"), title)


def commands(app: DoctorApp) -> Iterator[Command]:
    """What can be done on the screen in use; none where a question is asked."""
    screen = next(
        (one for one in reversed(app.screen_stack) if isinstance(one, DoctorScreen)), None
    )
    if screen is None:
        return
    for pane in screen.panes():
        for key in PANES[pane]:
            owner = next(
                (one for one in (screen.focused, screen, app)
                 if one is not None and hasattr(one, f"action_{key.name}")),
                None,
            )  # fmt: skip
            if owner is not None and key.name != "command_palette":
                run = getattr(owner, f"action_{key.name}")
                if key.argument is not None:
                    run = partial(run, key.argument)
                yield Command(key.shown, word(key.word, app.lang, n=key.argument), run)


class Keys(Provider):
    """Finds a command by a few letters of what it does."""

    def _commands(self) -> Iterator[Command]:
        return commands(cast("DoctorApp", self.app))

    async def discover(self) -> Hits:
        for one in self._commands():
            yield DiscoveryHit(one.line(Content(one.title)), one.run, text=one.title)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for one in self._commands():
            if (score := matcher.match(one.title)) > 0:
                yield Hit(score, one.line(matcher.highlight(one.title)), one.run, text=one.title)
