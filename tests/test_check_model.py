"""`check`, model folder: real safetensors files, whole and broken, and verl's own checkpoints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from verl_doctor.checks import model
from verl_doctor.checks.types import Result

numpy_save = pytest.importorskip("safetensors.numpy").save_file
np = pytest.importorskip("numpy")


def make(path: Path, **changes: Any) -> Path:
    """A small whole model of two shards; None leaves a file out."""
    path.mkdir(exist_ok=True)
    numpy_save(
        {"a.weight": np.zeros((8, 4), np.float32)}, path / "model-00001-of-00002.safetensors"
    )
    numpy_save({"b.weight": np.ones((2, 2), np.float32)}, path / "model-00002-of-00002.safetensors")
    files = {
        "config.json": {"model_type": "qwen2", "vocab_size": 8, "torch_dtype": "float32"},
        "tokenizer.json": {"model": {"vocab": {str(i): i for i in range(8)}}, "added_tokens": []},
        "tokenizer_config.json": {"chat_template": "{{ messages }}"},
        "model.safetensors.index.json": {
            "weight_map": {
                "a.weight": "model-00001-of-00002.safetensors",
                "b.weight": "model-00002-of-00002.safetensors",
            }
        },
        **changes,
    }
    for name, content in files.items():
        if content is not None:
            (path / name).write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def faults(path: Path, **how: Any) -> list[Result]:
    return [one for one in model.check(path, **how) if one.state == "fault"]


def test_a_whole_folder_passes_and_says_what_it_saw(tmp_path: Path) -> None:
    found = list(model.check(make(tmp_path / "m")))
    assert [one.state for one in found] == ["ok", "ok"]
    assert "8 tokens, embedding 8" in found[0].text.en
    assert "2 shards, whole (F32 2; config.json says float32)" in found[1].text.en


BROKEN = [
    ({"config.json": None}, "HF005", "has no config.json"),
    ({"config.json": "{cut"}, "HF015", "is no JSON"),
    ({"config.json": {"vocab_size": 8}}, "HF006", "names no model_type"),
    ({"config.json": {"model_type": "x", "vocab_size": 8, "auto_map": {"AutoModel": "m.M"}}},
     "HF008", "brings its own code"),
    ({"config.json": None, "adapter_config.json": {}}, "HF005", "LoRA adapter"),
    ({"tokenizer_config.json": {}}, "HF003", "no chat template"),
    ({"tokenizer.json": None}, "HF020", "no tokenizer files"),
    ({"config.json": {"model_type": "x", "vocab_size": 5}}, "CUD004", "knows token 7"),
    ({"tokenizer.json": "version https://git-lfs.github.com/spec/v1\n"}, "HF014", "LFS pointer"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "rule", "words"), BROKEN)
def test_a_fault_of_the_small_files_is_named(
    tmp_path: Path, changes: dict[str, Any], rule: str, words: str
) -> None:
    found = faults(make(tmp_path / "m", **changes))
    assert rule in {one.rule for one in found}
    assert words in "\n".join(one.text.en for one in found)


def test_a_missing_shard_is_named(tmp_path: Path) -> None:
    (make(tmp_path / "m") / "model-00002-of-00002.safetensors").unlink()
    [one] = faults(tmp_path / "m")
    assert one.rule == "HF011"
    assert one.seen == ("model-00002-of-00002.safetensors",)


def test_a_shard_cut_short_is_told_by_its_size(tmp_path: Path) -> None:
    shard = make(tmp_path / "m") / "model-00001-of-00002.safetensors"
    whole = shard.read_bytes()
    shard.write_bytes(whole[:-5])
    [one] = faults(tmp_path / "m")
    assert one.rule == "HF012"
    assert f"has {len(whole) - 5:,} bytes, its header says {len(whole):,}" in one.text.en


@pytest.mark.parametrize(
    "content", [b"", b"\xff" * 8, b"\xff" * 4000, b"\x08" + b"\0" * 7 + b"nonsense", b"[]"]
)
def test_a_shard_that_is_none_never_raises(tmp_path: Path, content: bytes) -> None:
    (make(tmp_path / "m") / "model-00001-of-00002.safetensors").write_bytes(content)
    assert "HF012" in {one.rule for one in faults(tmp_path / "m")}


def test_a_weight_that_the_index_names_and_the_shard_lacks(tmp_path: Path) -> None:
    numpy_save(
        {"c": np.zeros(2, np.float32)}, make(tmp_path / "m") / "model-00001-of-00002.safetensors"
    )
    [one] = faults(tmp_path / "m")
    assert one.seen == ("a.weight",)


def test_nan_is_searched_for_on_request_alone(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    bad = np.array([1.0, np.nan, np.inf], np.float32)
    path = make(tmp_path / "m")
    numpy_save({"b.weight": bad}, path / "model-00002-of-00002.safetensors")
    assert faults(path) == []
    [one] = faults(path, nan=True)
    assert "`b.weight` holds 2 values that are NaN or Inf" in one.text.en


def test_no_folder_and_a_name_on_the_hub(tmp_path: Path) -> None:
    [missing] = model.check(tmp_path / "none")
    assert missing.rule == "HF023"
    [hub] = model.check(Path("Qwen/Qwen3-8B"))
    assert hub.state == "unknown"


def test_a_checkpoint_needs_the_file_of_every_rank(tmp_path: Path) -> None:
    actor = tmp_path / "global_step_40" / "actor"
    actor.mkdir(parents=True)
    for part in ("model", "optim", "extra_state"):
        for rank in range(4):
            (actor / f"{part}_world_size_4_rank_{rank}.pt").write_bytes(b"x")
    assert faults(tmp_path / "global_step_40") == []
    (actor / "optim_world_size_4_rank_2.pt").unlink()
    (actor / "model_world_size_4_rank_3.pt").write_bytes(b"")
    [one] = faults(tmp_path / "global_step_40")
    assert one.seen == ("optim: rank 2 of 4", "empty: model_world_size_4_rank_3.pt")
    (actor / "model_world_size_8_rank_0.pt").write_bytes(b"x")
    assert "several world sizes (4, 8)" in faults(tmp_path / "global_step_40")[0].text.en
