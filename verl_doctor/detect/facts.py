"""What a log tells of the software and hardware under the run, as it is printed at the start."""

from __future__ import annotations

import re

from .. import lazy

_NAMES = {
    "verl": "verl",
    "torch": "torch",
    "pytorch": "torch",
    "vllm": "vllm",
    "sglang": "sglang",
    "ray": "ray",
    "transformers": "transformers",
    "tensordict": "tensordict",
    "deepspeed": "deepspeed",
    "accelerate": "accelerate",
    "flash-attn": "flash-attn",
    "flash_attn": "flash-attn",
    "megatron-core": "megatron-core",
    "megatron_core": "megatron-core",
    "nccl": "nccl",
    "cuda": "cuda",
    "cudnn": "cudnn",
    "triton": "triton",
    "numpy": "numpy",
    "python": "python",
}
_NAME = rf"(?<![\w./-])(?P<name>{'|'.join(_NAMES)})"
_NUMBER = r"v?(?P<version>\d+\.\d+(?:\.\w+)*(?:\+[\w.]+)?)"
_VERSIONS = (
    lazy.compile(
        rf"{_NAME}(?: API server| runtime)?[ _]version[\"']?\s?[:=]?\s?[\"']?{_NUMBER}", re.I
    ),
    lazy.compile(rf"(?P<name>LLM) engine \({_NUMBER}\)"),
)
_GPU = lazy.compile(
    r"\b((?:NVIDIA|AMD Instinct|Ascend) ?(?:GeForce )?(?:RTX |MI)?[A-Z]{0,2}\d{2,4}[A-Z]?\d?\w{0,3}"
    r"(?:[ -](?:SXM\d?|PCIe|NVL\d*|HBM\d\w?|\d+GB|Ti|SUPER|Ada|Generation))*)"
)
MAX_GPUS = 4


class Facts:
    """Versions and devices; what a log says first of each is what the run began with."""

    def __init__(self) -> None:
        self.versions: dict[str, str] = {}
        self._gpus: dict[str, None] = {}

    @property
    def hardware(self) -> tuple[str, ...]:
        """Names of the accelerators, in the order of the log."""
        return tuple(self._gpus)

    def line(self, text: str) -> None:
        """Takes a line that may name a version or a device."""
        for pattern in _VERSIONS:
            for found in pattern.finditer(text):
                name = _NAMES.get(found["name"].lower(), "vllm")
                self.versions.setdefault(name, found["version"])
        for found in _GPU.finditer(text):
            if len(self._gpus) < MAX_GPUS:
                self._gpus.setdefault(found[1])
