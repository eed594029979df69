"""Lines of metrics read into columns: every trainer's line, resumed and restarted runs, bounds."""

from __future__ import annotations

import math

import pytest

from tests.conftest import Doctor
from verl_doctor.detect.metrics import columns as columns_module
from verl_doctor.detect.metrics.columns import Columns, Rewind
from verl_doctor.detect.metrics.lines import (
    Reading,
    read_dict_line,
    read_json_line,
    read_step_line,
)
from verl_doctor.model import Line
from verl_doctor.pipeline import Session


def filled(*readings: Reading) -> Columns:
    columns = Columns()
    for number, reading in enumerate(readings, 1):
        columns.add(reading, Line("", number))
    return columns


def points(columns: Columns, key: str) -> list[tuple[int, float]]:
    return list(zip(columns[key].steps, columns[key].values, strict=True))


# --- one line -----------------------------------------------------------------------------------


HARD = "val-core/lighteval/MATH Hard/acc/mean@1"


@pytest.mark.parametrize(
    ("text", "step", "pairs"),
    [
        ("step:3 - a/loss:-0.5 - actor/lr:1e-06", 3, {"a/loss": -0.5, "actor/lr": 1e-06}),
        ("Training: 1%| | 1/120 [00:00<00:25,  4.67it/s]step:2 - a:1", 2, {"a": 1.0}),
        (f"step:0 - {HARD}:0.25", 0, {HARD: 0.25}),
        ("step:1 - val/a - b/acc:0.5 - c:2", 1, {"val/a - b/acc": 0.5, "c": 2.0}),
        ("step:1 - x:np.float64(0.25) - n:np.int64(7) - c:1", 1, {"x": 0.25, "n": 7.0, "c": 1.0}),
        ("step:1 - on:True - c:1", 1, {"c": 1.0}),
        ("step:1 - a:0.5 - b:0.7Training Progress:   1%|", 1, {"a": 0.5}),
    ],
)
def test_a_step_line_of_verl(text: str, step: int, pairs: dict[str, float]) -> None:
    assert read_step_line(text) == Reading(step, list(pairs.items()))


def test_values_that_are_not_finite_are_kept() -> None:
    reading = read_step_line("step:7 - actor/grad_norm:nan - critic/score/max:-inf - a:inf")
    assert reading is not None
    grad, score, other = (value for _, value in reading.pairs)
    assert math.isnan(grad)
    assert score == -math.inf
    assert other == math.inf


@pytest.mark.parametrize(
    ("text", "step", "pairs"),
    [
        ("{'loss': 0.5, 'grad_norm': 1.5}", None, {"loss": 0.5, "grad_norm": 1.5}),
        ("{'loss': '0.5', 'learning_rate': '5e-05'}", None, {"loss": 0.5, "learning_rate": 5e-05}),
        ("✨ Global step 12: {'kl': 0.5, 'reward': -1.0}", 12, {"kl": 0.5, "reward": -1.0}),
    ],
)
def test_a_dict_of_trl_transformers_and_openrlhf(
    text: str, step: int | None, pairs: dict[str, float]
) -> None:
    assert read_dict_line(text) == Reading(step, list(pairs.items()))
    assert read_dict_line("Global step 3: saved") is None
    assert read_dict_line("cannot use {'retries': 3, 'size': 10}") is None


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ('{"step": 4, "loss": 0.5, "note": "x", "done": true}', Reading(4, [("loss", 0.5)])),
        ('{"step": 4, "data": {"actor/pg_loss": 0.5}}', Reading(4, [("actor/pg_loss", 0.5)])),
        ('{"loss": 0.5, "_step": 9}', Reading(9, [("loss", 0.5)])),
        ('{"step": -1, "loss": 0.5}', None),
        ('{"step": 1e400, "loss": 0.5}', None),
        ('{"step": 5, "message": "saved", "size": 3.5}', None),
        ('{"step": 5, "level": "info", "took_s": 3.5}', None),
        ('{"loss": 0.5}', None),
        ('{"step": 1, "loss": 0.5', None),
        ('{"step":' + "[" * 100_000 + "}", None),
    ],
)
def test_a_json_line(text: str, reading: Reading | None) -> None:
    assert read_json_line(text) == reading


# --- joining ------------------------------------------------------------------------------------


def test_a_resumed_run_counts_from_where_it_resumed() -> None:
    first = [Reading(step, [("a", float(step))]) for step in range(1, 11)]
    again = [Reading(step, [("a", 100.0 + step)]) for step in range(8, 12)]
    columns = filled(*first, *again)
    assert list(columns["a"].steps) == list(range(1, 12))
    assert list(columns["a"].values[6:]) == [7.0, 108.0, 109.0, 110.0, 111.0]
    assert columns.rewinds == [Rewind(line=11, last=10, step=8)]


def test_loggers_of_one_step_are_joined_and_not_taken_for_a_restart() -> None:
    columns = filled(
        Reading(10, [("a", 1.0)]), Reading(10, [("val", 0.5)]), Reading(11, [("a", 2.0)])
    )
    assert columns.rewinds == []
    assert points(columns, "a") == [(10, 1.0), (11, 2.0)]
    assert points(columns, "val") == [(10, 0.5)]


def test_an_epoch_that_goes_back_joins_lines_without_steps() -> None:
    lines = [Reading(None, [("loss", float(i)), ("epoch", i / 10)]) for i in range(1, 6)]
    again = Reading(None, [("loss", 40.0), ("epoch", 0.4)])
    columns = filled(*lines, again)
    assert points(columns, "loss") == [(1, 1.0), (2, 2.0), (3, 3.0), (4, 40.0)]
    assert columns.rewinds == [Rewind(line=6, last=5, step=4)]


def test_memory_is_bounded_and_the_end_is_kept_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns_module, "MAX_POINTS", 100)
    monkeypatch.setattr(columns_module, "MAX_KEYS", 5)
    columns = Columns(["wanted"])
    for step in range(1000):
        pairs = [(f"other{step % 20}", 1.0), ("a", 1.0), ("wanted", float(step))]
        columns.add(Reading(step, pairs), Line("", step + 1))
    assert len(columns["wanted"]) <= 100
    assert list(columns["wanted"].steps[-50:]) == list(range(950, 1000))
    assert list(columns["wanted"].lines[-1:]) == [1000]
    assert len(columns.keys()) == 6


def test_a_star_means_every_key() -> None:
    columns = filled(Reading(1, [("val-core/x/acc/mean@1", 1.0), ("b", 1.0), ("val-core/y", 1.0)]))
    assert list(columns.matching(["b", "val-core/*", "none"])) == [
        "b",
        "val-core/x/acc/mean@1",
        "val-core/y",
    ]


# --- through the pipeline -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "{{'loss': {loss}, 'grad_norm': {grad}, 'epoch': 0.{step}}}",
        "{{'loss': '{loss}', 'grad_norm': '{grad}', 'epoch': '0.{step}'}}",
        "(PPOTrainer pid=1) INFO 12-01 06:00:0{step} ✨ Global step {step}: "
        "{{'loss': {loss}, 'grad_norm': {grad}}}",
        "step:{step} - loss:{loss} - grad_norm:{grad}",
    ],
)
def test_nan_is_found_in_the_lines_of_every_trainer(doctor: Doctor, line: str) -> None:
    rows = [(1, "0.5", "1.0"), (2, "0.4", "0.9"), (3, "nan", "nan"), (4, "nan", "nan")]
    log = "".join(line.format(step=s, loss=a, grad=b) + "\n" for s, a, b in rows)
    first = doctor(log.encode()).findings[0]
    assert (first.rule, first.evidence[0].line) == ("MET002", 3)


def test_a_file_of_json_lines_is_a_log(doctor: Doctor) -> None:
    log = "".join(
        f'{{"step": {step}, "data": {{"actor/pg_loss": {"NaN" if step > 5 else 0.1}}}}}\n'
        for step in range(1, 9)
    )
    report = doctor(log.encode())
    assert report.findings[0].rule == "MET002"
    assert report.findings[0].evidence[0].line == 6
    assert report.phase.step == 8


def test_metrics_that_a_model_wrote_are_none(doctor: Doctor) -> None:
    session = Session(doctor.base, doctor.scanner)
    session.begin("x", [])
    text = b"[prompt] log it\n[response] sure:\n%s\n[score] 0.0\n"
    session.feed(text % b'{"step": 3, "loss": NaN}')
    session.feed(text % b"{'loss': nan, 'grad_norm': nan}")
    session.end()
    assert session.last_step is None
    assert all(not (one.rule or "").startswith("MET") for one in session.report().findings)


def test_two_files_of_the_same_steps_are_no_restart() -> None:
    columns = Columns()
    for number, path in enumerate(["a.log"] * 3 + ["b.jsonl"] * 3):
        columns.add(Reading(number % 3, [("a", 1.0)]), Line("", number, path))
    assert columns.rewinds == []
