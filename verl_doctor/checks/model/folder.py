"""The small files of a model folder: config, tokenizer, chat template."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeGuard

from ...model import Fix, Severity, Text
from ..types import Result, ok

CHECK = "model.folder"
LFS = b"version https://git-lfs"
MAX_JSON = 64 << 20
"""A tokenizer.json of a large vocabulary has some 30 MB."""


def fault(
    path: Path, severity: Severity, en: str, zh: str, *seen: str, fix: Fix | None = None,
    rule: str = "", check: str = CHECK,
) -> Result:  # fmt: skip
    """A fault of a file of the folder."""
    return Result(check, "fault", Text(f"{path}: {en}", f"{path}：{zh}"), severity, seen, fix, rule)


def missing(path: Path) -> Result | None:
    """Says so if there is no such folder; a name on the Hub is only unknown."""
    if path.is_dir():
        return None
    text = str(path)
    if "://" in text or (not path.is_absolute() and text.count("/") <= 1 and text[:1] not in ".~"):
        return Result(
            CHECK,
            "unknown",
            Text(
                f"{text} is no folder here; a name on the Hub is fetched when the run starts.",
                f"{text} 不是本机目录；作为 Hub 名称，将在启动时下载。",
            ),
        )
    return fault(
        path, "critical", "there is no such folder.", "没有这个目录。", rule="HF023",
        fix=Fix(
            Text(
                "Every node needs it at this path, or on shared storage.",
                "每个节点都需要在此路径下有它，或放在共享存储上。",
            )
        ),
    )  # fmt: skip


def read_json(path: Path) -> tuple[Any, Result | None]:
    """The content of a JSON file, or what is wrong with it; (None, None) if there is none."""
    if not path.is_file():
        return None, None
    if path.stat().st_size > MAX_JSON:
        return None, fault(path, "medium", "is too large to be read.", "文件过大，未读取。")
    data = path.read_bytes()
    if data.startswith(LFS):
        return None, pointer(path)
    try:
        return json.loads(data), None
    except (ValueError, RecursionError) as error:
        return None, fault(
            path, "critical", "is no JSON; a download may have been cut short.",
            "不是合法 JSON，可能下载不完整。", str(error), rule="HF015",
        )  # fmt: skip


def pointer(path: Path) -> Result:
    """Says that a file is a Git LFS pointer."""
    return fault(
        path,
        "critical",
        "is a Git LFS pointer and not the file.",
        "是 Git LFS 指针，不是文件本体。",
        fix=Fix(Text("Fetch the files.", "下载文件本体。"), run="git lfs pull"),
        rule="HF014",
    )


def config(path: Path) -> tuple[Mapping[str, Any], list[Result]]:
    """config.json and what is to be said of it."""
    read, wrong = read_json(path / "config.json")
    if wrong is not None:
        return {}, [wrong]
    if read is None:
        adapter = (path / "adapter_config.json").is_file()
        return {}, [
            fault(
                path,
                "critical",
                "has no config.json" + ("; it is a LoRA adapter, not a model." if adapter else "."),
                "没有 config.json" + ("；这是 LoRA adapter，不是完整模型。" if adapter else "。"),
                rule="HF005",
                fix=Fix(
                    Text("Give the base model, and the adapter beside it.", "另行指定基座模型。"),
                    set=f"actor_rollout_ref.model.lora_adapter_path={path}",
                )
                if adapter
                else None,
            )
        ]
    results = []
    if not isinstance(read, dict) or not read.get("model_type"):
        return {}, [
            fault(path / "config.json", "critical", "names no model_type.", "没有 model_type。",
                  rule="HF006")
        ]  # fmt: skip
    code = read.get("auto_map")
    if code:
        results.append(
            fault(
                path / "config.json",
                "medium",
                "the model brings its own code; it loads only with trust_remote_code.",
                "模型自带代码，需要 trust_remote_code 才能加载。",
                fix=Fix(
                    Text("If you trust it:", "若信任该代码："),
                    set="actor_rollout_ref.model.trust_remote_code=True",
                    risk="medium",
                ),
                rule="HF008",
            )
        )
    return read, results


def tokenizer(path: Path, config: Mapping[str, Any], role: str) -> Iterator[Result]:
    """The tokenizer's files, its chat template, its size against the embedding."""
    names = ("tokenizer.json", "tokenizer.model", "vocab.json", "tiktoken.model", "tekken.json")
    here = [name for name in names if (path / name).is_file()]
    if not here:
        yield fault(path, "critical", "has no tokenizer files.", "没有 tokenizer 文件。",
                    ", ".join(names), rule="HF020")  # fmt: skip
        return
    settings, wrong = read_json(path / "tokenizer_config.json")
    if wrong is not None:
        yield wrong
    template = isinstance(settings, dict) and settings.get("chat_template")
    files = ("chat_template.jinja", "chat_template.json")
    if role == "actor" and not template and not any((path / name).is_file() for name in files):
        yield fault(
            path,
            "high",
            "has no chat template; verl builds every prompt with one.",
            "没有 chat template；verl 用它构造所有 prompt。",
            rule="HF003",
            fix=Fix(
                Text(
                    "The instruct model of the same family, or its template in this folder.",
                    "改用同系列的 instruct 模型，或把其模板放入此目录。",
                )
            ),
        )
    tokens, wrong = read_json(path / "tokenizer.json")
    if wrong is not None:
        yield wrong
    size, vocabulary = _highest(tokens), _vocabulary(config)
    if size and vocabulary and size > vocabulary:
        yield fault(
            path,
            "high",
            f"the tokenizer knows token {size - 1}, the embedding has {vocabulary} rows: an index "
            "out of range on the GPU.",
            f"tokenizer 含有编号 {size - 1} 的 token，而 embedding 只有 {vocabulary} 行："
            "GPU 上会越界。",
            rule="CUD004",
        )
    elif size and not wrong:
        kind = config.get("model_type", "?")
        yield ok(
            CHECK,
            f"{path}: {kind}, {size:,} tokens, embedding {vocabulary or '?'}.",
            f"{path}：{kind}，{size:,} 个 token，embedding {vocabulary or '?'}。",
        )


def _vocabulary(config: Mapping[str, Any]) -> int:
    inner = config.get("text_config")
    value = config.get("vocab_size") or (inner.get("vocab_size") if isinstance(inner, dict) else 0)
    return value if _is_number(value) else 0


def _highest(tokens: Any) -> int:
    """One more than the highest token number of a tokenizer.json; 0 where it can't be told."""
    if not isinstance(tokens, dict):
        return 0
    inner = tokens.get("model")
    vocabulary = inner.get("vocab") if isinstance(inner, dict) else None
    numbers = list(vocabulary.values()) if isinstance(vocabulary, dict) else []
    if isinstance(vocabulary, list):
        numbers = [len(vocabulary) - 1]
    added = tokens.get("added_tokens")
    if isinstance(added, list):
        numbers += [one.get("id") for one in added if isinstance(one, dict)]
    return max((one for one in numbers if _is_number(one)), default=-1) + 1


def _is_number(value: Any) -> TypeGuard[int]:
    """Whether a token or a size can have that number."""
    return type(value) is int and 0 <= value < 2**31
