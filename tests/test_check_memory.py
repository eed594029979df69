"""`check`, memory: sizes of published models, the formulas by hand, and what is told of a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from verl_doctor.checks import memory
from verl_doctor.checks.config import command, compose
from verl_doctor.checks.memory import training
from verl_doctor.checks.memory.engine import Engine
from verl_doctor.checks.memory.phases import phases
from verl_doctor.checks.memory.plan import plan
from verl_doctor.checks.memory.shape import Shape, shape
from verl_doctor.checks.memory.spans import GIB, Phase, Span
from verl_doctor.checks.memory.training import Pass, Trained
from verl_doctor.checks.types import Result
from verl_doctor.knowledge import verl_config

ACTOR, ROLLOUT = "actor_rollout_ref.actor", "actor_rollout_ref.rollout"


def config(kind: str, sizes: str, **more: Any) -> dict[str, Any]:
    """A config.json: layers, hidden, heads, key heads, MLP, vocabulary."""
    keys = (
        "num_hidden_layers", "hidden_size", "num_attention_heads", "num_key_value_heads",
        "intermediate_size", "vocab_size",
    )  # fmt: skip
    numbers = dict(zip(keys, map(int, sizes.split()), strict=True))
    return {"model_type": kind, **numbers, **more}


QWEN_7B = config("qwen2", "28 3584 28 4 18944 152064")
LLAMA_8B = config("llama", "32 4096 32 8 14336 128256")
QWEN3_30B = config(
    "qwen3_moe", "48 2048 32 4 6144 151936",
    head_dim=128, num_experts=128, moe_intermediate_size=768,
)  # fmt: skip


def read(of: dict[str, Any]) -> Shape:
    found = shape(of)
    assert isinstance(found, Shape)
    return found


@pytest.mark.parametrize(
    ("of", "published"),
    [
        (config("qwen2", "24 896 14 2 4864 151936", tie_word_embeddings=True), 494_032_768),
        (QWEN_7B, 7_615_616_512),
        (LLAMA_8B, 8_030_261_248),
        (config("qwen3", "36 4096 32 8 12288 151936", head_dim=128), 8_190_735_360),
        (QWEN3_30B, 30_532_122_624),
    ],
    ids=["Qwen2.5-0.5B", "Qwen2.5-7B", "Llama-3.1-8B", "Qwen3-8B", "Qwen3-30B-A3B"],
)
def test_parameters_are_those_that_the_models_weights_hold(
    of: dict[str, Any], published: int
) -> None:
    assert read(of).parameters == published


@pytest.mark.parametrize(
    ("of", "why"),
    [
        ({"model_type": "gemma3"}, "model_type 'gemma3'"),
        (QWEN3_30B | {"mlp_only_layers": [0]}, "experts in some layers only"),
        (LLAMA_8B | {"quantization_config": {"bits": 4}}, "quantized weights"),
        (LLAMA_8B | {"vocab_size": 10**400}, "config.json states no sound vocab_size"),
        (LLAMA_8B | {"vocab_size": "many"}, "config.json states no sound vocab_size"),
        (LLAMA_8B | {"num_attention_heads": 0}, "config.json states no sound num_attention_heads"),
    ],
)
def test_sizes_that_cannot_be_told_say_why(of: dict[str, Any], why: str) -> None:
    assert shape(of) == why


SMALL = read(config("llama", "2 8 2 1 16 100"))
"""Layer: 2·8·(8+4) + 3·8·16 + 16 = 592; root: 2·800 + 8 = 1608; in all 2792."""


def test_the_state_of_a_model_is_sixteen_bytes_a_parameter_over_the_shards() -> None:
    model = Trained(SMALL, shards=4)
    assert SMALL.parameters == 2792
    state = model.weights + model.gradients + model.optimizer
    assert state == Span.exactly(16 * 2792 / 4)
    half = Trained(SMALL, shards=4, stored=2)
    assert half.optimizer == Span.exactly(4 * 2792 / 4)


def test_activations_of_a_layer_are_counted_tensor_by_tensor() -> None:
    # norms 2·8·8, attention 2·(16 + 8), MLP 2·4·16; with head norms 6·(8+4) more
    assert training.layer_activations(Trained(SMALL, 1)) == 128 + 48 + 128
    normed = read(config("qwen3", "2 8 2 1 16 100"))
    assert training.layer_activations(Trained(normed, 1)) == 304 + 72


def test_an_update_peaks_at_the_loss_where_the_vocabulary_is_large() -> None:
    model = Trained(read(config("llama", "2 8 2 1 16 10000")), 1, one_by_one=True)
    found = training.update(model, Pass(1000, training.LOGITS_OF_TORCH))
    assert found.name == "loss"
    assert found.of("logits") == Span.exactly(8 * 1000 * 10_000)
    saved = 2 * 8 * 2 * 1000  # both layers' inputs
    assert found.of("activations") == Span(saved, 1.3 * saved)


def test_an_update_peaks_in_backward_where_many_tokens_meet_a_small_vocabulary() -> None:
    found = training.update(Trained(SMALL, 1), Pass(10_000, training.NO_LOGITS))
    assert found.name == "backward"
    activations = found.of("activations")
    assert activations is not None
    assert activations.low == 10_000 * (2 * 8 * 2 + 304)


def test_an_update_peaks_at_the_step_where_tokens_are_few() -> None:
    deep = read(config("llama", "50 8 2 1 16 100"))
    found = training.update(Trained(deep, 1), Pass(1, training.NO_LOGITS))
    assert found.name == "step"
    assert found.known == Span(16 * 31_208 + 4 * 800, 20 * 31_208 + 4 * 800)
    one = training.update(Trained(deep, 1, one_by_one=True), Pass(1, training.NO_LOGITS))
    assert one.known.high < found.known.high


def test_without_checkpointing_every_layer_is_kept() -> None:
    kept = Trained(SMALL, 1, checkpointing=False)
    found = training.update(kept, Pass(10_000, training.NO_LOGITS)).of("activations")
    assert found is not None
    assert found.low == 10_000 * 2 * 304


def test_the_kv_cache_of_a_published_model() -> None:
    """Llama 3.1 8B: 128 KiB a token, cut over the GPUs but never a head."""

    def engine(tensor: int) -> Engine:
        return Engine(read(LLAMA_8B), tensor, 1, 0.5, 256, 4096)

    assert engine(1).bytes_per_token == 128 * 1024
    assert engine(2).bytes_per_token == 64 * 1024
    assert engine(16).bytes_per_token == engine(8).bytes_per_token == 16 * 1024
    whole = 40 * GIB - 2 * 8_030_261_248
    assert engine(1).tokens(80 * GIB) == whole // (128 * 1024)
    assert engine(1).tokens(20 * GIB) == 0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "config.json").write_text(json.dumps(QWEN_7B))
    return tmp_path


def words(folder: Path, **changes: str | None) -> list[str]:
    given: dict[str, str | None] = {
        "algorithm.adv_estimator": "grpo",
        "data.max_prompt_length": "512",
        "data.max_response_length": "1536",
        "data.train_batch_size": "256",
        "actor_rollout_ref.model.path": str(folder),
        "actor_rollout_ref.model.use_remove_padding": "True",
        f"{ACTOR}.ppo_mini_batch_size": "64",
        f"{ACTOR}.ppo_micro_batch_size_per_gpu": "4",
        f"{ROLLOUT}.name": "vllm",
        f"{ROLLOUT}.n": "8",
        f"{ROLLOUT}.tensor_model_parallel_size": "2",
        f"{ROLLOUT}.log_prob_micro_batch_size_per_gpu": "4",
        "trainer.n_gpus_per_node": "8",
        **changes,
    }
    return [f"{key}={value}" for key, value in given.items() if value is not None]


def told(folder: Path, gpu: float | None, release: str = "0.9.1", **how: str) -> list[Result]:
    settings = compose(command(words(folder, **how)), release)
    return list(memory.check(settings, None if gpu is None else gpu * GIB))


def by_phase(folder: Path, gpu: float, **how: str) -> dict[str, Phase]:
    settings = compose(command(words(folder, **how)), "0.9.1")
    return {one.name: one for one in phases(plan(settings), gpu * GIB)}


STATE_7B = 4 * 7_615_616_512 / 8
"""Bytes of the fp32 weights on each of 8 GPUs."""


@pytest.mark.parametrize("release", verl_config.names())
def test_every_release_gets_its_table(folder: Path, release: str) -> None:
    (found,) = told(folder, 80, release)
    assert found.state == "ok"
    assert [row.split("  ")[0] for row in found.seen] == [
        "rollout", "log_prob", "update", "weight sync", "KV cache",
    ]  # fmt: skip


def test_offloading_frees_the_rollout_and_not_the_update(folder: Path) -> None:
    stays = by_phase(folder, 80)
    leaves = by_phase(
        folder, 80,
        **{f"{ACTOR}.fsdp_config.{one}_offload": "True" for one in ("param", "optimizer")},
    )  # fmt: skip
    assert stays["rollout"].known == Span.exactly(3 * STATE_7B + 40 * GIB)
    assert leaves["rollout"].known == Span.exactly(40 * GIB)
    assert leaves["update"] == stays["update"]
    assert leaves["log_prob"].of("optimizer") == Span(0, 0)
    assert stays["log_prob"].of("optimizer") == Span.exactly(2 * STATE_7B)


def test_an_fsdp_group_and_a_bf16_model_change_the_state(folder: Path) -> None:
    group = by_phase(folder, 80, **{f"{ACTOR}.fsdp_config.fsdp_size": "4"})
    assert group["update"].of("weights") == Span.exactly(2 * STATE_7B)
    half = by_phase(folder, 80, **{f"{ACTOR}.fsdp_config.model_dtype": "bf16"})
    assert half["update"].of("weights") == Span.exactly(STATE_7B / 2)


def test_a_critic_waits_on_the_gpu_and_has_phases_of_its_own(folder: Path) -> None:
    critic = {
        "algorithm.adv_estimator": "gae",
        "critic.model.path": str(folder),
        "critic.ppo_micro_batch_size_per_gpu": "4",
    }
    found = by_phase(folder, 80, **critic)
    assert {"values", "critic update"} <= set(found)
    assert found["update"].of("critic") == Span.exactly(3 * STATE_7B)
    assert found["critic update"].of("logits") == Span(0, 0)


def test_tokens_come_from_the_samples_the_budget_or_the_sequence_split(folder: Path) -> None:
    def tokens(**how: str) -> float:
        return plan(compose(command(words(folder, **how)), "0.9.1")).actor.update.tokens

    assert tokens() == 4 * 2048
    assert tokens(**{f"{ACTOR}.ulysses_sequence_parallel_size": "2"}) == 4 * 1024
    assert tokens(**{f"{ACTOR}.use_dynamic_bsz": "True"}) == 16_384
    budget = {f"{ACTOR}.use_dynamic_bsz": "True", f"{ACTOR}.ppo_max_token_len_per_gpu": "999999"}
    assert tokens(**budget) == 64 * 2048  # a whole mini batch of one GPU


def test_what_clearly_does_not_fit_is_a_fault_with_its_fix(folder: Path) -> None:
    found = told(folder, 24, **{f"{ROLLOUT}.gpu_memory_utilization": "0.9"})[0]
    # 32 GiB against 24: beyond the measured error, not beyond what details could change
    assert (found.state, found.severity, found.rule) == ("fault", "medium", "CUD001")
    assert found.text.en.startswith("rollout needs at least 32 GiB on each GPU")
    assert found.fix is not None
    assert "param_offload=True" in found.fix.set


def test_what_only_long_sequences_would_fill_is_no_more_than_medium(folder: Path) -> None:
    micro = {f"{ACTOR}.ppo_micro_batch_size_per_gpu": "64"}
    packed = told(folder, 48, **micro)[0]
    assert (packed.state, packed.severity) == ("fault", "medium")
    padded = told(folder, 48, **micro, **{"actor_rollout_ref.model.use_remove_padding": "False"})[0]
    assert padded.severity == "high"


def test_a_range_around_the_gpu_is_not_decided(folder: Path) -> None:
    bounds = by_phase(folder, 30)["update"].known
    middle = (bounds.low + bounds.high) / 2 / GIB
    found = told(folder, middle, **{f"{ROLLOUT}.gpu_memory_utilization": "0.4"})[0]
    assert found.state == "unknown"
    assert "can't be told" in found.text.en


def test_an_engine_without_room_for_one_sequence_is_told(folder: Path) -> None:
    share = {f"{ROLLOUT}.gpu_memory_utilization": "0.2"}
    found = [one for one in told(folder, 24, **share) if one.rule == "VLM006"]
    assert len(found) == 1
    assert "0 tokens of KV cache" in found[0].text.en
    assert found[0].fix is not None
    assert found[0].fix.set == f"{ROLLOUT}.tensor_model_parallel_size=4"


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"actor_rollout_ref.model.path": "Qwen/Qwen2.5-7B"}, "no config.json here"),
        ({"actor_rollout_ref.model.lora_rank": "32"}, "LoRA (actor_rollout_ref.model.lora_rank)"),
        ({"actor_rollout_ref.model.use_liger": "True"}, "Liger (actor_rollout_ref.model.use_lig"),
        ({"model_engine": "megatron", "actor_rollout_ref.model.lora.rank": "16"}, "LoRA ("),
        ({f"{ACTOR}.optim.optimizer": "Muon"}, "optimizer Muon is not estimated"),
        ({f"{ACTOR}.ppo_micro_batch_size_per_gpu": "null"}, "ppo_micro_batch_size_per_gpu is not"),
    ],
)
def test_what_it_has_no_formula_for_is_unknown(
    folder: Path, how: dict[str, str], said: str
) -> None:
    (found,) = told(folder, 80, **how)
    assert found.state == "unknown"
    assert said in found.text.en


def test_an_engine_without_a_formula_is_named_and_is_in_no_number(folder: Path) -> None:
    (found,) = told(folder, 80, **{f"{ROLLOUT}.name": "sglang"})
    assert found.state == "unknown"
    assert found.seen[-1].split("  ")[0] == "engine"
    assert "not estimated (rollout.name=sglang)" in found.seen[-1]


def test_an_engine_on_gpus_of_its_own_takes_nothing(folder: Path) -> None:
    found = by_phase(folder, 80, **{f"{ROLLOUT}.nnodes": "1"})
    assert found["rollout"].of("engine") == found["update"].of("engine") == Span(0, 0)


def test_megatron_is_told_at_rest_alone(folder: Path) -> None:
    how = {"model_engine": "megatron", f"{ACTOR}.megatron.tensor_model_parallel_size": "2"}
    (found,) = told(folder, 80, **how)
    # 7.6e9 / 2: 2 + 4 bytes, and 12 over the 4 data-parallel ranks
    least = 9 * 7_615_616_512 / 2 / GIB
    assert found.state == "unknown"
    assert f"at least {least:.1f} GiB" in found.seen[0]
    assert "activations ?" in found.seen[0]
    assert told(folder, 24, **how)[0].state == "fault"


def test_experts_have_weights_and_no_activations(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(QWEN3_30B))
    found = by_phase(tmp_path, 80)["update"]
    assert found.of("weights") == Span.exactly(4 * 30_532_122_624 / 8)
    assert not found.complete
