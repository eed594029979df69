"""Where text is broken into rows: between Chinese characters too, and under its beginning."""

from __future__ import annotations

import io
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text
from textual.content import Content

from verl_doctor.render import wrapping
from verl_doctor.render.paper import Plain, console
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


@given(st.text(st.characters(max_codepoint=127)))
def test_a_text_without_wide_characters_has_the_same_words_to_either_pattern(text: str) -> None:
    words, tokens = (
        [found[0] for found in pattern.finditer(text)]
        for pattern in (wrapping._WORD, wrapping._TOKEN)
    )
    assert words == tokens


@given(
    st.lists(st.text(st.sampled_from("aé中，x \t\n\x1b[]")), max_size=3),
    st.integers(min_value=1, max_value=30),
    st.booleans(),
)
def test_paper_without_colours_takes_what_a_console_prints(
    texts: list[str], width: int, soft_wrap: bool
) -> None:
    def printed(out: Plain | Console, stream: io.StringIO) -> str:
        for text in texts:
            out.print(Text(text, style="bold red"), soft_wrap=soft_wrap)
        out.print()
        return stream.getvalue()

    streams = io.StringIO(), io.StringIO()
    rich = Console(file=streams[1], width=width, color_system=None, legacy_windows=False)
    assert printed(Plain(streams[0], width), streams[0]) == printed(rich, streams[1])


def test_colours_are_a_consoles() -> None:
    assert isinstance(console(io.StringIO(), "always"), Console)
    assert isinstance(console(io.StringIO(), "auto"), Plain)
