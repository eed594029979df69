"""`check`, configuration: one fault each, caught with the right key; sound runs are let pass."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from packaging.version import Version

from verl_doctor.checks.config import check, command, compose, known_release
from verl_doctor.checks.config.batch import validation
from verl_doctor.checks.config.keys import moved
from verl_doctor.checks.config.settings import UNKNOWN, Settings
from verl_doctor.checks.config.sizes import sizes, table
from verl_doctor.checks.types import Result
from verl_doctor.knowledge import verl_config

ACTOR, ROLLOUT = "actor_rollout_ref.actor", "actor_rollout_ref.rollout"
SOUND = {
    "algorithm.adv_estimator": "grpo",
    "data.train_files": "/data/train.parquet",
    "data.val_files": "/data/test.parquet",
    "data.train_batch_size": "256",
    "actor_rollout_ref.model.path": "/models/Qwen3-8B",
    f"{ACTOR}.ppo_mini_batch_size": "64",
    f"{ACTOR}.ppo_micro_batch_size_per_gpu": "8",
    f"{ROLLOUT}.name": "vllm",
    f"{ROLLOUT}.n": "8",
    f"{ROLLOUT}.tensor_model_parallel_size": "2",
    f"{ROLLOUT}.log_prob_micro_batch_size_per_gpu": "8",
    "trainer.n_gpus_per_node": "8",
    "trainer.nnodes": "1",
    "trainer.save_freq": "20",
}


def made(release: str = "0.9.1", **changes: str | None) -> Settings:
    """The settings of a sound run with some overrides changed (None: left out)."""
    given = {**SOUND, **changes}
    words = [f"{key}={value}" for key, value in given.items() if value is not None]
    return compose(command(words), release)


def faults(found: Settings) -> list[Result]:
    """What is wrong, the worst kinds alone."""
    return [one for one in check(found) if one.state == "fault" and one.severity != "low"]


def text(results: list[Result]) -> str:
    return "\n".join(f"{one.rule} {one.text.en} {' '.join(one.seen)}" for one in results)


@pytest.mark.parametrize("release", verl_config.names())
def test_a_sound_run_passes_on_every_release(release: str) -> None:
    assert faults(made(release)) == []


@pytest.mark.parametrize("release", verl_config.names())
def test_the_releases_own_defaults_give_no_alarm_but_what_verl_demands(release: str) -> None:
    """verl's defaults alone do not start: micro batches, from 0.6 the engine, must be given."""
    found = faults(compose(command([]), release))
    assert {one.rule for one in found} <= {"VRL010", "CFG012"}


BROKEN = [
    ({f"{ROLLOUT}.tensor_paralel_size": "2"}, "CFG001", "tensor_paralel_size"),
    ({"actor.optim.lr": "1e-6"}, "CFG001", "actor.optim.lr"),
    ({f"{ACTOR}.megatron.tensor_model_parallel_size": "2"}, "CFG001", "another training engine"),
    ({"+data.train_batch_size": "512", "data.train_batch_size": None}, "CFG004", "already"),
    ({"trainer.experiment_name": "a=b"}, "CFG005", "a=b"),
    ({"data.train_files": "~/train.parquet"}, "CFG005", "`~`"),
    ({"~trainer.nothing_such": None, "trainer.nope": "1"}, "CFG001", "trainer.nope"),
    ({"custom_reward_function.path": "/r.py"}, "VRL090", "reward.custom_reward_function.path"),
    ({"reward_model.reward_manager": "dapo"}, "", "reward.reward_manager.name"),
    ({"trainer.use_legacy_worker_impl": "auto"}, "CFG001", "removed in verl 0.8.0"),
    ({"critic.model.fsdp_config.param_offload": "True"}, "CFG001", "critic.fsdp.param_offload"),
    ({f"{ACTOR}.optim.lr": "\"'1e-6'\""}, "CFG018", "not a number"),
    ({"data.max_prompt_length": "'512'"}, "CFG020", "not a number"),
    ({f"{ACTOR}.use_kl_loss": "'False'"}, "", "any text counts as true"),
    ({"data.train_files": "'~/train.parquet'"}, "", "nothing expands the `~`"),
    ({"data.val_files": "'$HOME/test.parquet'"}, "", "nothing expands the `$`"),
    ({"data.train_files": "/data/"}, "", "ends with a slash"),
    ({f"{ROLLOUT}.name": None}, "CFG012", "rollout.name must be given"),
    ({"data.train_batch_size": "68", f"{ROLLOUT}.n": "1"}, "VRL002", "multiple of 8"),
    ({"data.train_batch_size": "32"}, "VRL004", "larger than the batch"),
    ({f"{ACTOR}.ppo_micro_batch_size_per_gpu": None}, "VRL010", "ppo_micro_batch_size"),
    ({f"{ACTOR}.ppo_micro_batch_size": "8"}, "VRL011", "both set"),
    ({f"{ROLLOUT}.log_prob_micro_batch_size_per_gpu": None}, "VRL010", "log_prob_micro"),
    ({f"{ACTOR}.ppo_micro_batch_size_per_gpu": "48"}, "VRL007", "no multiple of"),
    ({f"{ROLLOUT}.tensor_model_parallel_size": "3"}, "VRL013", "rollout engines of 3"),
    ({f"{ACTOR}.ppo_mini_batch_size": "63", f"{ROLLOUT}.n": "1"}, "VRL006", "can't be cut"),
    ({f"{ROLLOUT}.temperature": "0"}, "VRL091", "nothing can be learnt"),
    ({f"{ROLLOUT}.n": "1"}, "", "compares the responses"),
    ({f"{ACTOR}.use_kl_loss": "True", f"{ACTOR}.kl_loss_coef": "-0.1",
      "actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu": "8"}, "", "below 0"),
    ({f"{ROLLOUT}.mode": "sync"}, "VRL060", "removed in verl 0.7"),
    ({f"{ROLLOUT}.name": "hf"}, "VRL061", "no rollout engine `hf`"),
    ({f"{ROLLOUT}.max_model_len": "600"}, "VRL033", "less than prompt + response"),
    ({f"{ACTOR}.use_dynamic_bsz": "True", f"{ACTOR}.ppo_max_token_len_per_gpu": "512",
      "actor_rollout_ref.model.use_remove_padding": "False"}, "VRL034", "can't hold one sequence"),
    ({f"{ACTOR}.ulysses_sequence_parallel_size": "2",
      "actor_rollout_ref.model.use_remove_padding": "False"}, "VRL063", "use_remove_padding"),
    ({f"{ACTOR}.fsdp_config.fsdp_size": "3"}, "", "FSDP groups of 3"),
    ({f"{ACTOR}.optim.lr_warmup_steps_ratio": "0.01", "trainer.total_training_steps": "50"}, "",
     "rounds to 0 steps"),
    ({f"+{ROLLOUT}.repetition_penalty": "1.1"}, "", "no effect in training"),
    ({f"{ACTOR}.loss_agg_mode": "mean"}, "", "no loss_agg_mode"),
    ({f"{ROLLOUT}.gpu_memory_utilization": "80"}, "", "share of the GPU"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "rule", "words"), BROKEN)
def test_one_fault_is_caught_with_its_key(
    changes: dict[str, str | None], rule: str, words: str
) -> None:
    found = faults(made(**changes))
    assert words in text(found)
    if rule:
        assert rule in {one.rule for one in found}
    assert len(found) <= 2, text(found)
    for one in found:
        assert one.text.zh
        assert one.text.zh != one.text.en


def test_all_faults_are_told_at_once() -> None:
    found = faults(made(**{"a.b": "1", "c.d": "2", f"{ROLLOUT}.temperature": "0"}))
    assert len(found) == 3


def test_a_key_of_another_release_names_that_release() -> None:
    [one] = faults(made("0.5.0", **{"trainer.use_v1": "True", "trainer.save_freq": "5"}))
    assert "verl 0.9.0-0.9.1 has" in one.text.en


def test_a_misspelt_key_gets_the_right_one_to_paste() -> None:
    [one] = faults(made(**{f"{ROLLOUT}.gpu_memory_utilisation": "0.5"}))
    assert one.fix is not None
    assert one.fix.set == f"{ROLLOUT}.gpu_memory_utilization=0.5"


def test_free_engine_settings_get_a_plus() -> None:
    [one] = faults(made(**{f"{ROLLOUT}.engine_kwargs.vllm.swap_space": "4"}))
    assert one.fix is not None
    assert one.fix.set == f"+{ROLLOUT}.engine_kwargs.vllm.swap_space=4"


def test_the_mended_batch_is_one_that_passes() -> None:
    [one] = faults(made(**{"data.train_batch_size": "65", f"{ROLLOUT}.n": "1"}))[:1]
    assert one.fix is not None
    key, _, value = one.fix.set.partition("=")
    assert key == "data.train_batch_size"
    assert int(value) % 8 == 0


def test_old_reward_keys_still_count_before_they_were_ignored() -> None:
    old = {"custom_reward_function.path": "/r.py"}
    assert faults(made("0.8.0", **old)) == []
    assert "VRL090" in {one.rule for one in faults(made("0.9.1", **old))}


def test_megatron_is_chosen_by_the_engine_group_or_the_config_name() -> None:
    size = f"{ACTOR}.megatron.tensor_model_parallel_size=2"
    by_group = compose(command(["model_engine=megatron", size]), "0.9.1")
    by_name = compose(command(["--config-name=ppo_megatron_trainer.yaml", size]), "0.7.0")
    assert by_group.name == by_name.name == "ppo_megatron_trainer"
    assert not by_group.refused + by_name.refused
    assert sizes(by_group).model_parallel == 2


def test_a_run_with_a_config_of_its_own_is_not_judged_by_verls_keys() -> None:
    found = compose(command(["--config-path=/my/recipe", "my.key=1", f"{ROLLOUT}.n=4"]), "0.9.1")
    assert [one for one in check(found) if one.state == "fault"] == []
    assert found.get("data.train_batch_size") is UNKNOWN


def test_an_entry_point_with_another_config_is_not_judged_by_the_trainers() -> None:
    words = ["python3", "-m", "verl.trainer.main_generation", "data.n_samples=1", "rollout.top_k=9"]
    found = compose(command(words), "0.7.0")
    assert [one for one in check(found) if one.state == "fault"] == []
    assert found.foreign == "verl.trainer.main_generation"


def test_the_table_shows_prompts_and_samples() -> None:
    shown = "\n".join(table(sizes(made())))
    assert "samples a step                       2048" in shown
    assert "samples of a mini batch on a GPU       64" in shown
    assert "passes to a mini batch                  8" in shown


def test_verl_says_the_same_of_random_batch_settings() -> None:
    """Against what verl 0.9.1 itself said of them (benchmarks/check_against_verl.py)."""
    with (Path(__file__).parent / "verl_verdicts.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    taken = 0
    for row in rows:
        said = row.pop("verl says")
        words = [f"{key}={value}" for key, value in row.items() if value]
        ours = [one.seen[0] for one in validation(compose(command(words), "0.9.1"))]
        assert bool(ours) == bool(said), words
        assert not said or any(one[:60] in said for one in ours), (said, ours, words)
        taken += not said
    assert (len(rows), taken) == (120, 48)


def test_a_release_that_is_not_known_is_judged_by_the_nearest() -> None:
    assert known_release("0.9.1") == "0.9.1"
    assert known_release("0.9.0.dev0") == "0.9.0"
    assert known_release("0.6.0") == "0.6.1"
    assert known_release("0.10.0.dev") == verl_config.names()[-1]
    assert known_release("") == verl_config.names()[-1]


def test_the_table_of_moved_keys_is_true_of_the_releases() -> None:
    keys = verl_config.releases()
    for one in moved():
        later = [name for name in keys if Version(name) >= Version(one.at)]
        if one.new:
            assert one.new in keys[one.at], one
        if not one.ignored:
            assert not any(one.old in keys[name] for name in later), one
