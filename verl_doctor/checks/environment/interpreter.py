"""The interpreter itself: whether it starts and can say what is installed."""

from __future__ import annotations

from collections.abc import Iterator

from ...model import Fix, Text
from ..types import Result, unknown
from .ask import Answer

CHECK = "env.python"


def check(python: str, answer: Answer) -> Iterator[Result]:
    """Judges what became of sections/interpreter.py; says nothing where all its parts told."""
    for part, failed in answer.failed.items():
        if part:
            yield unknown(
                CHECK,
                f"{python} could not say what is installed: {failed.what}",
                f"{python} 无法列出已安装的包：{failed.what}",
                *failed.where,
            )
            continue
        missing = failed.how == "start"
        yield Result(
            CHECK,
            "fault",
            Text(
                f"The interpreter {python} does not start: {failed.what}",
                f"解释器 {python} 无法启动：{failed.what}",
            ),
            "critical",
            failed.where,
            Fix(
                Text(
                    "Name the interpreter that trains with --python.",
                    "请用 --python 指定训练所用的解释器。",
                ),
                run="which -a python3",
                risk="none",
            ),
            "SYS063" if missing else "SYS025",
        )
