"""What checks found, as evidence for the causes that a report offers."""

from __future__ import annotations

from collections.abc import Sequence

from ..model import Lang, Observation
from .types import Result


def observations(results: Sequence[Result], lang: Lang, where: str = "") -> list[Observation]:
    """Results of checks as evidence, in the language of the report that they are to move.

    `where`: on which machine and when they were seen; empty: on this one, now.
    """
    return [
        Observation(
            one.check, one.state, one.text.get(lang), "\n".join((one.text.en, *one.seen)), where
        )
        for one in results
    ]
