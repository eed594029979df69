"""What a log can try, by its text alone. docs/threats.md says which line each test holds."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import unicodedata
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from tests.conftest import Doctor, genuine
from tests.test_cli import run
from verl_doctor.diagnose.explain import paste
from verl_doctor.logs.text import visible
from verl_doctor.model import Report
from verl_doctor.render import json_v1, markdown, text

FAILURE = b"Traceback (most recent call last):\n  File 'x'\nKeyError: 'the last line'\n"
NINES = "9" * 5000
LINE = 64_000
"""Characters of a line that are read whole."""


def pages(report: Report) -> dict[str, str]:
    """The report in every format that prints log text."""
    return {
        "text": text.render(report),
        "markdown": markdown.render(report).replace("@\u200b", "@"),
        "json": json_v1.render(report),
        "jsonl": json_v1.render_lines(report),
    }


def obeyed(page: str) -> list[str]:
    """Characters of a page that a terminal or a reader's eye would obey instead of showing."""
    return [c for c in page if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs")]


@pytest.mark.parametrize(
    "line",
    [
        f"ERROR x [repeated {NINES}x across cluster]",
        f'Traceback (most recent call last):\n  File "a.py", line {NINES}, in f\nOSError: x\n',
        f"failed (exitcode: -{NINES}) local_rank: 0 (pid: 1)",
        "  rank      : 0 (local_rank: 0)\n  exitcode  : \u00b2 (pid: 1)",
        f"[rank0]:[E1] collective operation timeout: WorkNCCL(SeqNum={NINES}, OpType=ALLREDUCE, "
        f"NumelIn=1, NumelOut=1, Timeout(ms)={NINES}) ran for {NINES} milliseconds",
        f"[rank0]: last enqueued work: {NINES}, last completed work: {NINES}",
        '{"message": "RuntimeError: \\ud800 x", "level": "ERROR", "time": "2026-12-01T06:00:00Z"}',
        "Error executing job with overrides: ['a=\\ud800']",
        "Error executing job with overrides: [" + "[" * LINE,
        "Error executing job with overrides: [" + "-" * LINE + "1]",
        "{'algorithm': " + "{'a': " * 9000,
        "RuntimeError: a message as wide as the terminal, with its newest line first\n"
        f"    f({'x' * 68})\n" + '  File "/a.py", line 3, in f\nTraceback (most recent call last):',
        "step:1 - timing_s/step:0.03.020\nstep:2 - timing_s/step:" + NINES,
        "9999-99-99T99:99:99+99:99 ERROR 0001-01-01T00:00:00 ERROR x",
    ],
    ids=lambda line: line.strip()[:24],
)
def test_no_line_ends_the_doctor(doctor: Doctor, line: str) -> None:
    log = line.encode() + b"\n" + b"step 1 goes on\n" * 3 + FAILURE
    report = doctor(log)
    last = log.count(b"\n")
    assert any(last == one.evidence[0].line for one in report.findings)
    for page in pages(report).values():
        page.encode()


@pytest.mark.parametrize(
    "line",
    [
        "Traceback (most recent call last):\n" + "A" * LINE + "Error",
        "Traceback (most recent call last):\n" + "A." * (LINE // 2) + "Error: x",
        "Error executing job with overrides: [" + "'\\" * (LINE // 2),
        "python -m verl.trainer.main_ppo " + "a=[ " * (LINE // 4),
        "ERROR " + "\x1b]" * (LINE // 2),
        "ERROR " + "^[[" * (LINE // 3),
        "\r".join(["ERROR"] * (LINE // 6)),
        "ERROR " + "[" * LINE,
        "ERROR " + "x" * 1_000_000,
        "collective operation timeout: WorkNCCL(SeqNum=1, OpType=A" + ", " * (LINE // 2),
    ],
    ids=lambda line: line[:10] + line[-8:],
)
def test_a_long_line_costs_little(doctor: Doctor, line: str) -> None:
    """The slowest takes a third of a second; each square in its length took 4 to 18."""
    log = line.encode() + b"\n" + FAILURE
    start = time.process_time()
    report = doctor(log)
    assert time.process_time() - start < 3
    assert report.sources[0].lines == log.count(b"\n")


ESCAPES = {
    "colour": "\x1b[31m",
    "clear": "\x1b[2J",
    "title": "\x1b]0;owned\x07",
    "link": "\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\",
    "clipboard": "\x1b]52;c;cm0gLXJmIH4=\x07",
    "unfinished": "\x1b]0;never closed",
    "bare": "\x1bc\x1b",
    "8-bit": "\x9b31m\x9d0;t\x9c",
    "bidi": "\u202eevil\u2066\u2069\u061c",
    "invisible": "\u200b\ufeff\u2060\U000e0041",
    "bell": "\x07\x08\x7f\x00",
}


@pytest.mark.parametrize("escape", ESCAPES.values(), ids=ESCAPES)
def test_escapes_reach_no_output(doctor: Doctor, escape: str) -> None:
    """In a message, a worker's name, an unknown error, a JSON line, an override."""
    log = (
        f"(Worker{escape} pid=7) ERROR disk {escape} gone\n"
        f"Error executing job with overrides: ['a={escape}']\n"
        f"{json.dumps({'message': f'Fatal error {escape}', 'level': 'ERROR', 'time': '1'})}\n"
        "Traceback (most recent call last):\n"
        f'  File "a{escape}.py", line 1, in f{escape}\n'
        f"    source {escape}\n"
        f"MyError: told {escape} so\n"
    )
    for name, page in pages(doctor(log.encode())).items():
        assert "MyError: told" in page.replace("\\", ""), name
        assert obeyed(page) == [], name


def test_escapes_in_a_file_name_reach_no_output(tmp_path: Path) -> None:
    path = tmp_path / "a\x1b]0;owned\x07\u202e\x9b31mb.log"
    path.write_bytes(FAILURE)
    for form in ("text", "markdown", "json", "jsonl"):
        out = run(path, "--no-record", "--format", form).stdout.decode()
        assert obeyed(out) == [], form
        assert "owned" in out
    told = run(f"{path}.gone\x1b[31m").stderr.decode()
    assert obeyed(told) == []
    assert "\\x1b[31m" in told


def test_a_name_that_is_not_utf8_is_printed_and_kept_exact_in_json(tmp_path: Path) -> None:
    path = tmp_path / "run\udcff.log"
    path.write_bytes(FAILURE)
    strict = {"PYTHONIOENCODING": "utf-8:strict"}
    for form in ("text", "markdown"):
        done = run(path, "--no-record", "--format", form, env=strict)
        assert b"KeyError" in done.stdout, done.stderr
    done = run(path, "--no-record", "--format", "json", env=strict)
    assert json.loads(done.stdout)["sources"][0]["path"] == str(path)


def test_what_is_invisible_becomes_visible() -> None:
    assert visible("a\x1b[31m\x9b\u202e\u200b\ud800\U000e0041") == (
        "a\\x1b[31m\\x9b\\u202e\\u200b\\ud800\\U000e0041"
    )
    assert visible("步骤 é 👩‍🔬\nx") == "步骤 é 👩‍🔬\nx"


MARKUP = [
    "<script>alert(1)</script> <img src=x onerror=y> <!-- -->",
    "[click](https://evil.example) ![pixel](https://evil.example/p.png) <https://evil.example>",
    "see https://evil.example and www.evil.example, ping @everyone, fixes #12",
    "# heading ``` fence ~~~ * item > quote | cell | $math$ &lt;b&gt; **bold** __bold__",
    "[red]bold[/red] [link=https://evil.example]x[/link] :smile:",
    "`` ` ``` code ````",
]


@pytest.mark.parametrize("markup", MARKUP)
def test_markdown_of_a_log_is_text(doctor: Doctor, markup: str) -> None:
    """The page has the structure that it has for harmless words: nothing of the log is markup."""

    def shape(words: str) -> list[str]:
        log = (
            f"ERROR {words}\nTraceback (most recent call last):\n"
            f'  File "a.py", line 1, in f\n    {words}\nMyError: {words}\n'
        )
        page = markdown.render(doctor(log.encode()))
        flat = [
            one
            for block in MarkdownIt("gfm-like", {"linkify": False}).parse(page)
            for one in (block, *(block.children or ()))
        ]
        return [one.type for one in flat if one.type not in ("text", "text_special")]

    assert shape(markup) == shape("harmless words")


def test_links_and_mentions_of_a_log_are_not_made_clickable(doctor: Doctor) -> None:
    page = markdown.render(
        doctor(b"Traceback (most recent call last):\nMyError: " + MARKUP[2].encode())
    )
    prose = [line for line in page.splitlines() if not line.startswith("- `")]
    assert any("evil" in line for line in prose)
    for line in prose:
        assert "://" not in line
        assert "www." not in line
        assert "@e" not in line
        assert " #12" not in line


def test_rich_markup_of_a_log_is_text(doctor: Doctor) -> None:
    report = doctor(b"Traceback (most recent call last):\nMyError: " + MARKUP[4].encode())
    assert MARKUP[4] in " ".join(text.render(report, color="always").split())


def test_what_is_made_to_be_pasted_holds_no_command_of_the_log() -> None:
    for hostile in (
        "$(reboot)",
        "`reboot`",
        "a;reboot",
        "a b",
        "a'b",
        "-rf",
        "--index-url=x",
        "|x",
    ):
        assert paste("pip install {module}", {"module": hostile}) == "pip install <module>"
    assert paste("kill {pid} {code}", {"pid": "12", "code": "-9"}) == "kill 12 -9"


WATCH = """
import sys
seen = []
sys.addaudithook(lambda event, args: seen.append((event, repr(args))) if event.partition(".")[0]
                 in ("open", "subprocess", "os", "socket", "exec", "import") else None)
from verl_doctor.cli import main
try: main(sys.argv[1:])
except SystemExit: pass
print("SEEN", *[f"{event} {args}" for event, args in seen], sep="\\n", file=sys.stderr)
"""


def test_a_log_opens_and_starts_nothing(tmp_path: Path) -> None:
    """Python's own audit events: no path, module, address or command of a log is ever used."""
    canary = tmp_path / "canary.py"
    canary.write_text("raise SystemExit")
    log = tmp_path / "run.log"
    log.write_text(
        f"Error executing job with overrides: ['data={canary}', '__import__(\"os\")']\n"
        f"see http://canary.example/x and error_file: {canary}\n{{'algorithm': open('{canary}')}}\n"
        f'Traceback (most recent call last):\n  File "{canary}", line 1, in <module>\n'
        f"ModuleNotFoundError: No module named 'canary'\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", WATCH, str(log), "--no-record"], capture_output=True, check=True
    )
    seen = done.stderr.decode().partition("SEEN\n")[2].splitlines()
    assert any(str(log) in one for one in seen)
    assert [one for one in seen if "canary" in one] == []
    started = ("subprocess.", "os.system", "os.exec", "os.fork", "os.posix_spawn", "socket.")
    assert [one for one in seen if one.startswith(started)] == []


def test_a_secret_of_a_log_is_neither_kept_nor_in_what_is_shared(
    tmp_path: Path, private_home: Path
) -> None:
    token = "hf_" + "QwErTyUiOpAsDfGhJkLzXcVbNmQwErTyUi"
    log = tmp_path / "run.log"
    log.write_text(
        f"Error executing job with overrides: ['trainer.hf_token={token}']\n"
        f'Traceback (most recent call last):\n  File "/home/alice/t.py", line 1, in f\n'
        f"    login({token!r})\nMyError: 401 for {token}\nERROR again {token}\n"
    )
    page = run(log, "--format", "markdown").stdout.decode()
    assert "401 for" in page
    assert token not in page
    assert "alice" not in page
    kept = [path for path in private_home.rglob("*") if path.is_file()]
    assert any("incidents.db" in path.name for path in kept)
    for path in kept:
        assert token.encode() not in path.read_bytes(), path
        assert path.stat().st_mode & 0o077 == 0, path


def test_a_sample_of_the_model_is_no_evidence(doctor: Doctor) -> None:
    failure = genuine("verl-unequal-chunk")
    quoted = b"[prompt] fix this\n[response] sure\n" + failure + b"[score] 0\n"
    report = doctor(quoted + b"step:1 - actor/grad_norm:0.4\n" * 5)
    assert doctor(failure).findings[0].rule not in {one.rule for one in report.findings}
    assert report.verdict != "failed"
    assert report.hidden["quoted"] >= 1
