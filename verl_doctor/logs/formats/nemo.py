"""`[NeMo I 2025-08-21 00:16:02 nemo_logging:393] `: NeMo, also on Megatron."""

from __future__ import annotations

from . import Format, Sample

FORMAT = Format(
    name="nemo",
    starts="[",
    then="N",
    pattern=r"\[NeMo (?P<level>[DIWEFC]) (?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) "
    r"[^\]\n]{1,80}\] ?",
    needs=("[NeMo ",),
    samples=(
        Sample(
            "[NeMo W 2025-08-21 00:16:02 nemo_logging:393] text",
            "text",
            {"level": "WARNING", "time": "2025-08-21T00:16:02"},
        ),
    ),
)
