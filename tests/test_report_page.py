"""`verl-doctor report`: the page, and that nothing in a log can get out of it."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.conftest import genuine
from tests.store_samples import Doctor, finding, report
from verl_doctor.model import Comparison, Evidence, FixText, Message, Phase, Report, Seen
from verl_doctor.render.issue import html_page, markdown, page_of
from verl_doctor.store import add_note, default_path, incidents, resolve

TOKEN = "hf_" + "QwErTyUiOpAsDfGhJkLzXcVbNmQwErTyUi"
NASTY = f"``` </pre><script>alert(1)</script> @all [x](http://e.vil) \x1b[31m {TOKEN} /home/alice/x"


def nasty() -> Report:
    """A report in which every text that comes from a log is hostile and holds secrets."""
    line = Evidence(f"/home/alice/{NASTY}", 7, NASTY)
    seen = Seen("f", 1, 2, 3, "resolved", NASTY, 1.0, 2.0, NASTY, mute_reason=NASTY)
    root = finding(
        title=NASTY, cause=NASTY, evidence=(line, line), workers=(NASTY,), why=NASTY,
        fixes=(FixText(NASTY, run=NASTY, set=NASTY),), references=(NASTY,), history=seen,
    )  # fmt: skip
    return report(
        "/x.log", root, finding("b", title=NASTY, evidence=(line,)),
        phase=Phase("rollout", last_text=NASTY, step=3), overrides=(NASTY, f"token={TOKEN}"),
        command=NASTY, versions={"vllm": NASTY}, hardware=(NASTY,), unexplained=(line,),
        compared=Comparison(NASTY, 1.0, (Message(NASTY, "error", line),)), started=1.7e9,
    )  # fmt: skip


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_nothing_gets_out_of_the_page(lang: str) -> None:
    page = page_of(nasty(), lang=lang, tried=[NASTY])  # type: ignore[arg-type]
    for text in (markdown(page), html_page(page, lang)):  # type: ignore[arg-type]
        assert TOKEN[3:] not in text
        assert "alice" not in text
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", text)
    tags = Tags()
    tags.feed(html_page(page, "en"))
    assert tags.tags == {
        "html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "b", "code", "pre",
    }  # fmt: skip


def test_markdown_shows_log_text_as_code_or_escaped() -> None:
    text = markdown(page_of(nasty(), lang="en", tried=[NASTY]))
    outside, fence = [], ""
    for line in text.splitlines():
        mark = re.match(r"`{3,}", line)
        if fence:
            fence = "" if line == fence else fence
        elif mark:
            fence = mark[0]
        else:
            outside.append(re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", line))
    assert fence == ""
    words = "\n".join(outside)
    assert "<script" not in words.replace(r"\<", "")
    assert "](" not in words.replace(r"\]\(", "")
    assert "@all" not in words


def test_the_sections_stand_in_the_order_of_verls_form() -> None:
    text = markdown(page_of(nasty(), lang="en"))
    titles = re.findall(r"^## (.*)", text, re.M)
    assert titles[:3] == ["System Info", "Reproduction", "What happened"]
    assert titles[-2:] == ["What was tried", "Expected behavior"]
    assert any(title.startswith("New since the last good run") for title in titles)


# --- the verb -------------------------------------------------------------------------------


@pytest.fixture
def doctor(
    capsys: pytest.CaptureFixture[str], shared_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> Doctor:
    monkeypatch.setenv("XDG_CACHE_HOME", str(shared_cache))
    return Doctor(capsys)


LOG = b"""\
2025-08-07 21:00:00,000 + python3 -m verl.trainer.main_ppo trainer.n=8 trainer.key=x
(TaskRunner pid=5) Initializing a V1 LLM engine (v0.8.5) with config: x
"""


def test_the_page_of_a_log(doctor: Doctor, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_bytes(LOG + genuine("verl-batch-not-divisible"))
    page = doctor("report", str(log))
    assert page.startswith("# \\[config\\] ")
    assert "- **vllm**: `0.8.5`" in page
    assert "python -m verl.trainer.main_ppo" in page
    assert re.search(r"train.log:17: .*real_train_batch_size", page)
    assert doctor.err == ""
    assert not default_path().exists()
    doctor(str(log), status=1)
    add_note(incidents().incidents[0].fingerprint, "tried n=4: the same")
    resolve(incidents().incidents[0].fingerprint, "n=3")
    page = doctor("report", str(log))
    assert "- **note**: `tried n=4: the same`" in page
    assert "`n=3`" in page
    out = tmp_path / "page.html"
    assert doctor("report", str(log), "--format", "html", "-o", str(out), "--lang", "zh") == ""
    assert out.read_text().startswith('<!doctype html>\n<html lang="zh">')
    assert "<h2>复现方式</h2>" in out.read_text()


def test_a_page_in_spite_of_a_broken_store(doctor: Doctor, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_bytes(genuine("verl-batch-not-divisible"))
    default_path().parent.mkdir(parents=True)
    default_path().write_bytes(b"no database" * 999)
    assert "## What happened" in doctor("report", str(log))
    assert "what was seen before is not known: " in doctor.err
    assert len(doctor.err.splitlines()) == 1


def test_nothing_to_read(doctor: Doctor) -> None:
    assert doctor("report", "/no/such.log", status=2) == ""
    assert "/no/such.log" in doctor.err
