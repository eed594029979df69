"""What a rule file, a rule folder or a cache can try. docs/threats.md says which line each test
holds."""

from __future__ import annotations

import ast
import os
import time
from pathlib import Path

import pytest

import verl_doctor
from tests.test_cli import run
from tests.test_rules import USER_RULE
from verl_doctor.knowledge import cache
from verl_doctor.knowledge.load import load, read_rules
from verl_doctor.knowledge.nodes import MAX_BYTES
from verl_doctor.knowledge.patterns import fault_of, written_out
from verl_doctor.knowledge.read import read_rule

RULE = USER_RULE.format(id="MINE001", slug="my-proxy")
LITERAL = "contains: corporate proxy says"
REGEX = r"'corporate proxy says (?P<proxy>\w+)'"


@pytest.mark.parametrize(
    ("old", "new", "place", "words"),
    [
        (LITERAL, 'contains: "a\\e[31m"', 12, "invisible character (U+001B)"),
        (LITERAL, 'contains: "a\\0b"', 12, "invisible character (U+0000)"),
        (LITERAL, 'contains: "a\\u202eb"', 12, "invisible character (U+202E)"),
        (LITERAL, f"contains: {'x' * 1001}", 12, "longer than 1000"),
        (LITERAL, "contains: !!python/object/apply:os.system [id]", 12, "tag"),
        (LITERAL, "contains: !!binary aGk=", 12, "tag"),
        (REGEX, "'(?:(?:(?:a{1000}){1000}){1000}){1000}'", 13, "counted repeats"),
        (REGEX, "'[ab]{100000000}'", 13, "counted repeats"),
        (REGEX, f"'{'(' * 1900}{')' * 1900}'", 13, "groups inside each other"),
        (REGEX, f"'{'a' * 4001}'", 13, "longer than 4000"),
        (REGEX, "'(?P<proxy>'", 13, "bad regular expression"),
        ("layer: mine", "layer: &a mine", 7, "examples"),
        ("slug: my-proxy", "slug: my-proxy\nslug: other", 4, "given twice"),
        (
            "examples: {}",
            "examples: {match: [{origin: genuine, file: ../../etc/passwd}]}",
            19,
            "does not fit",
        ),
        (
            "examples: {}",
            "examples: {match: [{origin: genuine, file: /etc/passwd}]}",
            19,
            "does not fit",
        ),
    ],
)
def test_a_hostile_rule_is_refused_with_its_place(
    old: str, new: str, place: int, words: str
) -> None:
    assert old in RULE
    start = time.process_time()
    plain, problems = read_rule(RULE.replace(old, new, 1), "x.yaml")
    assert time.process_time() - start < 2
    if words == "examples":  # an anchor that nothing uses is harmless
        assert plain
        return
    assert plain is None
    assert [words in str(one) for one in problems] == [True], problems
    assert problems[0].line == place


@pytest.mark.parametrize(
    "text",
    [
        "[" * 200_000,
        "{a: " * 60_000,
        "? " * 100_000,
        "a: *a",
        "&a [*a]",
        "\x1b[31m: x",
        "'" * 99_999,
    ],
    ids=lambda text: text[:8],
)
def test_yaml_bombs_are_refused(text: str) -> None:
    start = time.process_time()
    plain, problems = read_rule(text, "x.yaml")
    assert time.process_time() - start < 2
    assert plain is None
    assert str(problems[0]).startswith("x.yaml:1:")


@pytest.mark.parametrize(
    ("pattern", "pieces"),
    [
        (r"a{3}b{2,}c{0,9}", 5),
        (r"(?:a{10}){10}", 120),
        (r"\{9}[{9}]\(", 5),
        (r"a)b(", 3),
        ("{9}", 1),
    ],
)
def test_repeats_are_counted_as_written_out(pattern: str, pieces: int) -> None:
    assert written_out(pattern) == pieces


def test_ordinary_patterns_are_far_from_the_limits() -> None:
    assert fault_of(r"\d{4}-\d\d-\d\dT\d\d:\d\d .{0,200}(?P<what>[0-9a-f]{40}){2}") is None


@pytest.fixture
def few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that stands for the shipped rules and holds two of them: read in an instant."""
    shipped = tmp_path / "shipped"
    shipped.mkdir()
    for number in (40, 41):
        rule = USER_RULE.format(id=f"DST0{number}", slug=f"shipped-{number}")
        (shipped / f"{number}.yaml").write_text(rule)
    monkeypatch.setattr("verl_doctor.knowledge.load.shipped_rules", lambda: shipped)
    return shipped


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """An empty folder for further rules."""
    folder = tmp_path / "mine"
    folder.mkdir()
    return folder


def test_only_regular_files_are_read_as_rules(few: Path, mine: Path) -> None:
    os.mkfifo(mine / "fifo.yaml")
    (mine / "endless.yaml").symlink_to("/dev/zero")
    (mine / "nowhere.yaml").symlink_to(mine / "gone")
    (mine / "folder.yaml").mkdir()
    (mine / "large.yaml").write_bytes(b"#" * (MAX_BYTES + 1))
    (mine / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    (mine / "good.yaml").write_text(RULE)
    plains, problems, _ = read_rules([mine])
    assert [plain["id"] for plain in plains] == ["MINE001"]
    words = {Path(one.path).name: one.message for one in problems}
    assert set(words) == {path.name for path in mine.iterdir()} - {"good.yaml"}
    assert "larger than" in words["large.yaml"]
    assert "not a regular file" in words["fifo.yaml"]
    base, _ = load([str(mine)])
    assert "MINE001" in base
    assert sum("rule left out" in note for note in base.notes) == len(words)


def test_a_rule_that_hides_a_shipped_one_is_told(few: Path, mine: Path) -> None:
    taken = USER_RULE.format(id="DST040", slug="mine-instead")
    (mine / "a.yaml").write_text(taken)
    (mine / "b.yaml").write_text(RULE + "relations: {supersedes: DST041}\n")
    for _ in ("read", "from the cache"):
        notes = load([str(mine)])[0].notes
        assert any("DST040" in note and "is replaced by" in note for note in notes)
        assert any("DST041 is hidden by" in note and "b.yaml" in note for note in notes)


def test_problems_of_a_rule_reach_the_terminal_as_text(mine: Path) -> None:
    path = mine / "a\x1b]0;owned\x07.yaml"
    path.write_text("id: x\n")
    done = run("rules", "lint", path)
    assert b"\x1b" not in done.stdout + done.stderr
    assert b"\\x1b]0;owned" in done.stdout


# --- the cache ------------------------------------------------------------------------------


@pytest.fixture
def folder(few: Path, private_home: Path) -> Path:
    """The cache folder, filled."""
    load()
    return private_home / "cache" / "verl-doctor"


def test_a_cache_is_for_its_owner_alone(folder: Path) -> None:
    assert folder.stat().st_mode & 0o777 == 0o700
    (file,) = folder.iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    assert cache.read_private(file)


def test_a_cache_folder_that_is_a_link_is_not_used(
    few: Path, private_home: Path, tmp_path: Path
) -> None:
    victim = tmp_path / "project"
    victim.mkdir(mode=0o700)
    (victim / "package.json").write_text("{}")
    (victim / "rules").write_text("{}")
    (private_home / "cache").mkdir()
    (private_home / "cache" / "verl-doctor").symlink_to(victim)
    load()
    assert {path.name: path.read_text() for path in victim.iterdir()} == {
        "package.json": "{}",
        "rules": "{}",
    }


def test_what_else_lies_in_the_cache_folder_is_left_alone(folder: Path) -> None:
    (folder / "notes.json").write_text("{}")
    (folder / "rules").unlink()
    load()
    assert (folder / "rules").exists()
    assert (folder / "notes.json").exists()


@pytest.mark.parametrize("mode", [0o620, 0o606])
def test_a_cache_that_others_can_write_is_not_read(folder: Path, mode: int) -> None:
    path = folder / "rules"
    path.chmod(mode)
    assert cache.read_private(path) is None
    path.chmod(0o600)
    folder.chmod(0o700 | (mode & 0o077))
    assert cache.read_private(path) is None
    assert not cache.write_private(folder / "new", b"x")


def test_a_cache_file_that_is_a_link_or_fifo_is_not_read(folder: Path) -> None:
    target = folder / "target"
    assert cache.write_private(target, b"x")
    (folder / "link").symlink_to(target)
    os.mkfifo(folder / "fifo", 0o600)
    assert cache.read_private(target) == b"x"
    assert cache.read_private(folder / "link") is None
    assert cache.read_private(folder / "fifo") is None


# --- the code itself ------------------------------------------------------------------------

FORBIDDEN = {"pickle", "cPickle", "dill", "marshal", "shelve", "joblib"}
"""Modules whose loading runs what a file says."""
RESTRICTED = {"sources/flight_recorder.py"}
"""Reads pickles with a loader that refuses every class, on an explicit flag alone
(tests/test_flight_recorder.py)."""


def test_no_pickle_no_shell_no_eval() -> None:
    folder = Path(verl_doctor.__file__).parent
    wrong = []
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            elif isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                shell = any(
                    word.arg == "shell" and ast.unparse(word.value) != "False"
                    for word in node.keywords
                )
                if shell or called in ("eval", "exec", "os.system", "os.popen", "yaml.load"):
                    wrong.append(f"{path.name}:{node.lineno}: {called}")
            here = path.relative_to(folder).as_posix()
            if here not in RESTRICTED and FORBIDDEN & {name.partition(".")[0] for name in names}:
                wrong.append(f"{path.name}:{node.lineno}: {names}")
    assert wrong == []
