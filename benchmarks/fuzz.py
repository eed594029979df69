"""Coverage-guided fuzzing of one reader at a time: `python benchmarks/fuzz.py READER --seconds N`.

Needs the dependency group `fuzz` (atheris, which is libFuzzer for Python). The seeds are the
genuine logs and the shipped rules. A crash, 10 s on one input or 2 GiB of memory ends the run and
leaves the input in the working directory; `python benchmarks/fuzz.py READER FILE` runs it again.
docs/fuzzing.md holds what was found.
"""

from __future__ import annotations

import io
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Callable
from functools import cache
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["verl_doctor"]):
    from verl_doctor.authoring.backtracking import hostile_texts
    from verl_doctor.detect.config import Settings
    from verl_doctor.knowledge.load import load
    from verl_doctor.knowledge.patterns import fault_of
    from verl_doctor.knowledge.read import read_rule
    from verl_doctor.logs.mask import mask
    from verl_doctor.logs.prefix import peel
    from verl_doctor.logs.text import visible
    from verl_doctor.match.confirm import Confirmer
    from verl_doctor.pipeline import diagnose_chunks
    from verl_doctor.render import json_v1, markdown, text
    from verl_doctor.sources import Source, chunks

ROOT = Path(__file__).resolve().parent.parent
LONGEST = 4096
"""Bytes of a generated input; seeds are cut to it."""
LIMITS = ("-timeout=10", "-rss_limit_mb=2048", f"-max_len={LONGEST}")

rules = cache(lambda: load(cache=False))


def sources(data: bytes) -> None:
    """Compression, encodings, line ends: what comes out is whole lines, and a `\\n` stays one."""
    parts = list(chunks(Source("<stdin>", "stdin"), stdin=io.BytesIO(data), size=1024))
    assert all(part.endswith(b"\n") for part in parts[:-1])


def prefixes(data: bytes) -> None:
    """Prefixes come off from the left: what is left is an end of the line, unless JSON held it."""
    for line in data.decode("utf-8", "replace").split("\n"):
        peeled = peel(line)
        assert line.endswith(peeled.rest) or "json_line" in peeled.formats


def logs(data: bytes) -> None:
    """A whole log through every stage and every output; nothing in them is obeyed by a terminal."""
    base, scanner = rules()
    report, _ = diagnose_chunks([("train.log", [data], [])], base, scanner)
    for page in (text.render(report), markdown.render(report), json_v1.render(report)):
        page.encode()
        page = page.replace("@\u200b", "@")  # how Markdown's mentions are defused
        assert page == visible(page)


def overrides(data: bytes) -> None:
    """Hydra's override line, a traced command, a dumped config."""
    line = data.decode("utf-8", "replace")
    settings = Settings()
    settings.overrides_line(f"Error executing job with overrides: [{line}")
    settings.overrides_line(f"-m verl.trainer.main_ppo {line}")
    settings.dump(line)
    settings.get("a.b")


def secrets(data: bytes) -> None:
    """Masking twice is masking once."""
    once = mask(data.decode("utf-8", "replace"))
    assert mask(once) == once


def rule_files(data: bytes) -> None:
    """A rule file gives a rule or problems, never both and never neither."""
    plain, problems = read_rule(data.decode("utf-8", "replace"), "fuzz.yaml")
    assert (plain is None) == bool(problems)


def patterns(data: bytes) -> None:
    """A pattern is refused, or searches every hostile text within its limit."""
    pattern = data.decode("utf-8", "replace")
    if fault_of(pattern) is None:
        confirm = Confirmer()
        for hostile in hostile_texts(pattern):
            confirm.search(pattern, hostile)


def _logs() -> list[bytes]:
    return [path.read_bytes() for path in sorted((ROOT / "fixtures_logs/genuine").glob("*.log"))]


def _rules() -> list[bytes]:
    return [path.read_bytes() for path in sorted((ROOT / "rules").rglob("*.yaml"))]


def _lines() -> list[bytes]:
    return sorted({line[:400] for log in _logs() for line in log.splitlines()})[::20]


READERS: dict[str, tuple[Callable[[bytes], None], Callable[[], list[bytes]]]] = {
    "sources": (sources, _logs),
    "prefixes": (prefixes, _lines),
    "logs": (logs, _logs),
    "overrides": (overrides, _lines),
    "secrets": (secrets, _lines),
    "rules": (rule_files, _rules),
    "patterns": (patterns, _lines),
}


def main() -> None:
    """Runs one reader on what libFuzzer makes of the seeds, for so many seconds, or on one file."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("reader", choices=READERS)
    parser.add_argument("file", nargs="*", help="run on these inputs only")
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    reader, seeds = READERS[given.reader]
    with tempfile.TemporaryDirectory() as corpus:
        for number, seed in enumerate(seeds()):
            (Path(corpus) / f"{number:05}").write_bytes(seed[:LONGEST])
        wanted = given.file or [f"-max_total_time={given.seconds}", f"-seed={given.seed}", corpus]
        atheris.Setup([sys.argv[0], *LIMITS, *wanted], reader)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
