"""What a log can try in what is written for others: the HTML page, pictures, exports.
docs/threats.md says which line each test holds."""

from __future__ import annotations

import ast
import math
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

import verl_doctor
from tests.store_samples import finding, report
from tests.test_hostile_logs import ESCAPES, MARKUP, obeyed
from tests.test_report_page import nasty
from verl_doctor.model import Curve
from verl_doctor.render.issue import html_page, page_of
from verl_doctor.render.plot import svg

SVG = "{http://www.w3.org/2000/svg}"
KEY = '</text></svg><script>alert(1)</script><image href="http://e.vil/p"/>&x; ]]> <!--'


class Seen(HTMLParser):
    """The elements of a page, and their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))


def test_the_html_page_loads_and_runs_nothing() -> None:
    """Nothing in it can, and its policy forbids it to whatever could."""
    text = html_page(page_of(nasty(), lang="en"), "en")
    page = Seen()
    page.feed(text)
    policy = [one["content"] for tag, one in page.elements if one.get("http-equiv")]
    assert policy == ["default-src 'none'; style-src 'unsafe-inline'"]
    assert text.index("Content-Security-Policy") < text.index("<title>")
    names = {name for _, one in page.elements for name in one}
    assert names == {"lang", "charset", "http-equiv", "content", "name"}


@pytest.mark.parametrize("text", [*MARKUP, *ESCAPES.values()])
def test_the_html_page_shows_what_a_log_says(text: str) -> None:
    root = finding(title=f"A {text} Z", cause=f"B {text} Z")
    page = html_page(page_of(report("/x.log", root), lang="en"), "en")
    assert obeyed(page) == []
    seen = Seen()
    seen.feed(page)
    assert {tag for tag, _ in seen.elements} <= {
        "html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "b", "code", "pre",
    }  # fmt: skip


@pytest.mark.parametrize("key", [KEY, *ESCAPES.values()])
def test_a_picture_is_text_whatever_a_metric_is_called(key: str) -> None:
    from verl_doctor.logs.text import visible

    curve = Curve(visible(key, 120), (1, 2, 3), (0.1, math.nan, math.inf), 2, "< 0.2")
    drawn = svg(report("/x.log", finding()._replace(curve=curve)))
    tree = ElementTree.fromstring(drawn)
    assert {one.tag for one in tree.iter()} <= {
        f"{SVG}{name}" for name in ("svg", "rect", "g", "text", "path", "polyline")
    }
    names = {name for one in tree.iter() for name in one.attrib}
    assert not [name for name in names if name.startswith("on") or "href" in name]
    assert any((one.text or "").startswith(visible(key, 120)[:20]) for one in tree.iter())
    assert obeyed(drawn) == []


def test_no_table_for_a_spreadsheet_is_written() -> None:
    """`=HYPERLINK(…)` in a cell would be obeyed; what is exported is JSON, where it is a text."""
    folder = Path(verl_doctor.__file__).parent
    for path in folder.rglob("*.py"):
        if "sections" in path.parts:  # run by another interpreter, and prints JSON
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            assert "csv" not in names, path
