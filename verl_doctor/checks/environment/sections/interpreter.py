"""The interpreter and what is installed for it. Imports none of it."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import platform
import re
import sys
from typing import Any
from urllib.parse import unquote, urlsplit

STACK = {
    "accelerate": "accelerate",
    "apex": "apex",
    "datasets": "datasets",
    "deepspeed": "deepspeed",
    "flash-attn": "flash_attn",
    "flashinfer-python": "flashinfer",
    "huggingface-hub": "huggingface_hub",
    "hydra-core": "hydra",
    "liger-kernel": "liger_kernel",
    "mbridge": "mbridge",
    "megatron-core": "megatron",
    "numpy": "numpy",
    "omegaconf": "omegaconf",
    "peft": "peft",
    "pyarrow": "pyarrow",
    "ray": "ray",
    "safetensors": "safetensors",
    "sgl-kernel": "sgl_kernel",
    "sglang": "sglang",
    "tensordict": "tensordict",
    "tokenizers": "tokenizers",
    "torch": "torch",
    "torchaudio": "torchaudio",
    "torchdata": "torchdata",
    "torchvision": "torchvision",
    "transformer-engine": "transformer_engine",
    "transformers": "transformers",
    "triton": "triton",
    "verl": "verl",
    "vllm": "vllm",
    "xformers": "xformers",
}
"""The packages whose versions and places decide whether a run works, and what they import as."""


def python(*_: str) -> dict[str, Any]:
    """Which interpreter it is, and the values that requirements' markers are evaluated with."""
    return {
        "version": platform.python_version(),
        "executable": sys.executable,
        "markers": {
            "implementation_name": sys.implementation.name,
            "os_name": os.name,
            "platform_machine": platform.machine(),
            "platform_python_implementation": platform.python_implementation(),
            "platform_release": platform.release(),
            "platform_system": platform.system(),
            "platform_version": platform.version(),
            "python_full_version": platform.python_version(),
            "python_version": ".".join(platform.python_version_tuple()[:2]),
            "sys_platform": sys.platform,
        },
    }


def packages(*_: str) -> list[dict[str, Any]]:
    """Every installed distribution, in the order in which Python would find them."""
    found, seen = [], set()
    for one in importlib.metadata.distributions():
        path = os.path.realpath(str(getattr(one, "_path", "")))
        if path in seen or os.path.basename(path).startswith("~"):  # pip's left-overs
            continue
        seen.add(path)
        name = one.metadata["Name"] if one.metadata else None
        if not name:
            continue
        name = re.sub(r"[-_.]+", "-", name).lower()
        known = name in STACK
        source = _source(one) if known else {}
        folder = source.get("folder", "")
        found.append(
            {
                "name": name,
                "version": one.version or "",
                "path": path,
                "requires": list(one.requires or ()) if known else [],
                "requires_python": (one.metadata["Requires-Python"] or "") if known else "",
                "editable": folder,
                "commit": source.get("commit") or (_commit(folder) if folder else ""),
            }
        )
    return found


def modules(*_: str) -> dict[str, dict[str, Any]]:
    """Where an import of each package of the stack would go, and of verl its release."""
    found = {}
    for module in STACK.values():
        try:
            spec = importlib.util.find_spec(module)
        except (ImportError, AttributeError, ValueError):  # an import hook of some package
            continue
        if spec is not None:
            places = list(spec.submodule_search_locations or ())
            found[module] = {
                "file": os.path.realpath(spec.origin) if spec.origin else "",
                "folders": [os.path.realpath(place) for place in places],
                "version": _release(places) if module == "verl" else "",
            }
    return found


def _release(folders: list[str]) -> str:
    """The release that verl's sources state: a checkout may have no metadata."""
    for folder in folders:
        try:
            return _read(os.path.join(folder, "version", "version"))
        except OSError:
            continue
    return ""


def _source(one: Any) -> dict[str, str]:
    """What pip noted of an install that is not from an index: folder if editable, commit."""
    try:
        noted = json.loads(one.read_text("direct_url.json") or "{}")
    except (ValueError, OSError):
        return {}
    if noted.get("dir_info", {}).get("editable"):
        return {"folder": unquote(urlsplit(noted.get("url", "")).path)}
    return {"commit": noted.get("vcs_info", {}).get("commit_id", "")}


def _commit(folder: str) -> str:
    """The commit that a checkout stands at, "" where it can't be told. Runs no git."""
    git = os.path.join(folder, ".git")
    try:
        if os.path.isfile(git):  # a worktree or a submodule
            git = os.path.join(folder, _read(git).split("gitdir:", 1)[1].strip())
        head = _read(os.path.join(git, "HEAD"))
        if not head.startswith("ref:"):
            return head
        ref = head[4:].strip()
        common = os.path.join(git, "commondir")
        shared = os.path.join(git, _read(common)) if os.path.exists(common) else git
        for place in (git, shared):
            if os.path.exists(os.path.join(place, ref)):
                return _read(os.path.join(place, ref))
        for line in _read(os.path.join(shared, "packed-refs")).splitlines():
            if line.endswith(" " + ref):
                return line.split()[0]
    except (OSError, IndexError):
        pass
    return ""


def _read(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read(1 << 20).strip()


PARTS = (python, packages, modules)
