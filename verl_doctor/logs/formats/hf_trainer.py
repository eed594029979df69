"""`[INFO|trainer.py:2926] 2023-10-19 09:48:54,430 >> `: Hugging Face's explicit format."""

from __future__ import annotations

from . import LEVEL_STARTS, LEVELS, Format, Sample

FORMAT = Format(
    name="hf_trainer",
    starts="[",
    then=LEVEL_STARTS,
    pattern=rf"\[(?P<level>{LEVELS})\|[^\]\s]+:\d+\] ?"
    r"(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) >>(?: |$)",
    needs=(" >>",),
    samples=(
        Sample(
            "[INFO|trainer.py:2926] 2023-10-19 09:48:54,430 >> Saving model checkpoint",
            "Saving model checkpoint",
            {"level": "INFO", "time": "2023-10-19T09:48:54.430"},
        ),
        Sample(
            "[WARNING|logging.py:314]2024-10-19 09:48:54,430 >> text",
            "text",
            {"level": "WARNING", "time": "2024-10-19T09:48:54.430"},
        ),
    ),
)
