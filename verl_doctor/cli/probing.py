"""`--probe`: runs the checks that would tell the causes of what was found apart."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from ..model import Lang, Observation, Report


def prober(python: str | None, lang: Lang) -> Callable[[Report], Sequence[Observation]]:
    """Something that looks at a report, says on standard error what it runs, and runs it.

    Takes the interpreter that trains (None: the active one) and the language of the report. Checks
    only read; they run on this machine, so the log should be of this machine too.
    """

    def probe(report: Report) -> list[Observation]:
        asked = sorted({name for finding in report.findings for name in finding.checks})
        if not asked:
            print("verl-doctor: no check tells the causes of this apart", file=sys.stderr)
            return []
        print(f"verl-doctor: checking on this machine: {', '.join(asked)}", file=sys.stderr)
        from ..checks.environment import active_python, environment
        from ..checks.evidence import observations

        return observations(environment(python or active_python()), lang)

    return probe
