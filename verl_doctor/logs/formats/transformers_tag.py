"""`[transformers] `: the library's name before its message."""

from __future__ import annotations

from . import Format, Sample

FORMAT = Format(
    name="transformers_tag",
    starts="[",
    then="t",
    pattern=r"\[transformers\](?: |$)",
    needs=("[transformers]",),
    samples=(
        Sample("[transformers] `torch_dtype` is deprecated!", "`torch_dtype` is deprecated!", {}),
    ),
)
