"""`2026-12-01 05:52:52,184<TAB>INFO worker.py:2038 -- `: Ray's Python logger."""

from __future__ import annotations

from . import DIGITS, LEVELS, Format, Sample

FORMAT = Format(
    name="ray_python_log",
    starts=DIGITS,
    then=DIGITS,
    pattern=r"(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})[\t ]+"
    rf"(?P<level>{LEVELS}) [^\s:]+\.pyx?:\d+ -- ?",
    needs=(" --",),
    samples=(
        Sample(
            "2026-12-01 06:20:54,406\tINFO worker.py:2038 -- Started a local Ray instance.",
            "Started a local Ray instance.",
            {"level": "INFO", "time": "2026-12-01T06:20:54.406"},
        ),
        Sample(
            "2026-12-01 06:20:48,586\tWARNING authentication_token_setup.py:85 -- Token",
            "Token",
            {"level": "WARNING", "time": "2026-12-01T06:20:48.586"},
        ),
    ),
)
