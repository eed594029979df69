"""Every key of every table does something where its help says so.

What it does is held by the other tests of the screen; here no key may be dead, and none untried.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from textual.widgets import OptionList

from verl_doctor.tui.keys import PANES, Key
from verl_doctor.tui.logfile.find import Query
from verl_doctor.tui.screens.metrics import Chart

from .conftest import GENUINE
from .test_tui_keys import LOG
from .tui_pilot import User, use
from .tui_scenes import CHECKED, PYTHON

pytestmark = pytest.mark.usefixtures("compiled_once")

DRIFT = GENUINE / "gpu-kl-drift.log"
MIDDLE = 7
"""The line on which the cursor of the log stands before each key; in a traceback."""


class Trial(NamedTuple):
    """How it is seen that a key has done something: `look` gives something else than before."""

    look: Callable[[User], object]
    before: tuple[str, ...] = ()
    """Keys that are pressed first."""


def _screen(user: User) -> object:
    return user.app.screen


def _focus(user: User) -> object:
    return user.app.screen.focused


def _item(user: User) -> object:
    """Where the list in use stands; it is at its first item before the key."""
    chosen = user.app.screen.focused
    return chosen.highlighted if isinstance(chosen, OptionList) else None


def _cursor(user: User) -> object:
    return user.log.cursor


def _told(user: User) -> object:
    """When something was told last."""
    return max((one.raised_at for one in user.app._notifications), default=0)


def _clipboard(user: User) -> object:
    return user.app.clipboard


def _point(user: User) -> object:
    return user.app.screen.query_one(Chart).point


LIST = {
    "cursor_down": Trial(_item),
    "cursor_up": Trial(_item, ("G",)),
    "first": Trial(_item, ("G",)),
    "last": Trial(_item),
    "page_down": Trial(_item),
    "page_up": Trial(_item, ("G",)),
}
KEPT = {
    "acknowledge": Trial(_told),
    "resolve": Trial(_screen),
    "mute": Trial(_screen),
    "note": Trial(_screen),
}
SCREEN = {"next_pane": Trial(_focus), "back": Trial(_screen)}
TRIALS: dict[str, dict[str, Trial]] = {
    "findings": {**LIST, "open": Trial(_focus), "copy": Trial(_clipboard)},
    "detail": {**LIST, "open": Trial(_focus), "copy": Trial(_clipboard)},
    "log": {
        **{name: Trial(_cursor) for name in LIST},
        "half_down": Trial(_cursor),
        "half_up": Trial(_cursor),
        "left": Trial(lambda user: user.log.side, ("l",)),
        "right": Trial(lambda user: user.log.side),
        "open": Trial(_focus),
        "copy": Trial(_clipboard),
        "mark": Trial(lambda user: set(user.log.bookmarks)),
    },
    "strip": {**{name: LIST[name] for name in LIST if "page" not in name}, "open": Trial(_focus)},
    "triage": {
        "next_pane": Trial(_focus),
        "previous_pane": Trial(_focus),
        "back": Trial(lambda user: user.triage.has_class("zoomed"), ("plus",)),
        "next_error": Trial(_cursor),
        "previous_error": Trial(_cursor),
        "next_warning": Trial(_cursor),
        "previous_warning": Trial(_cursor),
        "search": Trial(_screen),
        "next_hit": Trial(_cursor),
        "previous_hit": Trial(_cursor),
        "filter": Trial(_screen),
        "toggle_filters": Trial(_told),
        "toggle_fold": Trial(lambda user: dict(user.log.shown.folds)),
        "toggle_gaps": Trial(lambda user: user.log.gaps),
        "toggle_wrap": Trial(lambda user: user.log.wrap),
        "toggle_follow": Trial(lambda user: user.log.following),
        "next_mark": Trial(_cursor),
        "previous_mark": Trial(_cursor),
        "jump": Trial(_screen),
        "last_moment": Trial(_cursor),
        "log_start": Trial(_cursor),
        "next_file": Trial(lambda user: user.log.lines),
        "previous_file": Trial(lambda user: user.log.lines),
        "editor": Trial(_told),
        "copy_finding": Trial(_clipboard),
        **KEPT,
        "incidents": Trial(_screen),
        "rules": Trial(_screen),
        "metrics": Trial(_screen),
        "check": Trial(_told),
        "check_results": Trial(_screen),
        "stop_reading": Trial(_told),
        "zoom": Trial(lambda user: user.triage.has_class("zoomed")),
    },
    "incidents": {
        **LIST,
        **KEPT,
        **SCREEN,
        "search": Trial(_screen),
        "copy": Trial(_clipboard),
    },
    "rules": {**LIST, **SCREEN, "search": Trial(_screen), "copy": Trial(_clipboard)},
    "metrics": {
        **LIST,
        "left": Trial(_point),
        "right": Trial(_point, ("left",)),
        "open": Trial(_screen),
        "back": Trial(_screen),
    },
    "checks": {
        **LIST,
        **SCREEN,
        "open": Trial(_focus),
        "copy": Trial(_clipboard),
        "check": Trial(_screen),
    },
    "app": {
        "help": Trial(_screen),
        "command_palette": Trial(_screen),
        "theme": Trial(lambda user: user.app.theme),
        "quit": Trial(lambda user: user.app.is_running),
    },
}
OPENED_BY = {"incidents": "i", "rules": "R", "metrics": "M", "checks": "P"}


def test_no_key_is_untried() -> None:
    for pane, keys in PANES.items():
        assert {key.name for key in keys} == set(TRIALS[pane]), pane


async def begin(user: User, pane: str) -> None:
    """The pane in use, its list at the first item, the log in its middle, nothing told."""
    app = user.app
    opened = 2 if pane in OPENED_BY and len(app.screen_stack) > 1 else 1
    while len(app.screen_stack) > opened:
        app.pop_screen()
    user.triage.remove_class("zoomed")
    log = user.log
    if log.lines is not app.lines[0]:
        log.show(app.lines[0])
    log.searched = Query.parse("alpha")
    log.shown.folds.clear()
    log.bookmarks, log.side, log.following = set(), 0, False
    user.triage.goto_line(MIDDLE)
    app.clear_notifications()
    app._clipboard = ""
    widgets = {"detail": user.detail, "log": user.log, "strip": user.strip}
    widgets.get(pane, user.findings).focus()
    if pane in OPENED_BY and opened == 1:
        await user.press(OPENED_BY[pane])
    if pane in OPENED_BY:
        app.screen.query_one(OptionList).focus()
    await user.pilot.pause()
    if isinstance(app.screen.focused, OptionList):
        await user.pilot.press("g")


async def attempt(user: User, pane: str, key: Key, name: str) -> None:
    trial = TRIALS[pane][key.name]
    await begin(user, pane)
    await user.press(*trial.before)
    was = trial.look(user)
    await user.press(name)
    assert trial.look(user) != was, f"{pane}: {name} ({key.action}) did nothing"


@pytest.mark.parametrize("pane", [pane for pane in PANES if pane != "app"])
def test_every_key_of_a_pane_does_something(pane: str, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text(LOG)

    async def script(user: User) -> None:
        user.app.checked = CHECKED
        await user.press("a")  # so that there is an incident to list
        for key in PANES[pane]:
            for name in key.keys.split(","):
                await attempt(user, pane, key, name)

    use([log, DRIFT], script, python=PYTHON, size=(100, 30))


def test_every_key_of_the_app_does_something() -> None:
    async def script(user: User) -> None:
        for key in PANES["app"]:
            for name in key.keys.split(","):
                await attempt(user, "app", key, name)

    use(DRIFT, script)
