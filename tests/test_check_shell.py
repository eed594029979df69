"""Launch scripts as people write them, read without being run."""

from __future__ import annotations

from pathlib import Path

import pytest

from verl_doctor.checks.config import script
from verl_doctor.checks.config.inputs import Command


def values(found: Command) -> dict[str, str | None]:
    return {one.key: one.value for one in found.overrides}


def test_variables_defaults_sums_and_arrays_are_followed() -> None:
    found = script(
        """#!/bin/bash
set -x
MODEL=${MODEL:-"$HOME/models/Qwen3-8B"}   # where it lies
max_prompt=$((1024 * 2))
max_response=4096
export NNODES=${NNODES:-2}
DATA=(
    data.train_batch_size=${BATCH:-512}
    data.max_prompt_length=$max_prompt   # tokens
    # data.shuffle=False
    data.max_response_length=${max_response}
)
DATA+=(data.val_files="['/a.parquet','/b.parquet']")
python3 -m verl.trainer.main_ppo --config-name='ppo_megatron_trainer.yaml' \\
    "${DATA[@]}" \\
    actor_rollout_ref.model.path=$MODEL \\
    actor_rollout_ref.rollout.max_model_len=$(( max_prompt + max_response )) \\
    trainer.nnodes=$NNODES $@ 2>&1 | tee train.log
""",
        {"HOME": "/home/u", "BATCH": "64"},
    )
    assert found.module == "verl.trainer.main_ppo"
    assert found.config_name == "ppo_megatron_trainer"
    assert values(found) == {
        "data.train_batch_size": "64",
        "data.max_prompt_length": "2048",
        "data.max_response_length": "4096",
        "data.val_files": "['/a.parquet','/b.parquet']",
        "actor_rollout_ref.model.path": "/home/u/models/Qwen3-8B",
        "actor_rollout_ref.rollout.max_model_len": "6144",
        "trainer.nnodes": "2",
    }
    assert found.unread == ()
    assert found.cut == ()


@pytest.mark.parametrize(
    "line",
    [
        "N=$(nvidia-smi -L | wc -l)",
        "N=`nproc`",
        "if [ -n \"$MULTI\" ]; then\nN=4\nelse\nN=8\nfi",
        "for N in 1 2 4; do\necho $N\ndone\nN=$N",
    ],
)  # fmt: skip
def test_what_only_running_would_tell_stays_unknown(line: str) -> None:
    found = script(f"{line}\npython -m verl.trainer.main_ppo trainer.n_gpus_per_node=$N\n", {})
    assert values(found) == {"trainer.n_gpus_per_node": None}


def test_nothing_of_a_script_is_run(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    text = f"touch {mark}\nA=$(touch {mark})\nB=$((1+$(touch {mark})))\n"
    script(f"{text}python -m verl.trainer.main_ppo a.b=$A c.d=$B\n", {})
    assert not mark.exists()


def test_a_continuation_that_continues_nothing_is_told_with_its_line() -> None:
    found = script(
        "python -m verl.trainer.main_ppo \\\n"
        "    data.train_batch_size=8 \\  # small\n"
        "    trainer.nnodes=2\n",
        {},
    )
    assert values(found) == {"data.train_batch_size": "8"}
    assert [one.partition(":")[0] for one in found.cut] == ["2"]


def test_a_script_without_verl_has_no_module() -> None:
    assert script("python train.py --lr 1e-6\n", {}).module == ""


@pytest.mark.parametrize("text", ["A=(", "'", "\\", "$((", "${", "x" * 5000, "a=\n" * 3000, "\0"])
def test_broken_text_never_raises(text: str) -> None:
    script(text, {})
    script(text + "\npython -m verl.trainer.main_ppo a.b=$A \\", {})
