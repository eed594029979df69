"""What is left out of a report because somebody has said that nobody needs to see it."""

from __future__ import annotations

from ..model import Finding, Report


def is_muted(finding: Finding) -> bool:
    """Whether a config file or the incident store mutes it."""
    history = finding.history
    return finding.muted is not None or (history is not None and history.muted)


def without_muted(report: Report) -> Report:
    """The report without its muted findings; `hidden["muted"]` counts them.

    What ended the run stays, though muted: a mute does not hide why a run is dead.
    """
    shown = tuple(
        finding
        for place, finding in enumerate(report.findings)
        if not is_muted(finding) or (place == 0 and finding.role == "root")
    )
    muted = report.hidden.get("muted", 0) + len(report.findings) - len(shown)
    return report._replace(findings=shown, hidden={**report.hidden, "muted": muted})
