"""Tracebacks are put together as Python, torch, Ray and rich really print them."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

from tests.conftest import genuine
from verl_doctor.logs.blocks import Assembler
from verl_doctor.logs.prefix import peel
from verl_doctor.logs.shapes import is_header, parse_exception
from verl_doctor.model import Block, Line
from verl_doctor.scan.colours import plain


def blocks(log: bytes) -> list[Block]:
    """Every traceback of a log, all lines fed."""
    assembler = Assembler()
    for number, raw in enumerate(plain(log).decode("utf-8", "replace").split("\n"), 1):
        peeled = peel(raw.split("\r")[-1])
        line = Line(peeled.rest, number, worker=peeled.worker)
        exception = parse_exception(peeled.rest) is not None
        assembler.feed(line, peeled.formats, exception=exception)
    assembler.finish()
    return [block for _, block, _ in assembler.done]


def python_dies(code: str, **env: str) -> bytes:
    """What a real Python prints on standard error when this code ends it."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, check=False, env=env
    )
    assert done.returncode
    return done.stderr


def chain(block: Block) -> list[tuple[str, int]]:
    return [(exc.name, exc.line) for exc in block.chain]


def test_direct_cause_comes_before_its_effect() -> None:
    (block,) = blocks(genuine("gpu-fork-reinit"))
    assert chain(block) == [("RuntimeError", 15), ("RuntimeError", 29)]
    assert block.uncaught


def test_exception_of_a_dataloader_worker_is_the_cause_of_its_wrapper() -> None:
    (block,) = blocks(genuine("dataloader-worker-exception"))
    assert chain(block) == [("KeyError", 28), ("KeyError", 14)]
    assert block.chain[0].message == "'answer'"
    assert block.chain[0].frames[-1].function == "__getitem__"
    assert block.chain[0].frames[-1].source == 'return json.loads(self.rows[i])["answer"]'
    assert block.chain[0].frames[-1].at == 25


@pytest.mark.parametrize(
    ("slug", "line"), [("ray-task-error-nested", 36), ("ray-task-error-nested-old", 39)]
)
def test_ray_task_errors_are_unwrapped_to_the_deepest(slug: str, line: int) -> None:
    deepest = [block.chain[0] for block in blocks(genuine(slug))]
    assert ("ValueError", line) in [(exc.name, exc.line) for exc in deepest]


def test_ranks_that_interleave_are_kept_apart() -> None:
    found = blocks(genuine("torchrun-record-childfailed"))
    by_rank = {block.worker.rank: block for block in found if block.worker.rank}
    assert chain(by_rank["1"]) == [("KeyError", 10)]
    assert by_rank["0"].chain[0].name == "RuntimeError"


def test_two_ranks_line_by_line() -> None:
    first = (
        b'[rank0]: Traceback (most recent call last):\n[rank0]:   File "a.py", line 1, in <module>'
    )
    second = first.replace(b"rank0", b"rank1").replace(b"a.py", b"b.py")
    mixed = []
    for a, b in zip(
        (first + b"\n[rank0]: KeyError: 'lr'").split(b"\n"),
        (second + b"\n[rank1]: OSError: gone").split(b"\n"),
        strict=True,
    ):
        mixed += [b, a]
    found = {block.worker.rank: block.chain[0] for block in blocks(b"\n".join(mixed))}
    assert (found["0"].name, found["0"].frames[0].file) == ("KeyError", "a.py")
    assert (found["1"].name, found["1"].frames[0].file) == ("OSError", "b.py")


def test_raylet_prefix_stands_on_the_first_line_only() -> None:
    found = blocks(genuine("ray-spill-disk-full"))
    assert found[0].chain[0].name == "OSError"
    assert found[0].chain[0].line == 14


@pytest.mark.skipif(sys.version_info < (3, 11), reason="exception groups are newer")
def test_exception_group_gives_its_members() -> None:
    log = python_dies("raise ExceptionGroup('many', [ValueError('one'), KeyError('two')])")
    names = {exc.name for block in blocks(log) for exc in block.chain}
    assert "ValueError" in names
    assert "ExceptionGroup" in names


@pytest.mark.skipif(sys.version_info < (3, 13), reason="coloured tracebacks are newer")
def test_coloured_traceback() -> None:
    (block,) = blocks(python_dies("{}['lr']", FORCE_COLOR="1"))
    assert block.chain[0].name == "KeyError"


def test_colours_inside_a_traceback_do_not_hide_it() -> None:
    log = python_dies("{}['lr']").decode()
    coloured = log.replace("KeyError: 'lr'", "\x1b[1;35mKeyError\x1b[0m: \x1b[35m'lr'\x1b[0m")
    assert coloured != log
    (block,) = blocks(coloured.encode())
    assert (block.chain[0].name, block.chain[0].message) == ("KeyError", "'lr'")


def test_rich_box() -> None:
    log = python_dies(
        """
        from rich.traceback import install
        install(width=100)
        def compute_score(x):
            return int(x)
        compute_score('forty-two')
        """,
        TERM="dumb",
    )
    assert "╭".encode() in log
    found = blocks(log)
    assert [exc.name for block in found for exc in block.chain] == ["ValueError"]


def test_message_of_several_lines_is_whole() -> None:
    (block,) = blocks(genuine("state-dict-mismatch"))
    assert "Missing key(s) in state_dict" in block.chain[0].message
    assert "Unexpected key(s) in state_dict" in block.chain[0].message


def test_empty_first_line_of_a_message() -> None:
    (block,) = blocks(genuine("sentencepiece-missing"))
    assert block.chain[0].message.startswith("LlamaTokenizer requires the SentencePiece library")


def test_syntax_error_has_frames_and_no_header() -> None:
    (block,) = blocks(genuine("python-too-old-match"))
    assert block.chain[0].name == "SyntaxError"
    assert block.chain[0].frames[0].source == "match name:"


def test_two_printings_by_the_same_worker_are_two_blocks() -> None:
    log = python_dies("{}['lr']")
    assert len(blocks(log + b"\nsomething else\n" + log)) == 2


def test_other_workers_lines_do_not_close_a_traceback() -> None:
    noise = b"".join(b"(TaskRunner pid=9) step:%d - loss:1.0\n" % i for i in range(50))
    first, last = python_dies("{}['lr']").rsplit(b"\n", 2)[:2]
    found = blocks(first + b"\n" + noise + last)
    assert [exc.name for block in found for exc in block.chain] == ["KeyError"]


@pytest.mark.parametrize(
    ("text", "opens"),
    [
        ("Traceback (most recent call last):", True),
        ("Original Traceback (most recent call last):", True),
        ("  + Exception Group Traceback (most recent call last):", True),
        ("Do you wish to run the custom code? [y/N] Traceback (most recent call last):", True),
        ("[prompt] Traceback (most recent call last): ValueError: division failed.", False),
        ("[response] Traceback (most recent call last):", False),
        ("(score) response: 'Traceback (most recent call last): Zero' -> reward 0.0", False),
    ],
)
def test_headers(text: str, opens: bool) -> None:
    assert is_header(text) is opens


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("KeyError: 'lr'", ("KeyError", "'lr'")),
        ("torch.OutOfMemoryError: CUDA", ("torch.OutOfMemoryError", "CUDA")),
        ("triton.runtime.errors.OutOfResources: x", ("triton.runtime.errors.OutOfResources", "x")),
        ("RuntimeErrorRuntimeError: : lost", ("RuntimeError", "lost")),
        ("KeyboardInterrupt", ("KeyboardInterrupt", "")),
        ("ray.exceptions.RayTaskError(ValueError): ray::f()", None),
        ("Error: No available node types", None),
        ("step:3 - actor/lr:1", None),
        ("INFO: started", None),
        ("path: /home/user", None),
    ],
)
def test_exception_lines(text: str, want: tuple[str, str] | None) -> None:
    if text.startswith("ray."):
        want = ("ray.exceptions.RayTaskError(ValueError)", "ray::f()")
    assert parse_exception(text) == want


def test_newest_line_first() -> None:
    log = python_dies(
        """
        def compute_score(x):
            return int(x)
        compute_score('forty-two')
        """
    )
    # -c has no source lines: give every frame one, as a file would
    lines = []
    for line in log.decode().splitlines():
        lines.append(line)
        if line.startswith("  File"):
            lines.append("    return int(x)")
    (block,) = blocks("\n".join(reversed(lines)).encode())
    (exc,) = block.chain
    assert (exc.name, exc.line) == ("ValueError", 1)
    assert exc.message == "invalid literal for int() with base 10: 'forty-two'"
    assert [frame.function for frame in exc.frames] == ["<module>", "compute_score"]


def test_a_terminal_that_wrapped_hard() -> None:
    log = python_dies("raise RuntimeError('No available memory for the cache blocks. ' * 8)")
    wide = "\n".join(
        line[i : i + 72] for line in log.decode().splitlines() for i in range(0, len(line) or 1, 72)
    )
    (block,) = blocks(wide.encode())
    assert "the cache blocks. No available memory for" in block.chain[0].message
    assert "\n" not in block.chain[0].message


def test_a_record_that_could_not_be_printed_is_no_death() -> None:
    log = python_dies("import logging\nlogging.warning('step %d', 'seven')\n{}['lr']")
    logged, died = blocks(log)
    assert logged.ignored
    assert (died.chain[0].name, died.ignored) == ("KeyError", False)
