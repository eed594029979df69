"""`ERROR:logger.name:text`: `logging.basicConfig`, and torch's elastic agent, its oldest shape."""

from __future__ import annotations

from . import LEVEL_STARTS, LEVEL_THEN, LEVELS, Format, Sample

FORMAT = Format(
    name="logging_basic",
    starts=LEVEL_STARTS,
    then=LEVEL_THEN,
    pattern=rf"(?P<level>{LEVELS}):[A-Za-z_][\w.-]{{0,120}}:(?!//)",
    needs=(":",),
    samples=(
        Sample(
            "ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: -9) local_rank",
            "failed (exitcode: -9) local_rank",
            {"level": "ERROR"},
        ),
        Sample("WARNING:root: indented", " indented", {"level": "WARNING"}),
    ),
)
