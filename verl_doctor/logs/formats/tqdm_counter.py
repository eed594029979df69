"""`Generating train split: 224 examples [00:00, 25.1 examples/s]`: a bar without a known end."""

from __future__ import annotations

from . import DESCRIPTION, Format, Sample

FORMAT = Format(
    name="tqdm_counter",
    starts="",
    pattern=DESCRIPTION
    + r" *\d[\d.]{0,12}[kMGT]? ?[A-Za-z]{0,12} \[\d+:\d\d(?::\d\d)?, [^\]\n]{1,120}\](?: +$)?",
    needs=("/s]", "s/it]"),
    samples=(
        Sample("Generating train split: 0 examples [00:00, ? examples/s]text", "text", {}),
        Sample("Generating test split: 32 examples [00:00, 12294.38 examples/s]", "", {}),
        Sample("3it [00:12,  4.01s/it]text", "text", {}),
    ),
)
