"""`2026-12-01 06:00:00,123 - name - ERROR - `: logging joined by dashes, in either order."""

from __future__ import annotations

from . import DIGITS, LEVELS, Format, Sample

FORMAT = Format(
    name="logging_dash",
    starts=DIGITS + "[",
    then=DIGITS + "t",
    pattern=r"(?:\[titan\] )?(?P<time>(?:\d{4}-\d\d-\d\d|\d\d/\d\d/\d{4}) \d\d:\d\d:\d\d"
    rf"(?:[.,]\d+)?) - (?:(?P<level>{LEVELS}) -(?: [A-Za-z_][\w.]{{0,80}} -)?"
    rf"|[\w./-]{{1,120}} - (?P<level_>{LEVELS}) -)(?: |$)",
    needs=(" - ",),
    samples=(
        Sample(
            "2026-12-01 06:00:00,123 - verl.trainer - ERROR - text",
            "text",
            {"level": "ERROR", "time": "2026-12-01T06:00:00.123"},
        ),
        Sample(
            "10/19/2023 09:48:54 - INFO - __main__ - text",
            "text",
            {"level": "INFO", "time": "2023-10-19T09:48:54"},
        ),
        Sample(
            "[rank0]:[titan] 2025-01-02 03:04:05,678 - root - INFO - text",
            "text",
            {"rank": "0", "level": "INFO", "time": "2025-01-02T03:04:05.678"},
        ),
        Sample(
            "2026-12-01 06:00:00,123 - ERROR - text",
            "text",
            {"level": "ERROR", "time": "2026-12-01T06:00:00.123"},
        ),
    ),
)
