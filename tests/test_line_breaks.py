"""Where text is broken into rows: between Chinese characters too, and under its beginning."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text
from textual.content import Content

from verl_doctor.render.wrapping import breaks, wrapped
from verl_doctor.tui.widgets.folded import Folded

ZH = "某个编译扩展（见最内层栈帧：flash-attn、vLLM）编译时的 TORCH_CUDA_ARCH_LIST 不含本机 GPU。"


def rows(text: str, width: int) -> list[str]:
    return [row.plain for row in wrapped(Text(text), width)]


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("one two three", 8, ["one two", "three"]),
        ("one two", 7, ["one two"]),
        ("", 10, [""]),
        ("a\n\nb", 10, ["a", "", "b"]),
        ("averylongword and", 6, ["averyl", "ongwor", "d and"]),
        ("  indented", 20, ["  indented"]),
        ("[很可能] 某个编译扩展", 14, ["[很可能] 某个", "编译扩展"]),
        ("进程收到 SIGKILL，因此", 16, ["进程收到", "SIGKILL，因此"]),
        ("无法完成（节点丢失）", 10, ["无法完成", "（节点丢", "失）"]),
    ],
)
def test_rows(text: str, width: int, expected: list[str]) -> None:
    assert rows(text, width) == expected


@pytest.mark.parametrize("width", range(16, 80))
def test_chinese_fills_its_rows_and_no_punctuation_begins_one(width: int) -> None:
    found = rows(ZH, width)
    assert max(map(cell_len, found)) <= width
    assert not any(row[0] in "，。、；：）" for row in found)
    assert not any(row[-1] == "（" for row in found)


@given(
    st.text(alphabet=st.sampled_from("ab，。（）中文字 \u3000“”…"), max_size=60), st.integers(4, 30)
)
def test_nothing_is_lost_and_nothing_is_too_wide(text: str, width: int) -> None:
    places = [0, *breaks(text, width), len(text)]
    parts = [text[a:b] for a, b in pairwise(places)]
    assert "".join(parts) == text
    assert all(cell_len(part.rstrip()) <= width for part in parts)


def test_a_command_hangs_under_its_beginning() -> None:
    command = "$ pip install --no-build-isolation --no-deps flash-attn==2.8.3"
    shown = Folded(Content(f"fix 1 Build it\n  {command}"))
    folded = shown._at({}, 36).plain.split("\n")
    assert folded == [
        "fix 1 Build it",
        "  $ pip install --no-build-isolation",
        "    --no-deps flash-attn==2.8.3",
    ]
    assert shown.get_height({}, 36) == 3
