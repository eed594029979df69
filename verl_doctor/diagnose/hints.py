"""What moves a cause: whether a rule's piece of evidence holds here, and in which words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..detect.config import Settings
from ..logs.text import visible
from ..match.confirm import Confirmer
from ..model import Block, Hint, Lang, Observation, Rule
from .incidents import Incident
from .words import say


class Hints:
    """Judges evidence by the log, its settings, and what checks found on this machine."""

    def __init__(
        self,
        seen_rules: set[str],
        settings: Settings,
        observed: Sequence[Observation],
        lang: Lang,
    ) -> None:
        self._seen = seen_rules
        self._settings = settings
        self._observed = observed
        self._lang = lang
        self._confirm = Confirmer()

    def unasked(self, rule: Rule) -> tuple[str, ...]:
        """Checks that the rule's causes ask for and that were not run."""
        run = {one.check for one in self._observed}
        return tuple(name for name in asked(rule) if name not in run)

    def speaks(self, hint: Hint, incident: Incident, captures: Mapping[str, str]) -> str | None:
        """The reason in words if the hint holds for this incident, else None."""
        lang = self._lang
        if hint.check:
            return self._checked(hint)
        if hint.capture:
            value = captures.get(hint.capture, "")
            if hint.absent:
                return None if value else say("because_absent", lang, name=hint.capture)
            if not value or not self._fits(hint, value):
                return None
            shown = visible(value, 48)
            if hint.more_than:
                other = captures.get(hint.more_than, "")
                if not self._exceeds(value, other):
                    return None
                shown += f" > {visible(other, 48)}"
            return say("because_capture", lang, value=shown)
        if hint.config:
            setting = self._settings.get(hint.config)
            if setting is None or not self._fits(hint, str(setting)):
                return None
            value = visible(str(setting), 48)
            return say("because_config", lang, name=hint.config, value=value)
        if hint.seen:
            found = [rule for rule in hint.seen if rule in self._seen]
            return say("because_seen", lang, rule=", ".join(found)) if found else None
        if hint.phase:
            phase = incident.first.phase
            return say("because_phase", lang, value=phase) if phase in hint.phase else None
        if hint.frame and incident.block is not None:
            place = self._passed(hint.frame, incident.block)
            if hint.absent:
                return None if place else say("because_no_frame", lang, value=hint.frame)
            return say("because_frame", lang, value=visible(place, 80)) if place else None
        return None

    def _passed(self, pattern: str, block: Block) -> str:
        """The first frame of a traceback that a pattern fits, or ''."""
        for exc in block.chain:
            for frame in exc.frames:
                if self._confirm.search(pattern, f"{frame.file}:{frame.function}") is not None:
                    return frame.place
        return ""

    def _checked(self, hint: Hint) -> str | None:
        """What the check has found, if that is what the hint asks for."""
        found = [one for one in self._observed if one.check == hint.check]
        faults = [one for one in found if one.state == "fault"]
        if hint.state == "ok":
            faults, found = [], [] if faults else [one for one in found if one.state == "ok"]
        for one in faults if hint.state == "fault" else found:
            if not hint.matches or self._confirm.search(hint.matches, one.words) is not None:
                value = visible(one.text, 160).rstrip(".。")
                if one.where:
                    return say("because_bundle", self._lang, where=one.where, value=value)
                return say("because_check", self._lang, value=value)
        return None

    def _exceeds(self, value: str, other: str) -> bool:
        """Whether both captures are numbers, and the first is the greater one."""
        try:
            return self._confirm.fits(value, above=float(other))
        except ValueError:
            return False

    def _fits(self, hint: Hint, value: str) -> bool:
        return self._confirm.fits(value, hint.matches, hint.above, hint.below)


def asked(rule: Rule) -> tuple[str, ...]:
    """Checks that tell the rule's causes apart, in the order of the causes."""
    names = (hint.check for cause in rule.causes for hint in cause.evidence if hint.check)
    return tuple(dict.fromkeys(names))
