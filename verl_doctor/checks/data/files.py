"""Files as such: there, whole, of a kind that the release reads, with the columns it asks for."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packaging.version import Version

from ...model import Fix, Severity, Text
from ..config.settings import Settings
from ..types import Result, ok, unreachable
from . import json_rows

if TYPE_CHECKING:
    import pyarrow

CHECK = "data.files"
JSON_SINCE = Version("0.7")
"""First release that reads .json as well as .parquet (rl_dataset.py)."""
JSONL_SINCE = Version("0.9")
SCHEMA_BYTES = 1 << 20
"""Bytes of JSON from which the columns are told."""
_REMOTE = re.compile(r"[a-z][a-z0-9+]+:/")
"""`hdfs://…`; a Path has one of its slashes left."""
LFS = b"version https://git-lfs"


@dataclass(frozen=True, slots=True)
class Columns:
    """The names that the run's configuration gives to columns."""

    prompt: str
    source: str

    @classmethod
    def of(cls, settings: Settings) -> Columns:
        """Reads them out of the settings, verl's defaults where they can't be told."""

        def name(key: str, default: str) -> str:
            value = settings.get(key)
            return value if isinstance(value, str) else default

        return cls(name("data.prompt_key", "prompt"), name("data.reward_fn_key", "data_source"))


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file that could be opened."""

    path: Path
    kind: str
    """`parquet`, `json` or `arrow`."""
    schema: pyarrow.Schema
    rows: int | None
    """None where only reading the whole file would tell."""


def _fault(
    path: Path, severity: Severity, en: str, zh: str, *seen: str, fix: Fix | None = None,
    rule: str = "",
) -> Result:  # fmt: skip
    return Result(CHECK, "fault", Text(f"{path}: {en}", f"{path}：{zh}"), severity, seen, fix, rule)


def look(path: Path, settings: Settings) -> tuple[DataFile | None, list[Result]]:
    """Opens a file; returns it, or None, and what is to be said of it."""
    try:
        missing = _missing(path)
        if missing is not None:
            return None, [missing]
        kind, fault = _kind(path, Version(settings.release))
    except OSError as error:
        return None, [unreachable(CHECK, path, error)]
    if fault is not None:
        return None, [fault]
    import pyarrow

    try:
        return _open(path, kind), []
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        return None, [unreadable(path, kind, error)]


def unreadable(path: Path, kind: str, error: Exception) -> Result:
    """Says that a file, or a part of it, is not what it should be, or takes too much memory."""
    words = "its rows become too large for memory" if isinstance(error, MemoryError) else str(error)
    return _fault(
        path,
        "critical",
        f"can't be read as {kind}.",
        f"无法按 {kind} 读取。",
        words.split("\n")[0][:300],
        rule="DAT010",
    )


def _missing(path: Path) -> Result | None:
    text = str(path)
    if _REMOTE.match(text):
        return Result(
            CHECK,
            "unknown",
            Text(f"{text} is not on this machine; not read.", f"{text} 不在本机，未读取。"),
        )
    if not path.exists():
        near = path.parent.exists() and difflib.get_close_matches(
            path.name, [one.name for one in path.parent.iterdir()], n=1
        )
        return _fault(
            path,
            "critical",
            "there is no such file on this machine.",
            "本机没有这个文件。",
            *([f"there is: {path.parent / near[0]}"] if near else []),
            fix=Fix(
                Text(
                    "On a cluster every node that loads data needs the file at this path.",
                    "在集群上，每个加载数据的节点都需要在此路径下有该文件。",
                )
            ),
            rule="DAT005",
        )
    if path.is_dir():
        return _fault(
            path,
            "critical",
            "is a folder; verl takes files.",
            "是目录；verl 需要文件。",
            fix=Fix(Text("Name the files, as a list.", "以列表形式给出文件。")),
        )
    if not path.is_file():  # a pipe would wait for its writer, a device has no end
        return _fault(path, "critical", "is no regular file.", "不是普通文件。")
    return None


def _kind(path: Path, release: Version) -> tuple[str, Result | None]:
    """What the file is by its first bytes, and whether this release would read it."""
    with path.open("rb") as file:
        head = file.read(64)
    if head.startswith(LFS):
        return "", _fault(
            path,
            "critical",
            "is a Git LFS pointer and not the data.",
            "是 Git LFS 指针而不是数据。",
            fix=Fix(Text("Fetch the file itself.", "下载文件本体。"), run="git lfs pull"),
        )
    if not head:
        return "", _fault(path, "critical", "is empty.", "是空文件。")
    parquet, arrow = head.startswith(b"PAR1"), head.startswith((b"ARROW1", b"\xff\xff\xff\xff"))
    kind = "parquet" if parquet else "arrow" if arrow else "json"
    suffix = path.suffix
    takes = release >= JSON_SINCE and suffix == ".json"
    takes = takes or (release >= JSONL_SINCE and suffix in (".json", ".jsonl"))
    reads_all = release < JSON_SINCE  # up to 0.6 every file is read as parquet
    if kind == "parquet" and (suffix == ".parquet" or reads_all):
        return kind, None
    if kind == "json" and takes:
        return kind, None
    return kind, _fault(
        path,
        "critical",
        f"verl {release} does not read this: the content is {kind}, the name ends in "
        f"`{suffix or 'nothing'}`.",
        f"verl {release} 不支持：内容为 {kind}，后缀为 `{suffix or '无'}`。",
        fix=Fix(
            Text("Convert it to parquet.", "转换为 parquet。"),
            code="import datasets\n"
            f'ds = datasets.load_dataset("{kind}", data_files="FILE")["train"]\n'
            'ds.to_parquet("train.parquet")',
        ),
        rule="VRL026",
    )


def _open(path: Path, kind: str) -> DataFile:
    if kind == "parquet":
        from pyarrow import parquet

        with parquet.ParquetFile(path) as file:
            return DataFile(path, kind, file.schema_arrow, file.metadata.num_rows)
    with json_rows.opened(path, most=SCHEMA_BYTES) as reader:
        return DataFile(path, kind, reader.schema, None)


def columns(found: DataFile, wanted: Columns) -> Iterator[Result]:
    """The columns that verl asks for, and those that look like them."""
    names = list(found.schema.names)
    for key, name in (("data.prompt_key", wanted.prompt), ("data.reward_fn_key", wanted.source)):
        if name in names:
            continue
        near = [one for one in names if one.lower() == name.lower()]
        near = near or difflib.get_close_matches(name, names, n=1)
        yield _fault(
            found.path,
            "critical",
            f"has no column `{name}`" + (f"; it has `{near[0]}` (case counts)." if near else "."),
            f"没有 `{name}` 列" + (f"；有 `{near[0]}`（区分大小写）。" if near else "。"),
            ", ".join(names[:20]),
            fix=Fix(
                Text("Name the column that it has.", "指定实际的列名。"), set=f"{key}={near[0]}"
            )
            if near
            else None,
            rule="VRL035" if name == wanted.prompt else "VRL042",
        )
    if "reward_model" not in names:
        yield _fault(
            found.path,
            "medium",
            "has no column `reward_model` (with `ground_truth` in it); verl's own reward managers "
            "read it.",
            "没有 `reward_model` 列（其中应有 `ground_truth`），verl 自带的 reward manager "
            "需要它。",
            ", ".join(names[:20]),
            rule="VRL042",
        )
    yield from _prompt_type(found, wanted.prompt)


def _prompt_type(found: DataFile, name: str) -> Iterator[Result]:
    from pyarrow import types

    if name not in found.schema.names:
        return
    kind = found.schema.field(name).type
    if types.is_string(kind) or types.is_large_string(kind):
        yield _fault(
            found.path,
            "high",
            f"`{name}` is text; verl wants a list of messages, and takes the characters of a text "
            "for messages without an error.",
            f"`{name}` 是字符串；verl 需要消息列表，会把字符串逐字符当作消息而不报错。",
            f"{name}: {kind}",
            fix=Fix(
                Text("Store messages.", "保存为消息列表。"),
                code='[{"role": "user", "content": text}]',
            ),
        )
    elif types.is_list(kind) or types.is_large_list(kind):
        fields = _fields(kind.value_type)
        if fields is not None and not {"role", "content"} <= fields:
            yield _fault(
                found.path,
                "high",
                f"the messages in `{name}` have no `role` and `content`.",
                f"`{name}` 中的消息缺少 `role` 与 `content`。",
                f"{name}: {kind}"[:300],
            )


def _fields(kind: Any) -> set[str] | None:
    from pyarrow import types

    return {field.name for field in kind} if types.is_struct(kind) else None


def alike(found: Sequence[DataFile]) -> Iterator[Result]:
    """Whether all training files have the same columns of the same types."""
    if not found:
        return
    first = found[0]
    for other in found[1:]:
        mine = {field.name: field.type for field in first.schema}
        its = {field.name: field.type for field in other.schema}
        missing = sorted(mine.keys() ^ its.keys())
        differs = [name for name in mine.keys() & its.keys() if mine[name] != its[name]]
        if differs:
            yield _fault(
                other.path,
                "critical",
                f"has other types than {first.path.name} in: {', '.join(differs)}.",
                f"与 {first.path.name} 的列类型不同：{', '.join(differs)}。",
                *(f"{name}: {mine[name]} / {its[name]}"[:300] for name in differs[:5]),
                rule="DAT012",
            )
        elif missing:
            yield _fault(
                other.path,
                "high",
                f"and {first.path.name} differ in columns ({', '.join(missing)}): rows of the "
                "file without one get nothing in it.",
                f"与 {first.path.name} 的列不同（{', '.join(missing)}）："
                "缺列的文件中这些行为空值。",
            )
    if len(found) > 1:
        total = sum(one.rows or 0 for one in found)
        yield ok(
            CHECK,
            f"{len(found)} training files were compared ({total:,} rows).",
            f"已比较 {len(found)} 个训练文件（{total:,} 行）。",
        )
