"""`verl-doctor check` as it is typed: scripts, overrides, config files, logs; text, JSON, exits."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pyarrow
import pytest
from omegaconf import OmegaConf
from pyarrow import parquet

from verl_doctor.cli import main
from verl_doctor.knowledge import verl_config

ROLLOUT = "actor_rollout_ref.rollout"
SOUND = f"""set -x
python3 -m verl.trainer.main_ppo \\
    algorithm.adv_estimator=grpo data.train_batch_size=256 \\
    actor_rollout_ref.actor.ppo_mini_batch_size=64 \\
    actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=8 \\
    {ROLLOUT}.log_prob_micro_batch_size_per_gpu=8 {ROLLOUT}.name=vllm {ROLLOUT}.n=8 \\
    trainer.save_freq=20 "$@"
"""

QWEN_7B = {
    "model_type": "qwen2", "num_hidden_layers": 28, "hidden_size": 3584, "num_attention_heads": 28,
    "num_key_value_heads": 4, "intermediate_size": 18944, "vocab_size": 152064,
}  # fmt: skip


@dataclass
class Done:
    exit_code: int
    output: str


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]):  # type: ignore[no-untyped-def]
    """Runs `verl-doctor check` with these words; output holds both streams."""

    def run_(*words: str, lang: str = "en") -> Done:
        with pytest.raises(SystemExit) as end:
            main(["check", "--lang", lang, *words])
        captured = capsys.readouterr()
        return Done(int(end.value.code or 0), captured.out + captured.err)

    return run_


def test_a_sound_script_passes_and_shows_its_batch_table(run, tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text(SOUND)
    done = run("--only", "config", "--verl", "0.9.1", str(script))
    assert done.exit_code == 0
    assert "samples a step                       2048" in done.output
    assert done.output.rstrip().endswith("0 could not be checked.")


def test_the_memory_of_a_stated_gpu_is_held_against_the_phases(run, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(QWEN_7B))
    words = [f"actor_rollout_ref.model.path={tmp_path}", f"{ROLLOUT}.name=vllm"]
    micro = ["actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1"]
    micro += [f"{ROLLOUT}.log_prob_micro_batch_size_per_gpu=1", "algorithm.adv_estimator=grpo"]
    given = ["--only", "config", "--verl", "0.9.1", "--", *words, *micro]
    large = run("--gpu-memory", "141", *given)
    assert "KV cache" in large.output
    assert "[CUD001]" not in large.output
    small = run("--gpu-memory", "12", *given)
    assert small.exit_code == 1
    assert "at least" in small.output
    assert "[CUD001]" in small.output


def test_a_fault_is_named_with_its_rule_and_what_to_paste(run, tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text(SOUND.replace("train_batch_size=256", "train_batch_size=32"))
    done = run("--only", "config", "--verl", "0.9.1", str(script))
    assert done.exit_code == 1
    assert "train_batch_size (32) must be >= actor.ppo_mini_batch_size (64)" in done.output
    assert "[VRL004]" in done.output
    assert "+ actor_rollout_ref.actor.ppo_mini_batch_size=32" in done.output


def test_overrides_and_a_command_are_taken_as_they_are(run) -> None:
    words = ["python3", "-m", "verl.trainer.main_ppo", f"{ROLLOUT}.temperature=0"]
    done = run("--only", "config", "--verl", "0.9.1", "--format", "json", "--", *words)
    read = json.loads(done.output)
    assert done.exit_code == 1
    assert read["schema_version"] == 1
    assert read["verl"] == "0.9.1"
    assert "VRL091" in {one["rule"] for one in read["results"]}
    assert read["counts"]["stops"] == sum(
        one["state"] == "fault" and one["severity"] in ("critical", "high")
        for one in read["results"]
    )


def test_a_config_file_is_read_as_omegaconf_reads_it(run, tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    path.write_text(
        "actor_rollout_ref:\n  actor:\n    optim:\n      lr: 1e-6\n  rollout:\n    n: 8\n"
    )
    done = run("--only", "config", "--verl", "0.9.1", "--config", str(path), f"{ROLLOUT}.name=vllm")
    assert "is the text" not in done.output


FILE = """
actor_rollout_ref:
  model: {{path: {folder}}}
  actor: {{ppo_micro_batch_size_per_gpu: 1, optim: {{lr: '1e-6'}}}}
  rollout: {{name: vllm, log_prob_micro_batch_size_per_gpu: 1, gpu_memory_utilisation: 0.5}}
algorithm: {{adv_estimator: grpo}}
data: {{train_files: [{folder}/none.parquet]}}
"""


def test_a_config_file_is_checked_as_overrides_are(run, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(QWEN_7B))
    path = tmp_path / "run.yaml"
    path.write_text(FILE.format(folder=tmp_path))
    given = ["--verl", "0.9.1", "--gpu-memory", "12", "--config", str(path)]
    done = run("--only", "config", "--only", "data", *given)
    for text in (
        f"{ROLLOUT}.gpu_memory_utilisation -> {ROLLOUT}.gpu_memory_utilization",
        "`actor_rollout_ref.actor.optim.lr` is the text '1e-6'",
        "needs at least",  # the memory estimate
        "[DAT005]",
    ):
        assert text in done.output


@pytest.mark.parametrize("release", ["0.7.0", "0.9.1"])
@pytest.mark.parametrize("resolved", [False, True])
def test_the_configs_of_the_wheels_pass_as_a_file(
    run, tmp_path: Path, release: str, resolved: bool
) -> None:
    """With what verl demands of everyone; as they are written, and as a run's log dumps them."""
    config = OmegaConf.create(verl_config.configs(release)["ppo_trainer"])
    for key, value in {
        f"{ROLLOUT}.name": "vllm",
        f"{ROLLOUT}.log_prob_micro_batch_size_per_gpu": 8,
        "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu": 8,
        "critic.ppo_micro_batch_size_per_gpu": 8,
    }.items():
        OmegaConf.update(config, key, value)
    path = tmp_path / "run.yaml"
    path.write_text(OmegaConf.to_yaml(config, resolve=resolved))
    done = run("--only", "config", "--verl", release, "--format", "json", "--config", str(path))
    found = [one for one in json.loads(done.output)["results"] if one["state"] == "fault"]
    assert {one["severity"] for one in found} <= {"low"}, found
    assert done.exit_code == 0


def test_rows_are_counted_on_a_terminals_standard_error_alone(tmp_path: Path) -> None:
    train = tmp_path / "train.parquet"
    prompt = [{"role": "user", "content": "1 + 1?"}]
    row = {"data_source": "openai/gsm8k", "prompt": prompt, "reward_model": {"ground_truth": "2"}}
    parquet.write_table(pyarrow.Table.from_pylist([row] * 3), train)
    words = ["check", "--lang", "en", "--only", "data", "--data", str(train)]
    code = f"from verl_doctor.cli import main; main({words!r})"
    terminal, ours = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=ours, check=False, text=True
    )
    os.close(ours)
    told = b""
    with suppress(OSError):  # how the end of a terminal is told
        while part := os.read(terminal, 65536):
            told += part
    os.close(terminal)
    assert b"3/3" in told
    assert "3/3" not in done.stdout
    plain = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert plain.stderr == b""


def test_the_settings_are_taken_from_a_log(run) -> None:
    log = Path(__file__).parent.parent / "fixtures_logs/made/verl/old-custom-reward-key.log"
    done = run("--only", "config", "--verl", "0.9.1", "--log", str(log))
    assert "VRL090" in done.output


def test_data_and_model_of_the_settings_are_looked_at(run, tmp_path: Path) -> None:
    words = [
        f"data.train_files={tmp_path}/none.parquet",
        f"actor_rollout_ref.model.path={tmp_path}/m",
    ]
    done = run("--only", "data", "--only", "model", *words)
    assert done.exit_code == 1
    assert "[DAT005]" in done.output
    assert "[HF023]" in done.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nosuch.sh"], "no script is called nosuch.sh"),
        (["--config", __file__], "test_cli_check.py"),
        (["--python", "/no/such/python"], "can't be run"),
    ],
)
def test_wrong_use_is_told_in_a_line(run, words: list[str], said: str) -> None:
    done = run("--only", "config", *words)
    assert done.exit_code in (1, 2)
    assert said in done.output
    assert "Traceback" not in done.output


def test_a_script_that_starts_no_verl_says_what_to_type(run, tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text("python train.py\n")
    assert "verl-doctor check -- data.train_batch_size=" in run(str(script)).output


def test_the_words_of_a_run_are_never_escape_codes(run, tmp_path: Path) -> None:
    done = run("--only", "config", "--verl", "0.9.1", "trainer.nope=\x1b]0;evil\x07", "[red]a=1")
    assert "\x1b" not in done.output


def test_without_the_extra_it_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['omegaconf'] = None\n"
        "from verl_doctor.cli import main\n"
        "main(['check', '--only', 'config', 'a=1'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert 'pip install "verl-doctor[check]"' in done.stderr
    assert "Traceback" not in done.stderr


def test_chinese(run) -> None:
    done = run("--only", "config", "--verl", "0.9.1", f"{ROLLOUT}.temperature=0", lang="zh")
    assert "项会中止或破坏训练" in done.output
