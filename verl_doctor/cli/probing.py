"""`--probe` and `--bundle`: what checks say of the causes of what was found."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..logs.text import visible
from ..model import Lang, Observation, Report
from .launch import NEEDS

if TYPE_CHECKING:
    from ..checks.types import Result
    from ..detect.config import Settings
    from ..pipeline import Observe


def prober(python: str | None, lang: Lang) -> Observe:
    """Something that looks at a report, says on standard error what it runs, and runs it.

    Takes the interpreter that trains (None: the active one) and the language of the report. Checks
    only read; they run on this machine, so the log should be of this machine too. Only those run
    that the rules of the findings name.
    """

    def probe(report: Report, settings: Settings) -> list[Observation]:
        asked = sorted({name for finding in report.findings for name in finding.checks})
        if not asked:
            _tell("no check tells the causes of this apart")
            return []
        _tell(f"checking on this machine: {', '.join(asked)}")
        from ..checks.environment import active_python
        from ..checks.evidence import observations
        from ..checks.examine import Subject, ask_interpreter, examine, of_log

        machine = [name for name in asked if name.startswith("env.")]
        results: list[Result] = []
        interpreter = python or active_python()
        subject = Subject(interpreter, ask_interpreter(interpreter))
        try:
            subject = of_log(subject, report.versions.get("verl", ""), settings)
            results += examine(subject, [name for name in asked if name not in machine])
        except ImportError as error:
            _tell(f"the run's settings were not looked at, {error.name} is missing: {NEEDS}")
        results += examine(subject, machine)
        silent = {*asked} - {one.check for one in results}
        if silent:
            _tell(f"nothing to look at, the log does not tell it: {', '.join(sorted(silent))}")
        return observations(results, lang)

    return probe


def reader(paths: Sequence[str], lang: Lang) -> Observe:
    """Something that takes what `check --save` has kept in files for what checks have found.

    Says on standard error where and when that was, and where the log goes on after it. Raises
    BundleError for what is no such file.
    """
    from ..checks.bundle import read
    from ..checks.evidence import observations

    bundles = [read(path) for path in paths]

    def observed(report: Report, _: Settings) -> list[Observation]:
        ended = report.phase.last_time
        for path, one in zip(paths, bundles, strict=True):
            _tell(f"{path}: checked on {one.where}")
            if ended is not None and one.older_than(ended):
                _tell(
                    f"{path} is older than the end of the log: what it says may have changed since"
                )
        return [
            found for one in bundles for found in observations(one.results, lang, where=one.where)
        ]

    return observed


def _tell(text: str) -> None:
    print(f"verl-doctor: {visible(text)}", file=sys.stderr)
