"""What people say about an incident, kept in the store: acknowledged, resolved, muted, comments.

The store can be locked by another process or lie on a slow disk, so it is asked in a thread. What
goes wrong there is told and changes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from textwrap import shorten
from typing import NamedTuple

from ... import store
from ...errors import StoreError
from ..words import word
from .ask import Ask, Choose
from .base import DoctorScreen

DAYS: tuple[int | None, ...] = (1, 7, 30, None)
"""How long a mute may last; None: without an end."""
DAY_S = 86_400
MAX_TOLD = 60
"""Characters of a fix that are told in passing."""


class Subject(NamedTuple):
    """The incident that a key is about."""

    fingerprint: str
    name: str
    fixes: tuple[str, ...] = ()
    """What the doctor advised."""


class Keeping(DoctorScreen):
    """A screen on which an incident can be chosen."""

    def subject(self) -> Subject | None:
        """The incident that is chosen now."""
        raise NotImplementedError

    def kept(self) -> None:
        """Called when the store has changed."""

    def action_acknowledge(self) -> None:
        if one := self._chosen():
            self._keep(
                lambda: word("acknowledged", self.lang, n=store.acknowledge(one.fingerprint).number)
            )

    def action_resolve(self) -> None:
        if not (one := self._chosen()):
            return

        def resolved(fix: str | None) -> None:
            if fix:
                self._keep(
                    lambda: word(
                        "resolved",
                        self.lang,
                        n=store.resolve(one.fingerprint, fix).number,
                        fix=shorten(fix, MAX_TOLD, placeholder="…"),
                    )
                )

        def chosen(place: int | None) -> None:
            if place is None:
                return
            if place < len(one.fixes):
                resolved(one.fixes[place])
            else:
                self.app.push_screen(Ask(word("ask_fix_words", self.lang)), resolved)

        choices = [*one.fixes, word("other_fix", self.lang)]
        self.app.push_screen(Choose(word("ask_fix", self.lang), choices), chosen)

    def action_mute(self) -> None:
        if not (one := self._chosen()):
            return

        def reasoned(reason: str | None) -> None:
            if not reason:
                return

            def until(place: int | None) -> None:
                if place is None:
                    return
                days = DAYS[place]
                end = time.time() + days * DAY_S if days is not None else None
                self._keep(
                    lambda: word(
                        "muted", self.lang, n=store.mute(one.fingerprint, reason, until=end).number
                    )
                )

            choices = [self._days(days) for days in DAYS]
            self.app.push_screen(Choose(word("ask_until", self.lang), choices), until)

        self.app.push_screen(Ask(word("ask_mute", self.lang, what=one.name)), reasoned)

    def action_note(self) -> None:
        if not (one := self._chosen()):
            return

        def written(text: str | None) -> None:
            if text:
                self._keep(lambda: self._note(one.fingerprint, text))

        self.app.push_screen(Ask(word("ask_note", self.lang, what=one.name)), written)

    def _note(self, fingerprint: str, text: str) -> str:
        store.add_note(fingerprint, text)
        return word("noted", self.lang)

    def _days(self, days: int | None) -> str:
        if days is None:
            return word("for_good", self.lang)
        return word("day" if days == 1 else "days", self.lang, n=days)

    def _chosen(self) -> Subject | None:
        one = self.subject()
        if one is None:
            self.doctor.say(word("no_finding", self.lang), "warning")
        return one

    def _keep(self, change: Callable[[], str]) -> None:
        """Changes the store in a thread; `change` returns the words that tell it."""

        def work() -> None:
            try:
                told = change()
            except StoreError as error:
                text = str(error)
                if "no incident" in text:
                    text = word("not_recorded", self.lang)
                self.doctor.say(text, "error")
                return
            self.doctor.say(told)
            self.app.call_from_thread(self.kept)

        self.run_worker(work, thread=True, group="store", exit_on_error=False)
