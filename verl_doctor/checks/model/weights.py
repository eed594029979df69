"""The weights: all shards there, each as long as its header says, their types, NaN on request.

The header of a safetensors file is 8 bytes of length and that much JSON; no library is needed to
read it, and no weight is read.
"""

from __future__ import annotations

import json
import struct
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...model import Fix, Text
from ..types import Result, ok, unknown
from .folder import LFS, fault, pointer, read_json

CHECK = "model.weights"
INDEX = "model.safetensors.index.json"
MAX_HEADER = 32 << 20
"""Bytes; a shard of ten thousand weights has one. JSON takes up to thirty times its size in memory,
and the safetensors library's own limit is 100 MB."""


def check(path: Path, config: Mapping[str, Any]) -> Iterator[Result]:
    """Shards named and shards there, and each shard's header against its size."""
    index, wrong = read_json(path / INDEX)
    if wrong is not None:
        yield wrong
        return
    mapping = index.get("weight_map") if isinstance(index, dict) else None
    files = mapping.values() if isinstance(mapping, dict) else ()
    named = sorted({name for name in files if isinstance(name, str)})
    here = sorted(one.name for one in path.glob("*.safetensors") if one.is_file())
    if not named and not here:
        yield from _other_formats(path)
        return
    lost = [name for name in named if name not in here]
    if lost:
        yield fault(
            path,
            "critical",
            f"{len(lost)} of {len(named)} shards are missing.",
            f"{len(named)} 个分片中缺少 {len(lost)} 个。",
            *lost[:5],
            rule="HF011",
            check=CHECK,
            fix=Fix(Text("Download the folder again.", "重新下载该目录。")),
        )
    kinds: Counter[str] = Counter()
    broken = False
    for name in named or here:
        if name not in here:
            continue
        header, wrong = read_header(path / name)
        if wrong is not None:
            broken = True
            yield wrong
            continue
        kinds.update(one["dtype"] for one in header.values())
        if isinstance(mapping, dict):
            absent = [key for key, file in mapping.items() if file == name and key not in header]
            if absent:
                broken = True
                yield fault(
                    path / name,
                    "critical",
                    f"lacks {len(absent)} weights that the index puts in it.",
                    f"缺少索引中列出的 {len(absent)} 个权重。",
                    *absent[:3],
                    check=CHECK,
                    rule="HF011",
                )
    if not lost and not broken:
        dtypes = ", ".join(f"{kind} {count}" for kind, count in kinds.most_common())
        stated = config.get("dtype") or config.get("torch_dtype") or "?"
        yield ok(
            CHECK,
            f"{path}: {len(named or here)} shards, whole ({dtypes}; config.json says {stated}).",
            f"{path}：{len(named or here)} 个分片，完整（{dtypes}；config.json 为 {stated}）。",
        )


def read_header(path: Path) -> tuple[dict[str, Any], Result | None]:
    """The weights in the header of a safetensors file: name -> dtype, shape, data_offsets; or what
    is wrong."""

    def broken(en: str, zh: str, *seen: str) -> tuple[dict[str, Any], Result]:
        return {}, fault(path, "critical", en, zh, *seen, rule="HF012", check=CHECK)

    size = path.stat().st_size
    with path.open("rb") as file:
        start = file.read(8)
        if (start + file.read(len(LFS) - 8)).startswith(LFS):
            return {}, pointer(path)
        if len(start) < 8:
            return broken("is empty.", "是空文件。")
        (length,) = struct.unpack("<Q", start)
        if length > min(MAX_HEADER, size - 8):
            return broken(
                "has no valid header; it is no safetensors file or was cut short.",
                "头部无效：不是 safetensors 文件或下载不完整。",
                f"header length {length}, file {size} bytes",
            )
        file.seek(8)
        try:
            header = json.loads(file.read(length))
            header.pop("__metadata__", None)
            ends = [_end(one) for one in header.values()]
        except (
            ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError
        ) as error:  # fmt: skip
            return broken("has a header that can't be read.", "头部无法解析。", str(error)[:200])
    whole = 8 + length + max(ends, default=0)
    if size != whole:
        return broken(
            f"has {size:,} bytes, its header says {whole:,}: "
            + ("it was cut short." if size < whole else "something follows the weights."),
            f"文件 {size:,} 字节，头部记录为 {whole:,} 字节："
            + ("文件不完整。" if size < whole else "末尾有多余内容。"),
        )
    return header, None


def _end(weight: Mapping[str, Any]) -> int:
    """Where a weight ends, in bytes behind the header. Raises ValueError or KeyError."""
    end = weight["data_offsets"][1]
    if type(end) is not int or not 0 <= end < 2**63:
        raise ValueError("data_offsets are no places in a file")
    if not isinstance(weight["dtype"], str):
        raise ValueError("a dtype is no text")
    return end


def _other_formats(path: Path) -> Iterator[Result]:
    names = [one.name for one in path.iterdir() if one.suffix in (".bin", ".pt", ".pth", ".gguf")]
    if names:
        yield unknown(
            CHECK,
            f"{path}: no safetensors files; {len(names)} others are there, not read.",
            f"{path}：没有 safetensors 文件；另有 {len(names)} 个其他格式文件，未读取。",
            *sorted(names)[:5],
        )
    else:
        yield fault(
            path, "critical", "has no weights.", "没有权重文件。", rule="HF010", check=CHECK
        )


def not_finite(path: Path) -> Iterator[Result]:
    """Looks for NaN and Inf in every floating-point weight, memory-mapped. Needs torch and
    safetensors; says so where they are missing."""
    try:
        import torch
        from safetensors import SafetensorError, safe_open
    except ImportError as error:
        yield unknown(
            CHECK,
            f"The search for NaN needs torch and safetensors here: {error}.",
            f"查找 NaN 需要本环境安装 torch 与 safetensors：{error}。",
        )
        return
    seen = 0
    for file in sorted(one for one in path.glob("*.safetensors") if one.is_file()):
        try:
            with safe_open(file, framework="pt") as weights:
                for name in weights.keys():  # noqa: SIM118 - no mapping
                    tensor = weights.get_tensor(name)
                    if not tensor.is_floating_point():
                        continue
                    seen += 1
                    bad = int((~torch.isfinite(tensor.float())).sum())
                    if bad:
                        yield fault(
                            file,
                            "critical",
                            f"`{name}` holds {bad:,} values that are NaN or Inf.",
                            f"`{name}` 中有 {bad:,} 个 NaN 或 Inf。",
                            check=CHECK,
                            rule="MET001",
                        )
        except SafetensorError as error:
            yield unknown(
                CHECK, f"{file} can't be searched: {error}.", f"{file} 无法查找：{error}。"
            )
    yield ok(
        CHECK,
        f"{path}: {seen} weights were searched for NaN and Inf.",
        f"{path}：已在 {seen} 个权重中查找 NaN 与 Inf。",
    )
