"""Folders that the run writes to: room, inodes, rights."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ...model import Fix, Severity, Text
from ...quantities import size
from ..types import Result, ok, unknown
from .ask import Answer
from .facts import Folder
from .shown_variables import hub_flag

CHECK = "env.folders"
FREE_LEAST = 10 << 30
"""For results: less can't hold two checkpoints with optimizer states of even a 0.5B model (weights
and two moments in fp32 are 12 bytes a parameter; the old one goes after the new one is written)."""
CACHE_FREE_LEAST = 1 << 30
"""For caches and temporary files."""
USED_MOST = 0.95
"""Ray does not spill to a disk that is fuller (RAY_local_fs_capacity_threshold)."""
INODES_LEAST = 10_000
SOCKET_MOST = 107
"""Bytes of a Unix socket's path (sun_path has 108, with the final zero)."""
SOCKET = "session_2026-12-01_22-23-24_123456_7/sockets/plasma_store"
"""What Ray puts below its temp dir at the least: the process id has a single digit here."""


RULES = {
    "Hugging Face": "DAT027",
    "datasets": "DAT027",
    "torch.compile": "TOR051",
    "Triton": "TOR051",
}
"""What writes to a folder -> the rule that reports it where it may not; else SYS003."""


def caches(environment: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Folder -> what writes there: temporary files and caches, by the variables that move them."""
    home = environment.get("HOME", os.path.expanduser("~"))
    cache = environment.get("XDG_CACHE_HOME") or f"{home}/.cache"
    hub = environment.get("HF_HOME") or f"{cache}/huggingface"
    temporary = environment.get("TMPDIR") or "/tmp"
    found = {
        "TMPDIR": temporary,
        "Ray": environment.get("RAY_TMPDIR") or temporary,
        "Hugging Face": environment.get("HF_HUB_CACHE") or f"{hub}/hub",
        "datasets": environment.get("HF_DATASETS_CACHE") or f"{hub}/datasets",
        "torch.compile": environment.get("TORCHINDUCTOR_CACHE_DIR") or temporary,
        "Triton": environment.get("TRITON_CACHE_DIR")
        or f"{environment.get('TRITON_HOME') or home}/.triton/cache",
        "vLLM": environment.get("VLLM_CACHE_ROOT") or f"{cache}/vllm",
    }
    if hub_flag(environment, "HF_HUB_OFFLINE"):
        del found["Hugging Face"]  # only read then, and often shared read-only
    writers: dict[str, tuple[str, ...]] = {}
    for writer, folder in found.items():
        path = os.path.abspath(folder)
        writers[path] = (*writers.get(path, ()), writer)
    return writers


def check(
    answers: Mapping[str, Answer], writers: Mapping[str, tuple[str, ...]]
) -> Iterator[Result]:
    """Judges what sections/folder.py told of each folder. `writers` has those that are caches; the
    others hold the run's results."""
    faults: list[Result] = []
    rows: list[str] = []
    for asked, answer in answers.items():
        failed = answer.failed.get("folder") or answer.failed.get("")
        if failed is not None:
            faults.append(
                unknown(
                    CHECK,
                    f"{asked} could not be looked at: {failed.what}",
                    f"无法检查 {asked}：{failed.what}",
                )
                if failed.how != "timeout"
                else _hangs(asked, failed.what)
            )
        elif "folder" in answer.facts:
            folder: Folder = answer.facts["folder"]
            faults += _faults(folder, writers.get(asked, ()))
            rows.append(_row(folder, writers.get(asked, ())))
    yield from faults
    if rows and not faults:
        yield ok(
            CHECK,
            "The folders that the run writes to are writable and have room.",
            "训练要写入的目录均可写且有空间。",
            *rows,
        )


def socket_path(environment: Mapping[str, str]) -> Iterator[Result]:
    """Whether Ray's sockets fit below its temp dir."""
    name = next((one for one in ("RAY_TMPDIR", "TMPDIR") if environment.get(one)), "")
    path = os.path.join(environment.get(name) or "/tmp", "ray", SOCKET)
    length = len(os.fsencode(path))
    if length > SOCKET_MOST:
        yield Result(
            CHECK,
            "fault",
            Text(
                f"{name} is too long a path for Ray's sockets: {length} bytes or more, of at most "
                f"{SOCKET_MOST}.",
                f"{name} 路径过长，Ray 无法创建套接字：至少 {length} 字节，上限 {SOCKET_MOST}。",
            ),
            "critical",
            (path,),
            Fix(
                Text("Choose a short one.", "换一个短路径。"),
                run="export RAY_TMPDIR=/tmp/r$UID",
                risk="none",
            ),
            "RAY051",
        )


def _row(folder: Folder, writers: Sequence[str]) -> str:
    about = f" ({', '.join(writers)})" if writers else ""
    return (
        f"{folder['path']}{about}: {size(folder['free'])} / {size(folder['total'])}, "
        f"{folder['type'] or '?'}"
    )


def _faults(folder: Folder, writers: Sequence[str]) -> Iterator[Result]:
    row = _row(folder, writers)
    path = folder["path"]
    if not folder["directory"]:
        yield Result(
            CHECK,
            "fault",
            Text(
                f"{path} can't be made: {folder['nearest']} is a file.",
                f"无法创建 {path}：{folder['nearest']} 是一个文件。",
            ),
            "high",
            (row,),
            None,
            "SYS014",
        )
    elif not folder["writable"]:
        yield Result(
            CHECK,
            "fault",
            Text(
                f"This user may not write to {path}.",
                f"当前用户无法写入 {path}。",
            ),
            "medium" if writers else "high",
            (row, folder["nearest"]),
            Fix(
                Text("Choose another folder, or its owner.", "换一个目录，或更改其属主。"),
                run=f"ls -ld {shlex.quote(folder['nearest'])}; id",
                risk="none",
            ),
            next((RULES[one] for one in writers if one in RULES), "SYS003"),
        )
    severity: Severity = "medium" if writers else "high"
    free, total = folder["free"], folder["total"]
    spills = "Ray" in writers and free < (1 - USED_MOST) * total
    if total and (spills or free < (CACHE_FREE_LEAST if writers else FREE_LEAST)):
        left = (f"{size(free)} free", f"剩余 {size(free)}")
        yield _full(path, row, *left, severity, "RAY015" if spills else "SYS001")
    elif folder["inodes"] and folder["inodes_free"] < INODES_LEAST:
        inodes = folder["inodes_free"]
        left = (f"{inodes} inodes free", f"剩余 {inodes} 个 inode")
        yield _full(path, row, *left, severity, "SYS001")


def _full(path: str, row: str, en: str, zh: str, severity: Severity, rule: str) -> Result:
    return Result(
        CHECK,
        "fault",
        Text(f"The disk of {path} is nearly full: {en}.", f"{path} 所在磁盘将满：{zh}。"),
        severity,
        (row,),
        Fix(
            Text("Make room, or write elsewhere.", "清理空间，或写到别处。"),
            run=f"df -h {shlex.quote(path)}; df -i {shlex.quote(path)}",
            risk="none",
        ),
        rule,
    )


def _hangs(path: str, waited: str) -> Result:
    return Result(
        CHECK,
        "fault",
        Text(
            f"Looking at {path} does not return within {waited}: its mount hangs.",
            f"访问 {path} 在 {waited} 内没有返回：其挂载已卡死。",
        ),
        "high",
        (),
        Fix(
            Text("See which mount it is.", "查看是哪个挂载。"),
            run="grep -E 'nfs|fuse|lustre|ceph' /proc/mounts",
            risk="none",
        ),
        "SYS011",
    )


def absolute(folders: Sequence[Path]) -> list[str]:
    """The folders as absolute paths, `~` resolved."""
    return [os.path.abspath(one.expanduser()) for one in folders]
