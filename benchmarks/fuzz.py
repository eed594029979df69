"""Coverage-guided fuzzing of one reader at a time: `python benchmarks/fuzz.py READER --seconds N`.

Needs the dependency group `fuzz` (atheris, which is libFuzzer for Python). The seeds are the
genuine logs, the shipped rules and small files made here (benchmarks/fuzz_seeds.py). A crash, 10 s
on one input or 2 GiB of memory ends the run and leaves the input in the working directory;
`python benchmarks/fuzz.py READER FILE` runs it again. docs/fuzzing.md holds what was found.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["verl_doctor"]):
    from verl_doctor.authoring.backtracking import hostile_texts
    from verl_doctor.checks import config, data, memory, model
    from verl_doctor.detect.config import Settings
    from verl_doctor.detect.flight_recorder import compare
    from verl_doctor.detect.metrics.columns import Columns
    from verl_doctor.detect.metrics.judge import judge
    from verl_doctor.detect.metrics.lines import read_dict_line, read_json_line, read_step_line
    from verl_doctor.errors import DoctorError
    from verl_doctor.knowledge.load import load
    from verl_doctor.knowledge.patterns import fault_of
    from verl_doctor.knowledge.read import read_rule
    from verl_doctor.live import News
    from verl_doctor.logs.blocks import Assembler
    from verl_doctor.logs.mask import mask
    from verl_doctor.logs.prefix import peel
    from verl_doctor.logs.text import visible
    from verl_doctor.match.confirm import Confirmer
    from verl_doctor.model import Line
    from verl_doctor.pipeline import diagnose_chunks
    from verl_doctor.render import json_v1, markdown, news, text
    from verl_doctor.run.copying import Copy
    from verl_doctor.run.stacks import merged, threads_of
    from verl_doctor.sources import Source, chunks
    from verl_doctor.sources.flight_recorder import read_dumps
    from verl_doctor.store import take_in

import fuzz_seeds as seeds

LONGEST = 4096
"""Bytes of a generated input; seeds are cut to it."""
LIMITS = ("-timeout=10", "-rss_limit_mb=2048", f"-max_len={LONGEST}", "-len_control=0")
RELEASE = "0.9.1"

rules = cache(lambda: load(cache=False))
defaults = cache(lambda: config.compose(config.command([]), RELEASE))
folder = cache(lambda: Path(tempfile.mkdtemp(prefix="fuzz-", dir=shared_memory())))


def shared_memory() -> str | None:
    """A folder that is no disk, where there is one."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def put(name: str, content: bytes) -> Path:
    """A file with this content."""
    path = folder() / name
    path.write_bytes(content)
    return path


def lines_of(content: bytes) -> list[str]:
    return content.decode("utf-8", "replace").split("\n")


# --- logs -----------------------------------------------------------------------------------


def sources(content: bytes) -> None:
    """Compression, encodings, line ends: what comes out is whole lines, and a `\\n` stays one."""
    parts = list(chunks(Source("<stdin>", "stdin"), stdin=io.BytesIO(content), size=1024))
    assert all(part.endswith(b"\n") for part in parts[:-1])


def prefixes(content: bytes) -> None:
    """Prefixes come off from the left: what is left is an end of the line, unless JSON held it."""
    for line in lines_of(content):
        peeled = peel(line)
        assert line.endswith(peeled.rest) or "json_line" in peeled.formats


def logs(content: bytes) -> None:
    """A whole log through every stage and every output; nothing in them is obeyed by a terminal."""
    base, scanner = rules()
    report, _ = diagnose_chunks([("train.log", [content], [])], base, scanner)
    for page in (text.render(report), markdown.render(report), json_v1.render(report)):
        page.encode()
        page = page.replace("@\u200b", "@")  # how Markdown's mentions are defused
        assert page == visible(page)


def messages(content: bytes) -> None:
    """What is sent to people of a live run: one text, harmless, masked."""
    base, scanner = rules()
    report, _ = diagnose_chunks([("train.log", [content], [])], base, scanner)
    for finding in report.findings:
        for kind in ("alert", "revised", "again"):
            sent = mask(news.line(News(kind, finding), "en", 0.0))
            assert sent == visible(sent)
            sent.encode()


def tracebacks(content: bytes) -> None:
    """A block never reaches beyond the lines that it was made of."""
    assembler, lines = Assembler(), lines_of(content)
    for number, line in enumerate(lines, 1):
        assembler.feed(Line(line, number, "a.log"), (), exception="Error" in line)
    assembler.finish()
    for _, block, _ in assembler.done:
        assert 1 <= block.first_line <= block.last_line <= len(lines)
        assert block.chain


def metrics(content: bytes) -> None:
    """Steps of a column only grow, and every rule can be asked about whatever came."""
    columns = Columns()
    for number, line in enumerate(lines_of(content), 1):
        for read in (read_step_line, read_dict_line, read_json_line):
            reading = read(line)
            if reading is not None:
                columns.add(reading, Line(line, number, "a.log"))
    for key in columns.keys():  # noqa: SIM118 - no mapping
        steps = columns[key].steps
        assert all(one < other for one, other in pairwise(steps))
    for options in seeds.metric_rules():
        judge(options, columns)


def overrides(content: bytes) -> None:
    """Hydra's override line, a traced command, a dumped config."""
    line = content.decode("utf-8", "replace")
    settings = Settings()
    settings.overrides_line(f"Error executing job with overrides: [{line}")
    settings.overrides_line(f"-m verl.trainer.main_ppo {line}")
    settings.dump(line)
    settings.get("a.b")


def secrets(content: bytes) -> None:
    """Masking twice is masking once."""
    once = mask(content.decode("utf-8", "replace"))
    assert mask(once) == once


def copies(content: bytes) -> None:
    """Two streams, cut anywhere: the copy holds every byte, and no line of two streams."""
    path = put("copy.log", b"")
    descriptor = os.open(path, os.O_WRONLY | os.O_TRUNC)
    copy, given = Copy(descriptor), (bytearray(), bytearray())
    for i in range(0, len(content), 7):
        stream = content[i] % 2
        part = content[i : i + 7].replace(bytes([1 - stream]), b"")
        given[stream].extend(part)
        copy.add(stream, part)
    copy.finish()
    os.close(descriptor)
    assert copy.failure == ""
    assert sorted(path.read_bytes()) == sorted(b"".join(given))


# --- rules ----------------------------------------------------------------------------------


def rule_files(content: bytes) -> None:
    """A rule file gives a rule or problems, never both and never neither."""
    plain, problems = read_rule(content.decode("utf-8", "replace"), "fuzz.yaml")
    assert (plain is None) == bool(problems)


def patterns(content: bytes) -> None:
    """A pattern is refused, or searches every hostile text within its limit."""
    pattern = content.decode("utf-8", "replace")
    if fault_of(pattern) is None:
        confirm = Confirmer()
        for hostile in hostile_texts(pattern):
            confirm.search(pattern, hostile)


# --- checks, dumps, stores -------------------------------------------------------------------


def scripts(content: bytes) -> None:
    """A launch script: read to its end, every override a text."""
    found = config.script(content.decode("utf-8", "replace"), {"HOME": "/home/a"})
    assert all(isinstance(one.text, str) for one in found.overrides)


def launches(content: bytes) -> None:
    """The words of a launch against a release: judged whatever they say."""
    settings = config.compose(config.command(lines_of(content)), RELEASE)
    assert config.check(settings)
    memory.check(settings, 80e9)


def configs(content: bytes) -> None:
    """A config as YAML: refused in words, or judged."""
    with contextlib.suppress(DoctorError):
        base = config.read_config(str(put("config.yaml", content)))
        settings = config.compose(config.command([]), RELEASE, base)
        config.check(settings)
        memory.check(settings, 80e9)


def dumps(content: bytes) -> None:
    """A flight recorder's dump beside a whole one: compared, or a note says why not."""
    put("dump_rank_1", content)
    notes: list[str] = []
    compare(read_dumps([str(folder() / "dump_rank_1"), *seeds.whole_dumps(folder())], notes))
    assert all(note == visible(note) for note in notes)


def stacks(content: bytes) -> None:
    """What py-spy printed: threads, or one of the errors that are expected."""
    with contextlib.suppress(ValueError, KeyError, TypeError):
        merged([(1, threads_of(json.loads(content)))])


def tensors(content: bytes) -> None:
    """A model folder whose every file is this."""
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):
        put(name, content)
    put("model.safetensors", len(content).to_bytes(8, "little") + content)
    assert list(model.check(folder()))


def rows(content: bytes) -> None:
    """A data file, parquet or JSON lines, with a model's tokenizer at hand."""
    name = "rows.parquet" if content.startswith(b"PAR1") else "rows.jsonl"
    path = str(put(name, content))
    assert list(data.check([path], [path], defaults()))


def stores(content: bytes) -> None:
    """Lines for the store: taken in, or refused with the line's number."""
    with contextlib.suppress(DoctorError):
        take_in(lines_of(content), db_path=folder() / "incidents.db")


READERS: dict[str, tuple[Callable[[bytes], None], Callable[[], list[bytes]]]] = {
    "sources": (sources, seeds.logs),
    "prefixes": (prefixes, seeds.lines),
    "logs": (logs, seeds.logs),
    "messages": (messages, seeds.logs),
    "tracebacks": (tracebacks, seeds.tracebacks),
    "metrics": (metrics, seeds.metrics),
    "overrides": (overrides, seeds.lines),
    "secrets": (secrets, seeds.lines),
    "copies": (copies, seeds.logs),
    "rules": (rule_files, seeds.rules),
    "patterns": (patterns, seeds.lines),
    "scripts": (scripts, seeds.scripts),
    "launches": (launches, seeds.launches),
    "configs": (configs, seeds.configs),
    "dumps": (dumps, seeds.dumps),
    "stacks": (stacks, seeds.stacks),
    "tensors": (tensors, seeds.model_files),
    "rows": (rows, seeds.rows),
    "stores": (stores, seeds.stores),
}


def main() -> None:
    """Runs one reader on what libFuzzer makes of the seeds, for so many seconds, or on one file."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("reader", choices=READERS)
    parser.add_argument("file", nargs="*", help="run on these inputs only")
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    reader, made = READERS[given.reader]
    begin = made()
    reader(begin[0])  # what is loaded once is not an input's time
    with tempfile.TemporaryDirectory() as corpus:
        for number, seed in enumerate(begin):
            (Path(corpus) / f"{number:05}").write_bytes(seed[:LONGEST])
        wanted = given.file or [f"-max_total_time={given.seconds}", f"-seed={given.seed}", corpus]
        atheris.Setup([sys.argv[0], *LIMITS, *wanted], reader)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
