"""Trouble in the metrics told as one story, as a sparkline and as a picture."""

from __future__ import annotations

import json
import math
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Doctor, genuine
from verl_doctor.cli import main
from verl_doctor.model import Curve, Report, Story
from verl_doctor.render import json_v1, markdown
from verl_doctor.render import text as text_page
from verl_doctor.render.plot import guilty, svg
from verl_doctor.render.spark import sparkline

SAMPLER = """(WorkerDict pid=9) Traceback (most recent call last):
(WorkerDict pid=9)   File "/opt/verl/verl/workers/rollout.py", line 120, in generate_sequences
(WorkerDict pid=9)     x = torch.multinomial(p, 1)
(WorkerDict pid=9) RuntimeError: probability tensor contains either `inf`, `nan` or element < 0
"""


def run(save: Callable[[int], str] | None = None, steps: int = 89) -> str:
    """A run whose responses grow from step 20 on, are cut, whose KL then explodes, then NaN.

    Takes what is printed before each tenth step.
    """
    out = []
    for i in range(1, steps + 1):
        length = 300 if i < 20 else 300 + 25 * (i - 19)
        clip = 0.01 if i < 32 else min(0.6, 0.03 * (i - 31))
        kl = 0.02 if i < 50 else round(0.02 * 1.25 ** (i - 49), 4)
        grad = 0.3 + 0.01 * (i % 5)
        if i >= 78:
            kl = grad = math.nan
        if save is not None and i % 10 == 0:
            out.append(save(i))
        out.append(
            f"(TaskRunner pid=7) step:{i} - actor/grad_norm:{grad} - actor/kl_loss:{kl} - "
            f"response_length/mean:{length} - response_length/clip_ratio:{clip}"
        )
    return "\n".join(out) + "\n"


def verl_saves(step: int) -> str:
    return f"(TaskRunner pid=7) local_global_step_folder: /ckpt/run/global_step_{step}"


def told(report: Report) -> Story:
    assert report.story is not None
    return report.story


def test_the_story_of_a_run_that_blows_up(doctor: Doctor) -> None:
    story = told(doctor((run(verl_saves) + SAMPLER).encode()))
    assert [(one.step, one.rule) for one in story.moments] == [
        (35, "MET025"),
        (35, "MET056"),
        (64, "MET007"),
        (74, "MET006"),
        (78, "MET004"),
        (78, "MET001"),
        (89, "CUD009"),
    ]
    assert story.moments[1].text == "response_length/mean 700"
    assert story.first_bad_step == 35
    assert story.checkpoint is not None
    assert (story.checkpoint.name, story.checkpoint.line) == ("global_step_30", 32)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (verl_saves(30), "global_step_30"),
        ("INFO:x:Saving checkpoint to /ckpt/global_step_30", "global_step_30"),
        ("Saving checkpoint to: /ckpt/global_step_30", "global_step_30"),
        ("[Rank 0] Saved model to /c/global_step_30/actor/model_rank_0.pt", "global_step_30"),
        ("Update latest_checkpointed_iteration.txt to step 30", "global_step_30"),
        ("Saving model checkpoint to out/checkpoint-30", "checkpoint-30"),
        ("Resuming from /ckpt/global_step_30", "global_step_30"),
        ("Checkpoint path: /ckpt/global_step_30 removed", None),
    ],
)
def test_lines_that_tell_of_a_checkpoint(doctor: Doctor, line: str, name: str | None) -> None:
    story = told(doctor(run(lambda step: line if step == 30 else "").encode()))
    assert (story.checkpoint and story.checkpoint.name) == name


def test_the_checkpoint_of_the_first_bad_step_is_spoilt_already(doctor: Doctor) -> None:
    lines = [f"step:{i} - actor/grad_norm:{0.3 if i < 20 else 'nan'}" for i in range(1, 25)]
    lines.insert(19, verl_saves(20))  # verl saves a step before it prints its metrics
    lines.insert(9, verl_saves(10))
    story = told(doctor("\n".join(lines).encode()))
    assert story.first_bad_step == 20
    assert story.checkpoint is not None
    assert story.checkpoint.step == 10


def test_how_a_run_always_was_is_no_turn_in_it(doctor: Doctor) -> None:
    log = "".join(
        f"step:{i} - response_length/clip_ratio:0.4 - actor/kl_loss:{0.01 if i < 30 else 9}\n"
        for i in range(1, 35)
    )
    report = doctor(log.encode())
    assert {"MET025", "MET006"} <= {one.rule for one in report.findings}
    assert [one.rule for one in told(report).moments] == ["MET006"]


def test_a_save_in_which_the_run_died_is_no_checkpoint(doctor: Doctor) -> None:
    lines = [f"step:{i} - actor/grad_norm:0.3" for i in range(1, 21)]
    lines.insert(10, verl_saves(10))
    report = doctor("\n".join([*lines, verl_saves(20), SAMPLER]).encode())
    story = told(report)
    assert story.checkpoint is not None
    assert story.checkpoint.step == 10
    assert story.first_bad_step is None
    assert [(one.step, one.rule) for one in story.moments] == [(20, "CUD009")]


def test_slow_steps_do_not_spoil_a_checkpoint(doctor: Doctor) -> None:
    lines = []
    for i in range(1, 61):
        speed = 1500 + 10 * (i % 5) if i < 20 else 700 + 10 * (i % 5)
        grad = "nan" if i > 50 else "0.3"
        lines.append(f"step:{i} - actor/grad_norm:{grad} - perf/throughput:{speed}")
    lines.insert(40, verl_saves(40))
    story = told(doctor("\n".join(lines).encode()))
    assert [one.rule for one in story.moments] == ["MET053", "MET001"]
    assert story.first_bad_step == 51
    assert story.checkpoint is not None
    assert story.checkpoint.step == 40


def test_rules_that_see_the_same_are_one_moment_and_the_last_is_kept(doctor: Doctor) -> None:
    lines = [
        f"step:{i} - critic/score/mean:{0.5 + i % 7 / 100 if i < 30 else 0.0} - "
        f"actor/grad_norm:{0.3 if i < 30 else 'nan'}"
        for i in range(1, 60)
    ]
    report = doctor(("\n".join(lines) + "\n" + SAMPLER).encode())
    assert {"MET020", "MET044", "MET060"} <= {one.rule for one in report.findings}
    texts = [one.text for one in told(report).moments]
    assert texts[:2] == ["actor/grad_norm nan", "critic/score/mean 0"]
    assert len(texts) == 3


def test_a_healthy_run_has_no_story(doctor: Doctor) -> None:
    assert doctor(genuine("verl-metrics-healthy-grpo")).story is None


def test_steps_that_go_back_are_noted_with_their_line(doctor: Doctor) -> None:
    lines = [f"step:{i} - actor/grad_norm:0.3" for i in (*range(1, 13), *range(9, 30))]
    notes = doctor("\n".join(lines).encode()).notes
    assert any("from 12 to 9 at line 13" in note for note in notes)


# --- verdicts -----------------------------------------------------------------------------------


def test_a_run_whose_root_is_a_medium_metric_is_degraded(doctor: Doctor) -> None:
    report = doctor(b"".join(b"step:%d - actor/ppo_kl:0.5\n" % i for i in range(1, 12)))
    assert report.findings[0].severity == "medium"
    assert report.verdict == "degraded"


def test_repeated_responses_degrade_a_run(doctor: Doctor) -> None:
    sample = "[prompt] 1+1\n[response] {}\n[ground_truth] 2\n[score] 0.0\n"
    report = doctor((sample.format("!" * 500) * 3).encode())
    assert (report.findings[0].rule, report.verdict) == ("MET057", "degraded")
    more = "".join(f"step:{i} - actor/grad_norm:0.3\n" for i in range(1, 30))
    report = doctor((sample.format("!" * 500) * 3 + more).encode())
    assert (report.findings[0].role, report.verdict) == ("root", "degraded")
    readable = sample.format("One and one are two, as anyone can count on two fingers. " * 2)
    assert all(one.rule != "MET057" for one in doctor((readable * 5).encode()).findings)


# --- curves -------------------------------------------------------------------------------------


def test_a_sparkline_shows_shape_breaks_and_the_first_bad_step() -> None:
    values = (1.0, 1.0, 2.0, 4.0, 8.0, math.nan, math.inf)
    curve = Curve("x", tuple(range(1, 8)), values, first_bad=5)
    assert sparkline(curve) == ("▁▁▂▄█✗✗", 4)
    assert sparkline(curve, blocks=False) == ("..:=@xx", 4)


def test_a_long_curve_keeps_its_ends_and_a_wide_one_goes_by_decades() -> None:
    long = Curve("x", tuple(range(1000)), tuple(float(i) for i in range(1000)), first_bad=500)
    drawn, bad = sparkline(long, width=40)
    assert (len(drawn), drawn[0], drawn[-1], bad) == (40, "▁", "█", 20)
    wide = Curve("x", (1, 2, 3, 4, 5), (1.0, 10.0, 100.0, 1e3, 1e4), first_bad=5)
    assert sparkline(wide)[0] == "▁▃▅▆█"
    flat = Curve("x", (1, 2), (math.nan, math.nan), first_bad=1)
    assert sparkline(flat)[0] == "✗✗"


def test_the_terminal_shows_the_guilty_curve_and_the_story(doctor: Doctor) -> None:
    page = text_page.render(doctor(run(verl_saves).encode()))
    assert "▁▁" in page
    assert "actor/kl_loss: first bad step 74, min 0.02, max 10.34, now nan" in page
    assert "step 35    MET056  response_length/mean 700" in page
    assert "global_step_30 (line 32) is the last one from before the trouble" in page
    assert "global_step_30" in text_page.render(doctor(run(verl_saves).encode(), "zh"), lang="zh")


def test_machine_formats_carry_curve_and_story(doctor: Doctor) -> None:
    report = doctor(run(verl_saves).encode())
    data = json.loads(json_v1.render(report), parse_constant=pytest.fail)
    curve = data["findings"][0]["curve"]
    assert (curve["key"], curve["first_bad_step"]) == ("actor/kl_loss", 74)
    assert curve["values"][-1] == "nan"
    assert len(curve["steps"]) == len(curve["values"])
    assert data["story"]["checkpoint"]["name"] == "global_step_30"
    assert data["story"]["moments"][0]["step"] == 35
    assert "`response_length/mean 700`" in markdown.render(report)


# --- pictures -----------------------------------------------------------------------------------


def test_the_svg_is_xml_with_a_panel_a_metric_and_escaped_text(doctor: Doctor) -> None:
    key = "val-core/<script>&x/acc/mean@1"
    log = "".join(f"step:{i} - {key}:0.5 - actor/ppo_kl:0.9\n" for i in range(1, 10))
    report = doctor(log.encode())
    picture = svg(report)
    root = ET.fromstring(picture)
    panels = root.findall("{http://www.w3.org/2000/svg}g")
    assert len(panels) == len(guilty(report)) == 2
    assert "<script>" not in picture
    assert any(key in (text.text or "") for text in root.iter("{http://www.w3.org/2000/svg}text"))


def test_gaps_are_gaps_in_the_svg(doctor: Doctor) -> None:
    values = ["0.3", "0.4", "nan", "0.3", "0.4", "nan", "nan"]
    log = "".join(f"step:{i} - actor/grad_norm:{v}\n" for i, v in enumerate(values, 1))
    assert svg(doctor(log.encode())).count("<polyline") == 2


def cli(*args: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(args))
    return int(ended.value.code or 0)


def test_plot_writes_a_file_and_leaves_the_report_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, picture = tmp_path / "train.log", tmp_path / "plot.svg"
    log.write_text(run(), encoding="utf-8")
    plain = cli(str(log), "--no-record", "--format", "json")
    expected = capsys.readouterr().out
    assert cli(str(log), "--no-record", "--format", "json", "--plot", str(picture)) == plain == 1
    assert capsys.readouterr().out == expected
    assert ET.parse(picture).getroot().tag.endswith("svg")


def test_plot_says_what_is_wrong_and_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "train.log"
    log.write_text(run(), encoding="utf-8")
    assert cli(str(log), "--no-record", "--plot", "plot.gif") == 2
    assert ".svg or .png" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert cli(str(log), "--no-record", "--plot", str(tmp_path / "plot.png")) == 1
    assert "pip install 'verl-doctor[plot]'" in capsys.readouterr().err
    assert cli(str(log), "--no-record", "--plot", str(tmp_path / "no" / "plot.svg")) == 1
    assert "cannot write" in capsys.readouterr().err
    log.write_text("step:1 - actor/grad_norm:0.3\n", encoding="utf-8")
    assert cli(str(log), "--no-record", "--plot", str(tmp_path / "none.svg")) == 0
    assert "nothing to plot" in capsys.readouterr().err
    assert not (tmp_path / "none.svg").exists()
