"""Dumps of PyTorch's flight recorder: what each rank's collectives were when a time-out came.

The files are pickles (`_dump_fr_trace`) or JSON of the same structure; see torch/csrc/distributed/
c10d/FlightRecorderDetail.hpp, version 2.10 of the format, and those from 1.4 (torch 2.3) on. A
pickle can hold a program: only plain containers are let in, and a refusal names what wanted to be
called.
"""

from __future__ import annotations

import io
import json
import os
import pickle
import pickletools
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from .types import shown

MAX_BYTES = 256 << 20
"""A dump of 20,000 collectives with their stacks has some 100 MB."""
MAX_PIECES = 16 << 20
"""Values of a dump, each of which takes up to a hundred bytes of memory."""
MAX_DEPTH = 12
"""Containers within each other; a dump has six."""
MAX_SHOWN = 120
"""Characters that are kept of a text."""
MAX_PARTS, MAX_LEVELS = 16, 3
"""How much of a list becomes text: one object may stand in a dump a thousand times."""
MAX_DUMPS = 4096
MAX_NUMBER = 2**63 - 1
"""What the recorder counts in."""

_RANK_NAMES = (re.compile(r"rank[_\-.]?(\d+)"), re.compile(r"(\d+)$"), re.compile(r"^\D*(\d+)\D*$"))
"""`nccl_trace_rank_3`, `host-7_rank_3.json`, `trace_3`, `3.pickle`: in this order."""
_OTHER = (".log", ".txt", ".out", ".err", ".py")
"""What lies beside dumps in a folder and is none."""


@dataclass(frozen=True, slots=True)
class Collective:
    """One collective as one rank recorded it."""

    group: str
    """Name of its process group, with its description."""
    seq: int
    op: str
    sizes: str
    """Input and output sizes and types, as text: equal on all ranks of most collectives."""
    done: bool
    state: str
    """`scheduled`, `started` or `completed`."""
    timed: bool
    """Whether its start on the GPU was recorded (TORCH_NCCL_ENABLE_TIMING=1): where it is not, a
    collective that has started stays `scheduled`."""
    created_ns: int
    """When it was enqueued, nanoseconds since the epoch; 0 if not told."""
    frame: str
    """The call in the user's code, `file:line in function`, or ''."""


@dataclass(frozen=True, slots=True)
class Dump:
    """What one rank has left."""

    rank: int
    path: str
    collectives: tuple[Collective, ...]
    groups: Mapping[str, tuple[int, ...]]
    """Ranks of each process group, as far as the dump tells them."""


class _Refused(Exception):
    """The file holds something that no dump holds."""


class _Plain(pickle.Unpickler):
    """Containers, numbers and texts only: nothing in a dump has to be called."""

    def find_class(self, module: str, name: str) -> Any:
        raise _Refused(f"it wants to call {shown(f'{module}.{name}')}, which no dump does")

    def persistent_load(self, _: Any) -> Any:
        raise _Refused("it refers to objects outside")


def read_dumps(paths: Sequence[str], notes: list[str]) -> list[Dump]:
    """Reads dumps, ordered by rank.

    Takes files and folders (the files in them whose name tells a rank). What can't be read becomes
    a sentence in `notes`, and the other dumps are read all the same.
    """
    by_rank: dict[int, Dump] = {}
    for path in _files(paths, notes)[:MAX_DUMPS]:
        try:
            dump = _read(path)
        except _Refused as error:
            notes.append(f"{shown(path)}: not read as a flight recorder's dump: {error}")
            continue
        except OSError as error:
            notes.append(f"{shown(path)}: cannot be read: {error.strerror or error}")
            continue
        known = by_rank.setdefault(dump.rank, dump)
        if known is not dump and os.path.splitext(path)[0] != known.path:
            notes.append(
                f"{shown(path)}: its name tells rank {dump.rank} like {shown(known.path)}; left out"
            )
    return [by_rank[rank] for rank in sorted(by_rank)]


def _files(paths: Sequence[str], notes: list[str]) -> list[str]:
    found: list[str] = []
    for path in paths:
        if os.path.isdir(path):
            try:
                entries = sorted(os.scandir(path), key=lambda entry: entry.name)
            except OSError as error:
                notes.append(f"{shown(path)}: cannot be read: {error.strerror}")
                continue
            found += [
                entry.path
                for entry in entries
                if not entry.name.endswith(_OTHER) and rank_of(entry.name) is not None
                if entry.is_file()
            ]
        else:
            found.append(path)
    return found


def rank_of(name: str) -> int | None:
    """The rank that a file's name tells, None if it tells none."""
    stem = name.rpartition(".")[0] if not name.rpartition(".")[2].isdigit() else name
    for pattern in _RANK_NAMES:
        found = pattern.findall(stem or name)
        if found:
            return int(found[-1][:9])
    return None


def _read(path: str) -> Dump:
    rank = rank_of(os.path.basename(path))
    if rank is None:
        raise _Refused("its name tells no rank")
    if not stat.S_ISREG(os.stat(path).st_mode):  # a pipe would wait for its writer
        raise _Refused("it is no regular file")
    with open(path, "rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise _Refused(f"it is larger than {MAX_BYTES >> 20} MiB")
    if data[:1] == b"{" and sum(map(data.count, (b",", b"{", b"["))) > MAX_PIECES:
        raise _Refused(f"it holds more than {MAX_PIECES} values")
    try:
        content = json.loads(data) if data[:1] == b"{" else _unpickled(data)
    except _Refused:
        raise
    except Exception as error:  # a broken pickle raises anything
        raise _Refused(f"{type(error).__name__}: {shown(str(error))[:200]}") from error
    # JSON leaves the list out where it would be empty
    entries = content.get("entries", []) if isinstance(content, dict) else None
    if not isinstance(entries, list) or not content.keys() & {"entries", "pg_config"}:
        raise _Refused("it has no list of `entries`")
    _check_depth(content)
    collectives = [_collective(one) for one in entries if isinstance(one, dict)]
    return Dump(rank, path, tuple(filter(None, collectives)), _groups(content.get("pg_config")))


def _unpickled(data: bytes) -> Any:
    _check_opcodes(data)
    return _Plain(io.BytesIO(data)).load()


def _check_opcodes(data: bytes) -> None:
    """Refuses what `load` itself does not survive: memory asked for, tuples nested without end.

    A tuple as a key is hashed by a recursion in C that nothing bounds, so how deep tuples are
    nested is worked out beforehand, for everything on the pickle's stack.
    """
    stack: list[int | None] = []  # None is a mark
    memo: dict[int, int | None] = {}
    for count, (opcode, arg, _) in enumerate(pickletools.genops(data)):
        if count > MAX_PIECES:
            raise _Refused(f"it holds more than {MAX_PIECES} values")
        name = opcode.name
        if "PUT" in name or name == "MEMOIZE":
            place = arg if isinstance(arg, int) else len(memo)
            if place > count:
                raise _Refused("it asks for memory that it does not use")
            memo[place] = stack[-1]
        elif "GET" in name:
            stack.append(memo[arg] if isinstance(arg, int) else None)
        else:
            taken = [depth for depth in _popped(opcode, stack) if depth is not None]
            depth = max(taken, default=0) + (name.startswith("TUPLE") or name == "FROZENSET")
            if depth > MAX_DEPTH:
                raise _Refused(f"its containers are nested deeper than {MAX_DEPTH}")
            stack += [
                None if one is pickletools.markobject else depth for one in opcode.stack_after
            ]


def _popped(opcode: pickletools.OpcodeInfo, stack: list[int | None]) -> Iterator[int | None]:
    """What an opcode takes from the stack, down to the last mark if it takes a mark."""
    for wanted in reversed(opcode.stack_before):
        if wanted is pickletools.stackslice:
            while stack[-1] is not None:
                yield stack.pop()
        else:
            yield stack.pop()


def _check_depth(content: Any) -> None:
    level, seen = [content], {id(content)}
    for _ in range(MAX_DEPTH):
        below = []
        for value in level:
            parts = value.values() if isinstance(value, dict) else value
            for part in parts:
                if isinstance(part, (dict, list, tuple)) and id(part) not in seen:
                    seen.add(id(part))
                    below.append(part)
        if not below:
            return
        level = below
    raise _Refused(f"its containers are nested deeper than {MAX_DEPTH}")


def _collective(entry: Mapping[str, Any]) -> Collective | None:
    """One entry; None for point-to-point, whose order is no one else's, and for a broken one."""
    # before torch 2.4 a group is a number of each process's own: only the first is the same one
    group = entry.get("process_group", ["0"] if entry.get("pg_id") == 0 else None)
    seq = entry.get("collective_seq_id", entry.get("seq_id"))
    if entry.get("is_p2p") or not _is_count(seq) or not isinstance(group, (list, tuple)):
        return None
    backend, _, op = _text(entry.get("profiling_name")).rpartition(":")
    if "is_p2p" not in entry and op.startswith(("send ", "recv ")):
        return None
    state = _text(entry.get("state", ""))[:20]
    created = entry.get("time_created_ns")
    parts = ("input_sizes", "output_sizes", "input_dtypes")
    return Collective(
        group=_name(*group[:2]),
        seq=seq,
        op=op,
        sizes=" ".join(_text(entry.get(part, "")) for part in parts).strip(),
        # gloo's entries keep the state in which they were enqueued and are retired when done;
        # one of NCCL that is retired and not completed has timed out
        done=state == "completed" or (backend == "gloo" and entry.get("retired") is True),
        state=state,
        timed=_is_count(entry.get("time_discovered_started_ns")),
        created_ns=created if _is_count(created) else 0,
        frame=_frame(entry.get("frames")),
    )


def _name(name: Any = "", description: Any = "") -> str:
    name, description = _text(name), _text(description)
    return f"{name} ({description})" if description not in ("", "undefined") else name


def _is_count(value: Any) -> TypeGuard[int]:
    return type(value) is int and 0 <= value <= MAX_NUMBER


def _text(value: Any, level: int = 0) -> str:
    """A value of a dump as a short text; what is nested or long is cut."""
    if isinstance(value, (list, tuple)):
        if level == MAX_LEVELS:
            return "…"
        parts = [_text(part, level + 1) for part in value[:MAX_PARTS]]
        text = f"[{', '.join(parts)}{', …' if len(value) > MAX_PARTS else ''}]"
    elif isinstance(value, int) and abs(value) > MAX_NUMBER:  # Python may refuse to write it out
        text = "…"
    else:
        text = str(value)[: MAX_SHOWN + 1] if isinstance(value, (str, int, float)) else "?"
    return shown(text)[:MAX_SHOWN]


def _frame(frames: Any) -> str:
    """The innermost frame outside installed packages."""
    if not isinstance(frames, list):
        return ""
    for frame in frames:
        if isinstance(frame, dict):
            file = _text(frame.get("filename", ""))
            if file and "site-packages" not in file and "dist-packages" not in file:
                return f"{file}:{_text(frame.get('line', '?'))} in {_text(frame.get('name', '?'))}"
    return ""


def _groups(config: Any) -> dict[str, tuple[int, ...]]:
    """Ranks of each group; older dumps tell none."""
    found: dict[str, tuple[int, ...]] = {}
    for key, one in config.items() if isinstance(config, dict) else ():
        ranks = one.get("ranks") if isinstance(one, dict) else one
        if isinstance(ranks, str):
            numbers = re.findall(r"\d+", ranks[: 1 << 16])
            found[_text(key)] = tuple(int(number[:9]) for number in numbers)
        elif isinstance(ranks, list):  # before torch 2.4
            found[_text(key)] = tuple(filter(_is_count, ranks[: 1 << 16]))
    return found
