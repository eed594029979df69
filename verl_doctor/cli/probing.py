"""`--probe` and `--bundle`: what checks say of the causes of what was found."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..logs.text import visible
from ..model import Lang, Observation, Report

if TYPE_CHECKING:
    from ..checks.examine import Subject
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
        from ..checks.evidence import observations
        from ..checks.examine import examine

        subject = _subject(python, report, settings)
        if subject.settings is None:
            left = [name for name in asked if not name.startswith("env.")]
            asked = [name for name in asked if name not in left]
            if left:
                _tell(f"not run, the settings of the run are not known: {', '.join(left)}")
        try:
            return observations([*examine(subject, asked)], lang)
        except ImportError as error:
            _tell(f"not run, {error.name} is missing: pip install 'verl-doctor[check]'")
            return observations(
                [*examine(subject, [one for one in asked if one.startswith("env.")])], lang
            )

    return probe


def _subject(python: str | None, report: Report, settings: Settings) -> Subject:
    """The run of a log: its own settings, for the release that it names."""
    from ..checks.environment import active_python
    from ..checks.examine import Subject, ask_interpreter, installed_verl

    python = python or active_python()
    installed = ask_interpreter(python)
    verl = report.versions.get("verl") or installed_verl(installed)
    if not settings.overrides and not settings.config:
        return Subject(python, installed, verl)
    try:
        from ..checks import config

        composed = config.compose(
            config.command(settings.overrides), config.known_release(verl), settings.config or None
        )
    except ImportError:
        return Subject(python, installed, verl)
    return Subject(python, installed, verl, composed, named=True)


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
