"""The command line as a user meets it: real processes, real pipes, real files."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import zstandard

from tests.conftest import GENUINE, genuine

LOG = GENUINE / "verl-batch-not-divisible.log"
HEALTHY = GENUINE / "verl-metrics-healthy-grpo.log"


def run(
    *args: str | Path, stdin: bytes | None = None, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Runs verl-doctor; no standard input unless given."""
    return subprocess.run(
        [sys.executable, "-m", "verl_doctor", *map(str, args)],
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        env={**os.environ, **(env or {})},
        timeout=60,
        check=False,
    )


def report(*args: str | Path, stdin: bytes | None = None) -> dict[str, object]:
    done = run(*args, "--format", "json", "--no-record", stdin=stdin)
    assert done.returncode in (0, 1), done.stderr.decode()
    data: dict[str, object] = json.loads(done.stdout)
    return data


def rules(data: dict[str, object]) -> list[str]:
    return [finding["rule"] for finding in data["findings"]]  # type: ignore[attr-defined]


def test_a_file_is_diagnosed_and_the_verdict_stands_last() -> None:
    done = run(LOG, "--no-record")
    assert done.returncode == 1
    lines = done.stdout.decode().rstrip().splitlines()
    assert "FAILED" in "\n".join(lines[-3:])
    assert "line 15" in done.stdout.decode()
    assert "real_train_batch_size (16) must be divisible by" in done.stdout.decode()


@pytest.mark.parametrize("form", ["dash", "pipe", "file"])
def test_standard_input(form: str) -> None:
    data = LOG.read_bytes()
    if form == "dash":
        found = report("-", stdin=data)
    elif form == "pipe":
        found = report(stdin=data)
    else:
        with LOG.open("rb") as file:
            done = subprocess.run(
                [sys.executable, "-m", "verl_doctor", "--format", "json", "--no-record"],
                stdin=file,
                capture_output=True,
                check=False,
            )
        found = json.loads(done.stdout)
    assert rules(found) == rules(report(LOG))


@pytest.mark.parametrize(
    ("ending", "pack"),
    [
        ("gz", gzip.compress),
        ("bz2", bz2.compress),
        ("xz", lzma.compress),
        ("zst", zstandard.compress),
    ],
)
def test_compressed(tmp_path: Path, ending: str, pack: object) -> None:
    packed = tmp_path / f"train.log.{ending}"
    packed.write_bytes(pack(LOG.read_bytes()))  # type: ignore[operator]
    assert rules(report(packed)) == rules(report(LOG))


def test_several_files_and_a_folder_are_one_run(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "a.log").write_bytes(HEALTHY.read_bytes())
    (folder / "b.log").write_bytes(LOG.read_bytes())
    for args in ((folder / "a.log", folder / "b.log"), (folder,)):
        found = report(*args)
        first = found["findings"][0]  # type: ignore[index]
        assert first["rule"] == rules(report(LOG))[0]
        assert first["evidence"][0]["path"].endswith("b.log")
        assert first["evidence"][0]["line"] == 15
        assert len(found["sources"]) == 2  # type: ignore[arg-type]


def test_a_folder_of_ten_thousand_files_gets_a_clear_word(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    for i in range(10_000):
        (folder / f"worker-{i}.log").write_text("step:1 - actor/lr:1e-06\n")
    done = run(folder, "--no-record")
    assert done.returncode == 0
    assert b"newest 2000 are read, 8000 older ones are not" in done.stderr


def test_healthy_is_zero_and_findings_are_one() -> None:
    assert run(HEALTHY, "--no-record").returncode == 0
    assert run(LOG, "--no-record").returncode == 1
    assert run(LOG, "--no-record", "--exit-zero").returncode == 0
    assert run(HEALTHY, "--no-record", "--fail-on", "info").returncode in (0, 1)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: None, "train.log"),
        (lambda path: path.write_bytes(b""), "empty"),
        (lambda path: path.write_bytes(b"\x7fELF" + bytes(5000)), "ELF"),
        (lambda path: path.write_bytes(b"PAR1" + bytes(range(256)) * 20 + b"PAR1"), "arquet"),
    ],
)
def test_bad_input_gets_a_clear_word(tmp_path: Path, make: object, words: str) -> None:
    path = tmp_path / "train.log"
    make(path)  # type: ignore[operator]
    done = run(path, "--no-record")
    told = done.stderr.decode()
    assert words in told
    assert "Traceback" not in told
    assert done.returncode in (0, 2)


def test_a_folder_without_permission(tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir()
    (folder / "train.log").write_bytes(LOG.read_bytes())
    folder.chmod(0)
    try:
        if os.access(folder, os.R_OK):
            pytest.skip("root may read everything")
        done = run(folder, "--no-record")
        assert done.returncode == 2
        assert b"ermission" in done.stderr
    finally:
        folder.chmod(0o700)


def test_what_is_readable_is_diagnosed_even_if_another_file_is_not(tmp_path: Path) -> None:
    done = run(LOG, tmp_path / "nothing.log", "--no-record")
    assert done.returncode == 2
    assert b"FAILED" in done.stdout
    assert b"nothing.log" in done.stderr


def test_usage_errors_are_two() -> None:
    assert run("--no-such-option").returncode == 2
    assert run(LOG, "--format", "yaml").returncode == 2
    assert run("explain", "NOPE999").returncode == 2


def test_markup_and_escapes_of_a_log_print_as_text() -> None:
    log = (
        b"[rank0]: Traceback (most recent call last):\n"
        b'[rank0]:   File "t.py", line 1, in <module>\n'
        b"[rank0]: MyOwnError: [rank0] and [red]bold[/red] :smile: "
        b"\x1b]0;title\x07\x1b[2Jx \xe2\x80\xae\n"
    )
    out = run("-", "--no-record", "--color", "always", stdin=log).stdout.decode()
    assert "[rank0] and [red]bold[/red] :smile:" in out
    assert "\x1b]0;" not in out
    assert "\x1b[2J" not in out
    assert "\u202e" not in out


def test_colour_follows_no_color_and_pipes() -> None:
    assert b"\x1b[" not in run(LOG, "--no-record").stdout
    assert b"\x1b[" in run(LOG, "--no-record", "--color", "always").stdout
    assert b"\x1b[" not in run(LOG, "--no-record", env={"NO_COLOR": "1"}).stdout


def test_text_fits_eighty_columns_but_for_what_is_pasted() -> None:
    from rich.cells import cell_len

    for lang in ("en", "zh"):
        out = run(LOG, "--no-record", "--lang", lang).stdout.decode()
        long = [line for line in out.splitlines() if cell_len(line) > 80]
        assert all(line.strip().startswith(("$", "+", "see", "参考", "/")) for line in long), long


def test_chinese() -> None:
    out = run(LOG, "--no-record", "--lang", "zh").stdout.decode()
    assert "失败" in out
    assert "原因" in out
    assert run(LOG, "--no-record", env={"LANG": "zh_CN.UTF-8"}).stdout.decode() == out


def test_json_stands_alone_on_standard_output() -> None:
    data = report(LOG)
    assert list(data)[:2] == ["schema_version", "verdict"]
    assert data["schema_version"] == 1
    first = data["findings"][0]  # type: ignore[index]
    assert {"rule", "slug", "title", "role", "severity", "confidence", "cause", "causes"} <= set(
        first
    )
    assert first["evidence"][0]["line"] == 15
    assert first["fixes"][0]["text"]


def test_output_file(tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    done = run(LOG, "--no-record", "--format", "json", "-o", target)
    assert done.stdout == b""
    assert json.loads(target.read_text())["verdict"] == "failed"


def test_a_closed_pipe_is_no_error() -> None:
    command = f"{sys.executable} -m verl_doctor {LOG} --no-record | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, check=False)
    assert done.stderr == b""


def test_incidents_are_recorded_after_the_result_and_found_again(private_home: Path) -> None:
    first = run(LOG)
    assert b"incidents.db" in first.stderr
    again = run(LOG)
    assert b"incidents.db" not in again.stderr
    listed = json.loads(run("incidents", "list", "--format", "json").stdout)
    assert listed
    assert (private_home / "state" / "verl-doctor" / "incidents.db").exists()


def test_no_record_writes_nothing(private_home: Path) -> None:
    run(LOG, "--no-record")
    assert not (private_home / "state").exists()


def test_a_store_that_cannot_be_written_is_told_and_the_result_still_printed(
    private_home: Path,
) -> None:
    state = private_home / "state"
    state.write_text("in the way")
    done = run(LOG)
    assert done.returncode == 1
    assert b"FAILED" in done.stdout
    assert b"not recorded" in done.stderr
    assert b"Traceback" not in done.stderr


def test_explain_is_offline_and_knows_ids_and_slugs() -> None:
    known = json.loads(run("rules", "list", "--format", "json").stdout)
    one = known[0]
    by_id = run("explain", one["id"].lower()).stdout
    assert by_id == run("explain", one["slug"]).stdout
    assert one["title"]["en"].split("{")[0].strip()[:20] in by_id.decode()
    assert run("explain", one["id"], "--lang", "zh").stdout != by_id


def test_rules_lint_and_test_pass_on_the_shipped_rules() -> None:
    assert run("rules", "lint").returncode == 0
    assert run("rules", "lint", "/no/such/file").returncode == 2


def test_schema_is_json() -> None:
    assert json.loads(run("schema", "rule").stdout)["title"] == "verl-doctor rule"


def imported(*args: str) -> set[str]:
    """Modules that a verl-doctor command line has imported when it ends."""
    code = (
        "import sys\n"
        "from verl_doctor.cli import main\n"
        f"try: main({list(args)!r})\n"
        "except SystemExit: pass\n"
        "print('MODULES', *sorted(sys.modules), file=sys.stderr)\n"
    )
    # readline, which pytest imports, sets COLUMNS behind Python's back
    env = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env=env)
    return set(done.stderr.decode().rpartition("MODULES")[2].split())


HEAVY = {"textual", "torch", "rich", "sqlite_utils", "sqlite3", "hyperscan", "regex", "yaml"}


def test_help_imports_nothing_heavy() -> None:
    assert imported("--help") & HEAVY == set()


def test_a_log_imports_no_torch_and_no_textual() -> None:
    imported(str(LOG), "--no-record")  # fills the cache
    never = {"textual", "torch", "sqlite_utils", "yaml", "matplotlib"}
    assert imported(str(LOG), "--no-record") & never == set()
    machine = imported(str(LOG), "--no-record", "--format", "json")
    assert machine & {"rich", *never} == set()


def test_help_is_at_most_five_times_a_bare_interpreter() -> None:
    def best(*command: str) -> float:
        times = []
        for _ in range(7):
            start = time.perf_counter()
            subprocess.run(command, capture_output=True, check=True)
            times.append(time.perf_counter() - start)
        return min(times)

    bare = best(sys.executable, "-c", "pass")
    assert best(sys.executable, "-m", "verl_doctor", "--help") <= 5 * bare


def test_ctrl_c_says_what_was_found_so_far() -> None:
    import array
    import fcntl
    import signal
    import termios

    run(LOG, "--no-record")  # the rules are cached: what follows waits in the pipe, not in them
    process = subprocess.Popen(
        [sys.executable, "-m", "verl_doctor", "-", "--no-record", "--format", "json"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin
    process.stdin.write(genuine("verl-unequal-chunk") + b"\n" * 10)
    process.stdin.flush()
    unread = array.array("i", [1])
    while unread[0]:  # until the child reads, Ctrl-C would end its start
        time.sleep(0.05)
        fcntl.ioctl(process.stdin, termios.FIONREAD, unread)
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=30)
    assert process.returncode == 130
    assert json.loads(out)["verdict"] == "failed"


def test_the_stored_help_is_what_click_prints() -> None:
    from click.testing import CliRunner

    from verl_doctor.cli import HELP
    from verl_doctor.cli.app import cli

    shown = CliRunner().invoke(cli, ["--help"], prog_name="verl-doctor", terminal_width=80)
    assert HELP.read_text(encoding="utf-8") == shown.output
