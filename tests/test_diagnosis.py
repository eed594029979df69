"""The root is told from its cascade: a test a mechanism, each on a genuine log where one exists."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import ROOT, Doctor, genuine
from verl_doctor.detect.progress import phase_of_frames
from verl_doctor.diagnose.explain import fill
from verl_doctor.knowledge.base import RuleBase
from verl_doctor.model import Finding, Lang, Report, Text
from verl_doctor.pipeline import diagnose
from verl_doctor.render.text import render
from verl_doctor.scan.database import Scanner
from verl_doctor.sources import expand


def roles(report: Report) -> dict[str | None, str]:
    return {finding.rule: finding.role for finding in report.findings}


def by_text(report: Report, words: str) -> Finding:
    return next(one for one in report.findings if words in one.evidence[0].text)


def folder(doctor: Doctor, path: Path) -> Report:
    sources, failures = expand([str(path)])
    assert not failures
    return diagnose(sources, doctor.base, doctor.scanner)[0]


# --- recovered faults -------------------------------------------------------------------------


def test_a_caught_oom_followed_by_steps_is_advice(doctor: Doctor) -> None:
    report = doctor(genuine("gpu-healthy-oom-retry"))
    assert report.verdict == "healthy"
    assert [one.role for one in report.findings] == ["advice"]
    assert report.findings[0].severity == "medium"


def test_the_same_oom_at_the_end_of_the_log_is_the_root(doctor: Doctor) -> None:
    lines = genuine("gpu-healthy-oom-retry").splitlines(keepends=True)
    report = doctor(b"".join([*lines[1:10], lines[0]]))
    assert report.verdict == "failed"
    assert report.findings[0].role == "root"


def test_steps_that_ray_prints_late_do_not_speak_for_a_dead_driver(doctor: Doctor) -> None:
    report = doctor(genuine("ray-task-error-nested"))
    assert report.verdict == "failed"
    assert report.findings[0].evidence[0].line == 36


def test_a_warning_of_ray_before_more_steps_is_advice(doctor: Doctor) -> None:
    report = doctor(genuine("ray-tmp-disk-full-warning"))
    assert report.findings[0].role == "advice"
    assert report.findings[0].evidence[0].line == 10
    assert report.verdict != "failed"


def test_a_run_that_was_started_again_has_recovered(doctor: Doctor) -> None:
    def episode(pid: int, steps: range) -> bytes:
        start = b"2026-12-01 06:20:54,406\tINFO worker.py:2038 -- Started a local Ray instance.\n"
        return start + b"".join(
            b"(TaskRunner pid=%d) step:%d - actor/grad_norm:0.4\n" % (pid, i) for i in steps
        )

    death = genuine("dataloader-worker-exception")
    again = episode(7, range(1, 40)) + death + episode(8, range(30, 60))
    report = doctor(again)
    assert report.verdict != "failed"
    assert report.findings[0].role == "advice"
    assert doctor(again + death).verdict == "failed"


def test_a_bare_exception_name_far_from_the_end_is_no_alarm(doctor: Doctor) -> None:
    lines = b"".join(b"row %d parsed\n" % i for i in range(100))
    report = doctor(lines + b"my.SplineError: row 100 is bent, skipped\n" + lines)
    assert report.findings[0].severity == "medium"
    assert report.verdict != "failed"
    assert doctor(lines + b"my.SplineError: row 100 is bent\n").verdict == "failed"


# --- edges between rules ----------------------------------------------------------------------


def test_nan_in_the_metrics_explains_the_sampler_that_dies_of_it(doctor: Doctor) -> None:
    report = doctor(genuine("gpu-multinomial-nan"))
    assert report.findings[0].evidence[0].line == 3
    later = by_text(report, "probability tensor")
    assert later.role == "symptom"
    assert "an effect of" in later.why
    assert report.verdict == "failed"


def test_a_cause_printed_below_its_consequence(doctor: Doctor) -> None:
    report = doctor((ROOT / "fixtures_logs/ray_session/driver.log").read_bytes())
    first = report.findings[0]
    assert "SIGSEGV" in first.title
    assert first.evidence[0].line == 45
    messenger = by_text(report, "The actor died unexpectedly")
    assert messenger.evidence[0].line < 45
    assert messenger.role == "symptom"


def test_an_emptied_dataset_explains_the_sampler(doctor: Doctor) -> None:
    report = doctor(genuine("verl-all-prompts-overlong"))
    assert report.findings[0].evidence[0].line == 974
    assert by_text(report, "num_samples=0").role == "symptom"


def test_rays_guesses_are_no_evidence(doctor: Doctor) -> None:
    report = doctor(genuine("ray-actor-sigkill"))
    first = report.findings[0]
    assert first.confidence == "low"
    assert any("raylet" in note or "dmesg" in note for note in report.notes)


# --- chains -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("slug", "line"),
    [
        ("dataloader-worker-exception", 28),
        ("hydra-unknown-override-full-error", 28),
        ("from-pretrained-hub-offline", 17),
        ("ray-spill-disk-full", 14),
        ("so-libcuda-missing", 7),
        ("verl-dataproto-missing-key", 26),
    ],
)
def test_the_first_of_a_chain_decides(doctor: Doctor, slug: str, line: int) -> None:
    assert doctor(genuine(slug)).findings[0].evidence[0].line == line


def test_a_telling_exception_beats_the_earlier_one_of_its_chain(doctor: Doctor) -> None:
    report = doctor(genuine("trust-remote-code"))
    assert report.findings[0].evidence[0].line == 24
    assert "trust_remote_code" in report.findings[0].title


# --- torchrun and NCCL ------------------------------------------------------------------------


def test_first_observed_failure_is_overruled_when_it_names_a_victim(doctor: Doctor) -> None:
    report = doctor(genuine("torchrun-rank-sigkill"))
    first = report.findings[0]
    assert "SIGKILL" in first.title
    assert "1" in first.title
    assert abs(first.evidence[0].line - 45) <= 3


def test_a_messenger_alone_is_told_as_one(doctor: Doctor) -> None:
    report = doctor((ROOT / "fixtures_logs/torchrun_logdir/agent.log").read_bytes())
    first = report.findings[0]
    assert report.verdict == "failed"
    assert (first.role, first.confidence) == ("root", "low")
    assert "only its effect" in first.why
    assert all(one.slug != "stops-without-end" for one in report.findings)


def test_the_stall_is_dated_back(doctor: Doctor) -> None:
    first = doctor(genuine("nccl-timeout-missing-rank")).findings[0]
    assert "06:02:52" in first.summary


def test_the_rank_that_never_came_is_named(doctor: Doctor) -> None:
    first = doctor(genuine("nccl-timeout-missing-rank")).findings[0]
    words = f"{first.title} {first.summary} {first.cause}"
    assert "rank 1" in words.lower() or "ranks 1" in words.lower()
    assert "ALLREDUCE" in words
    assert first.evidence[0].line == 10


def test_a_killed_peer_explains_the_nccl_errors_of_the_others(doctor: Doctor) -> None:
    report = doctor(genuine("nccl-peer-killed"))
    assert "SIGKILL" in report.findings[0].title or "killed" in report.findings[0].title.lower()
    assert all(one.role != "root" for one in report.findings[1:])


# --- text of a model --------------------------------------------------------------------------


def test_tracebacks_in_a_sample_are_quoted_not_evidence(doctor: Doctor) -> None:
    sample = (
        b"[prompt] Why does this fail?\n[response] It says\n"
        b"Traceback (most recent call last):\n"
        b"  File \"a.py\", line 1, in <module>\nKeyError: 'x'\n"
        b"[ground_truth] 1\n[score] 0.0\n"
    )
    steps = b"".join(b"step:%d - critic/score/mean:0.4\n" % step for step in range(1, 6))
    report = doctor(steps + sample + steps.replace(b"step:", b"step:1"))
    assert report.findings == () or all(one.role == "advice" for one in report.findings)
    assert report.hidden["quoted"] == 1


def test_a_run_that_dies_while_a_sample_is_printed_has_died(doctor: Doctor) -> None:
    log = (
        b"step:1 - critic/score/mean:0.4\n[prompt] Why?\n[response] It says\n"
        b"Traceback (most recent call last):\n"
        b"  File \"a.py\", line 1, in <module>\nKeyError: 'x'\n"
    )
    assert doctor(log).findings[0].evidence[0].line == 6


@pytest.mark.parametrize("slug", ["gpu-healthy-generate-tqdm", "ray-healthy-dedup-lines"])
def test_prompts_that_quote_errors_raise_no_alarm(doctor: Doctor, slug: str) -> None:
    assert all(one.severity in ("low", "info") for one in doctor(genuine(slug)).findings)


# --- settings and phases ----------------------------------------------------------------------


def test_overrides_are_read_from_hydras_line(doctor: Doctor) -> None:
    report = doctor(genuine("verl-batch-not-divisible"))
    assert "data.train_batch_size=16" in report.overrides


def test_overrides_are_read_from_a_traced_command(doctor: Doctor) -> None:
    report = doctor(genuine("verl-unknown-override"))
    assert "data.train_batch_size=16" in report.overrides


def test_a_setting_in_the_log_is_evidence_for_a_cause(tmp_path: Path) -> None:
    from tests.test_rules import USER_RULE
    from verl_doctor.knowledge.load import load

    text = USER_RULE.format(id="MINE001", slug="mine").replace(
        "    text: {en: It is down., zh: 已停机}",
        "    text: {en: It is down., zh: 已停机}\n"
        "  - id: batch\n    likelihood: low\n    text: {en: Too large., zh: 过大}\n"
        "    evidence: [{config: data.train_batch_size, above: 8, effect: confirms}]",
    )
    (tmp_path / "mine.yaml").write_text(text)
    base, scanner = load([str(tmp_path)])
    log = b"corporate proxy says no\n"
    command = b"+ python3 -m verl.trainer.main_ppo data.train_batch_size=16\n"
    assert Doctor(base, scanner)(log).findings[0].cause == "It is down."
    first = Doctor(base, scanner)(command + log).findings[0]
    assert (first.cause, first.causes[0].state) == ("Too large.", "confirmed")
    assert first.causes[0].because == ("data.train_batch_size is 16",)


def test_the_config_dump_is_read_and_is_no_alarm(doctor: Doctor) -> None:
    report = doctor(genuine("verl-v1-waits-for-cpus"))
    assert report.phase.name == "config"
    assert all(one.severity == "info" for one in report.findings)


@pytest.mark.parametrize(
    ("slug", "phase"),
    [
        ("verl-batch-not-divisible", "config"),
        ("verl-missing-parquet", "data"),
        ("verl-all-prompts-overlong", "data"),
        ("from-pretrained-no-weights", "model_load"),
        ("ray-task-error-nested", "reward"),
        ("backward-twice", "update"),
        ("gpu-multinomial-nan", "training"),
        ("dataloader-worker-hang", "training"),
    ],
)
def test_phase(doctor: Doctor, slug: str, phase: str) -> None:
    assert doctor(genuine(slug)).phase.name == phase


def test_a_hang_tells_phase_and_last_sign_of_life(doctor: Doctor) -> None:
    report = doctor(genuine("dataloader-worker-hang"))
    assert report.verdict == "unknown"
    assert report.phase.step == 5
    assert report.phase.last_text == "step:5 - timing_s/step:0.050"
    assert report.findings[0].evidence[0].line == 5


# --- several files ----------------------------------------------------------------------------


def test_a_ray_session_folder(doctor: Doctor) -> None:
    report = folder(doctor, ROOT / "fixtures_logs/ray_session/logs")
    first = report.findings[0]
    assert report.verdict == "failed"
    assert "SIGSEGV" in first.title
    assert "pid=536" in first.workers[0]


def test_a_folder_of_rank_logs(doctor: Doctor) -> None:
    report = folder(doctor, ROOT / "fixtures_logs/torchrun_logdir")
    first = report.findings[0]
    assert first.workers == ("rank 2",)
    assert first.evidence[0].path.endswith("attempt_0/2/stderr.log")
    assert first.evidence[0].line == 9
    assert [one.role for one in report.findings].count("root") == 1


def test_files_are_ordered_by_their_clock(doctor: Doctor, tmp_path: Path) -> None:
    def log(minute: int, error: str) -> str:
        stamp = f"2026-12-01T06:{minute:02}:00Z "
        lines = ["Traceback (most recent call last):", '  File "t.py", line 1, in <module>', error]
        return "".join(f"{stamp}{line}\n" for line in lines)

    (tmp_path / "node-1.log").write_text(log(30, "KeyError: 'late'"))
    (tmp_path / "node-2.log").write_text(log(10, "KeyError: 'early'"))
    report = folder(doctor, tmp_path)
    assert "'early'" in report.findings[0].evidence[0].text
    assert report.findings[0].workers == ("ip=node-2",)


# --- an error that no rule knows --------------------------------------------------------------


def test_an_unknown_exception_is_a_finding_with_its_innermost_frames(doctor: Doctor) -> None:
    log = (
        b"Traceback (most recent call last):\n"
        b'  File "/work/my/train.py", line 7, in <module>\n    main()\n'
        b'  File "/work/my/plugin.py", line 3, in reticulate\n    raise SplineError("bent")\n'
        b"my.plugin.SplineError: bent\n"
    )
    report = doctor(log)
    first = report.findings[0]
    assert (first.rule, first.role, first.confidence) == (None, "root", "low")
    assert first.title == "my.plugin.SplineError: bent"
    assert first.evidence[0].line == 6
    assert "plugin.py:3 in reticulate" in first.evidence[1].text
    assert "plugin.py:3" in first.cause
    assert report.verdict == "failed"


def test_an_error_that_a_package_raises_is_not_put_into_the_line_that_called_it(
    doctor: Doctor,
) -> None:
    log = (
        b"Traceback (most recent call last):\n"
        b'  File "/work/my/train.py", line 12, in main\n    engine.generate(prompts)\n'
        b'  File "/opt/lib/python3.11/site-packages/vllm/lora/punica.py", line 88, in add\n'
        b"    assert self.ready\n"
        b"AssertionError\n"
    )
    first = doctor(log).findings[0]
    assert first.rule == "PY024"
    assert "vllm/lora/punica.py:88 in add (via /work/my/train.py:12 in main)" in first.title


def test_a_log_without_any_error_is_not_failed(doctor: Doctor) -> None:
    assert doctor(b"hello\nworld\n").verdict == "unknown"


# --- what is pasted ---------------------------------------------------------------------------


def test_hostile_captures_never_reach_a_command() -> None:
    from verl_doctor.diagnose.explain import paste

    assert paste("ls {path}", {"path": "/data/a-b.parquet"}) == "ls /data/a-b.parquet"
    for evil in ("x; rm -rf ~", "$(id)", "`id`", "a b", "a\nb", "a|b", "'", '"', "", "~root"):
        assert paste("ls {path}", {"path": evil}) == "ls <path>"
    assert paste("echo ${HOME} {other}", {}) == "echo ${HOME} {other}"


@pytest.mark.parametrize(
    ("line", "signal"),
    [
        ("/bin/bash: line 1: 23349 Killed                  python train.py", "SIGKILL"),
        ("run.sh: line 12: 31906 Segmentation fault      (core dumped) python train.py", "SIGSEGV"),
        ("[1]-  Terminated              python train.py", "SIGTERM"),
        ("Killed", "SIGKILL"),
        ("exit code 137", "SIGKILL"),
        ("    Exit Code:    139", "SIGSEGV"),
        ("Killed workers are restarted by the pool.", None),
        ("[2]+  Done                    ( sleep 5; kill -KILL $P )", None),
        ("exit code 1", None),
        ("exit code 200", None),
    ],
)
def test_how_a_shell_tells_a_death(line: str, signal: str | None) -> None:
    from verl_doctor.detect.processes import Shell
    from verl_doctor.model import Line

    shell = Shell()
    shell.feed(Line(line, 1))
    assert [event.fields["signal"] for event in shell.finish()] == ([signal] if signal else [])


def test_a_failed_look_up_is_a_question_when_its_handler_raises(doctor: Doctor) -> None:
    log = (
        b"Traceback (most recent call last):\n"
        b'  File "/work/a.py", line 3, in pick\n    return TABLE[name]\n'
        b"KeyError: 'grop'\n\n"
        b"During handling of the above exception, another exception occurred:\n\n"
        b"Traceback (most recent call last):\n"
        b'  File "/work/a.py", line 9, in <module>\n    pick("grop")\n'
        b"my.EstimatorError: no estimator is called grop\n"
    )
    assert doctor(log).findings[0].title == "my.EstimatorError: no estimator is called grop"
    direct = log.replace(
        b"During handling of the above exception, another exception occurred:",
        b"The above exception was the direct cause of the following exception:",
    )
    assert doctor(direct).findings[0].evidence[0].line == 4


# --- the words of an end, and of a fatal line -------------------------------------------------

RAYLET = b"[2026-12-01 22:55:16,879 I 292 320] (raylet) agent_manager.cc:83: Agent process exited, "


def test_an_agent_of_ray_that_ends_in_order_is_not_the_end_of_the_run(doctor: Doctor) -> None:
    log = genuine("verl-unequal-chunk")
    assert doctor(log + RAYLET + b"exit code 0.\n").verdict == doctor(log).verdict == "failed"
    assert doctor(RAYLET + b"exit code 0.\n").verdict == "unknown"


def test_a_fatal_line_of_ray_that_no_rule_knows_comes_before_silence(doctor: Doctor) -> None:
    line = b"[2026-12-01 22:54:32,633 C 416 416] plasma_store.cc:12: Check failed: a new one\n"
    report = doctor(b"starting\n" + line)
    assert report.findings[0].rule is None
    assert "Check failed: a new one" in report.findings[0].evidence[0].text
    assert report.verdict == "failed"


LAST_WORDS = [
    ("run.sh: line 4: /usr/bin/python3: Argument list too long", ""),
    ("/usr/bin/env: ‘python’: No such file or directory", ""),
    ("srun: error: Unable to allocate resources: Invalid account or account/partition", ""),
    ("train.py: error: one of the arguments --model --config is required", ""),
    ("tar (child): data.tar.gz: Cannot open: No such file or directory", ""),
    ("fatal: not a git repository (or any of the parent directories): .git", ""),
    ("make: *** [Makefile:3: train] Error 1", ""),
    ("+ exit 1", ""),
    ("run.sh: line 2: ./train.sh: Permission denied", "SYS070"),
    ("run.sh: line 5: DATA_DIR: unbound variable", "SYS071"),
    ("Set the environment variable HYDRA_FULL_ERROR=1 for a complete stack trace.", "CFG034"),
]
"""How the start of a run fails, and the rule that knows it."""


@pytest.mark.parametrize(("word", "rule"), LAST_WORDS)
def test_a_programs_last_word_is_no_silence(doctor: Doctor, word: str, rule: str) -> None:
    report = doctor(f"+ cd /work\nwhatever it was\n\n{word}\n".encode())
    first = report.findings[0]
    assert (report.verdict, first.rule or "", first.evidence[0].line) == ("failed", rule, 4)
    assert first.evidence[0].text == word


@pytest.mark.parametrize("word", ["rank: 3: waiting for the others", "cache: model: not found yet"])
def test_a_line_that_only_looks_like_a_last_word_ends_nothing(doctor: Doctor, word: str) -> None:
    assert doctor(f"+ cd /work\n{word}\n".encode()).verdict == "unknown"


@pytest.mark.parametrize("word", [word for word, _ in LAST_WORDS[:-1]])
def test_a_script_that_went_on_was_not_ended_by_it(doctor: Doctor, word: str) -> None:
    steps = "".join(f"step:{n} - actor/grad_norm:0.4 - critic/score/mean:0.3\n" for n in range(60))
    report = doctor(f"{word}\n{steps}".encode())
    assert report.verdict != "failed"
    assert all(one.severity in ("medium", "low", "info") for one in report.findings)


@pytest.mark.parametrize(
    ("lang", "title"), [("en", "stuck in engine start"), ("zh", "停在推理引擎启动")]
)
def test_a_title_names_the_phase_in_the_readers_words(lang: Lang, title: str) -> None:
    text = Text("stuck in {phase}", "停在{phase}")
    assert fill(text, {"phase": "engine_init"}, lang) == title
    assert fill(text, {"phase": "data"}, "en") == "stuck in data"


@pytest.mark.parametrize(
    ("tokens", "features", "first", "out"),
    [(1333, 1332, "sampled", "truncated"), (999, 1332, "truncated", "sampled")],
)
def test_of_two_numbers_the_greater_tells_the_cause(
    doctor: Doctor, tokens: int, features: int, first: str, out: str
) -> None:
    said = f"Image features and image tokens do not match: tokens: {tokens}, features {features}"
    report = doctor([f"ValueError: {said}\n".encode()])
    causes = {cause.id: cause for cause in report.findings[0].causes}
    assert next(iter(causes)) == first
    assert causes[out].state == "ruled_out"
    more, less = sorted((tokens, features), reverse=True)
    assert causes[first].because == (f"the log says: {more} > {less}",)


def test_causes_of_a_rules_other_messages_are_not_listed_as_ruled_out(doctor: Doctor) -> None:
    """INS004 knows a dozen modules; who lacks cv2 need not read that yaml is PyYAML."""
    log = b"Traceback (most recent call last):\nModuleNotFoundError: No module named 'cv2'\n"
    report = doctor([log])
    assert {one.id: one.state for one in report.findings[0].causes}["yaml"] == "ruled_out"
    page = render(report, lang="en")
    assert "opencv-python-headless" in page
    assert "ruled out" not in page


# --- evidence ---------------------------------------------------------------------------------


def causes_of(doctor: Doctor, log: bytes, *evidence: list[dict[str, object]]) -> Finding:
    """The finding of a rule that has a cause for each list of evidence."""
    plain = dict(doctor.base.plains["PY005"])
    text = {"en": "{id}", "zh": "{id}"}
    plain["causes"] = [
        {"id": f"c{i}", "likelihood": "medium", "text": text, "evidence": hints}
        for i, hints in enumerate(evidence)
    ]
    plain["match"] = {
        "line": [{"contains": ["odd: "], "regex": r"odd: (?P<a>\w+)(?: (?P<b>\w+))?"}]
    }
    plain["title"] = plain["summary"] = text
    plain["fingerprint"] = []
    base = RuleBase({"PY005": plain})
    return Doctor(base, Scanner.compile(base.literals))(log).findings[0]


def test_what_weakens_a_cause_is_not_told_as_if_it_spoke_for_it(doctor: Doctor) -> None:
    for_it = {"capture": "a", "matches": "x", "effect": "supports"}
    against = {"capture": "b", "matches": "y", "effect": "weakens"}
    found = causes_of(doctor, b"odd: x y\n", [against], [for_it, against])
    told = {cause.id: (cause.state, cause.because) for cause in found.causes}
    assert told == {"c0": ("possible", ()), "c1": ("supported", ("the log says: x",))}


def test_evidence_may_ask_for_what_a_message_lacks(doctor: Doctor) -> None:
    absent = {"capture": "b", "absent": True, "effect": "rules_out"}
    states = {
        log: causes_of(doctor, log, [absent], []).causes[-1] for log in (b"odd: x\n", b"odd: x y\n")
    }
    assert states[b"odd: x\n"].id == "c0"
    assert states[b"odd: x\n"].because == ("the message tells no b",)
    assert [one.state for one in states.values()] == ["ruled_out", "possible"]


def test_where_each_cause_is_ruled_out_none_is_named(doctor: Doctor) -> None:
    hint = {"capture": "a", "matches": "x", "effect": "rules_out"}
    found = causes_of(doctor, b"odd: x\n", [hint], [hint])
    assert found.cause == "The log rules out each cause that this rule knows."
    assert found.confidence == "low"


@pytest.mark.parametrize(
    ("functions", "phase"),
    [
        ("update_actor update_policy _forward_micro_batch entropy_from_logits", "update"),
        ("compute_log_prob compute_log_prob _forward_micro_batch", "log_prob"),
        ("train_mini_batch train_batch forward_step prepare_model_outputs", "update"),
        ("infer_batch forward_step", "log_prob"),
        ("fit _next_train_batch __next__", ""),
    ],
)
def test_the_phase_is_told_by_what_only_that_phase_calls(functions: str, phase: str) -> None:
    """As in verl's dp_actor (0.4 to 0.7) and engine workers (0.7 on)."""
    assert phase_of_frames(functions.replace(" ", "\n")) == phase
