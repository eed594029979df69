"""The environment variables that a run reads: as they are shown, and as faults are told of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ...logs.mask import MARK, mask
from ...logs.text import visible
from ...model import Fix, Severity, Text
from ..types import Result

CHECK = "env.variables"
LISTED = re.compile(
    r"(?:NCCL|GLOO|TORCH|PYTORCH|TORCHINDUCTOR|TRITON|VLLM|SGLANG|CUDA|NVIDIA|RAY|HF|HUGGINGFACE"
    r"|TRANSFORMERS|TOKENIZERS|DATASETS|HYDRA|WANDB|VERL|MODELSCOPE|OMP|MKL|UCX|FI)_\w+"
    r"|(?:https?|all|no)_proxy|(?:HTTPS?|ALL|NO)_PROXY"
    r"|PYTHONPATH|PYTHONNOUSERSITE|PYTHONHOME|LD_LIBRARY_PATH|LD_PRELOAD|TMPDIR"
    r"|(?:HIP|ROCR)_VISIBLE_DEVICES"
)
"""The variables that can change what a run does."""
SECRET = re.compile(r"(?i)token(?!izer)|secret|passw|(?:api|access|private)_?key|credential")
"""Names whose values are not shown at all."""
SHOWN = 300
"""Characters of a value that are shown."""


def listed(environment: Mapping[str, str]) -> list[str]:
    """`NAME=value` of every variable that matters, sorted; secrets as `***`."""
    return [
        f"{name}={MARK if SECRET.search(name) and value else visible(mask(value), SHOWN)}"
        for name, value in sorted(environment.items())
        if LISTED.fullmatch(name)
    ]


def hub_flag(environment: Mapping[str, str], name: str) -> bool:
    """Whether a variable is on, as huggingface_hub reads it."""
    return environment.get(name, "").upper() in ("1", "ON", "YES", "TRUE")


def fault(
    environment: Mapping[str, str],
    names: Sequence[str],
    severity: Severity,
    en: str,
    zh: str,
    rule: str = "",
    fix: Fix | None = None,
) -> Result:
    """A fault of these variables, whose values stand as seen; by default the fix unsets them."""
    rows = listed({name: environment[name] for name in names})
    unset = Fix(
        Text("Unset it for the whole job.", "为整个作业取消该变量。"),
        run=f"unset {' '.join(names)}",
        risk="none",
    )
    return Result(CHECK, "fault", Text(en, zh), severity, tuple(rows), fix or unset, rule)
