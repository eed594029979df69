"""What a log tells of the run itself: versions, hardware, command, times, kinds of messages."""

from __future__ import annotations

import pytest

from tests.conftest import Doctor
from verl_doctor.detect.facts import Facts
from verl_doctor.logs.reader import MAX_WARNINGS


@pytest.mark.parametrize(
    ("text", "name", "version"),
    [
        ("Initializing a V1 LLM engine (v0.8.5.post1) with config: x", "vllm", "0.8.5.post1"),
        ("vLLM API server version 0.9.0", "vllm", "0.9.0"),
        ("NCCL version 2.28.9+cuda13.0", "nccl", "2.28.9+cuda13.0"),
        ("PyTorch version 2.6.0 available.", "torch", "2.6.0"),
        ('  "transformers_version": "4.51.1",', "transformers", "4.51.1"),
        ("verl version: 0.4.1", "verl", "0.4.1"),
        ("CUDA Version: 12.4 ", "cuda", "12.4"),
    ],
)
def test_versions(text: str, name: str, version: str) -> None:
    facts = Facts()
    facts.line(text)
    assert facts.versions == {name: version}


@pytest.mark.parametrize(
    "text",
    ["requires torch==2.6.0, but you have torch 2.5.1", "torch: 2.50 GiB", "HTTP version 1.1"],
)
def test_what_only_looks_like_a_version(text: str) -> None:
    facts = Facts()
    facts.line(text)
    assert facts.versions == {}


def test_hardware() -> None:
    facts = Facts()
    facts.line("|   0  NVIDIA H100 80GB HBM3          On  | 00000000:19:00.0 Off |")
    facts.line("Please check that you have an NVIDIA GPU and installed a driver")
    facts.line("device: NVIDIA A100-SXM4-80GB, NVIDIA H100 80GB HBM3")
    assert facts.hardware == ("NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-80GB")


LOG = b"""\
2025-08-07 21:00:00,000 + python3 -m verl.trainer.main_ppo data.train_batch_size=16 trainer.n=8
2025-08-07 21:00:01,000 (TaskRunner pid=5) NCCL version 2.21.5+cuda12.4
2025-08-07 21:00:02,000 (WorkerDict pid=6) UserWarning: slow tokenizer 17
2025-08-07 21:00:02,500 (WorkerDict pid=7) UserWarning: slow tokenizer 18
2025-08-07 21:00:03,000 [prompt] WARNING: not ours
2025-08-07 21:10:00,000 (TaskRunner pid=5) ERROR: reward server 10.0.0.7 gone
"""


def test_a_report_tells_them(doctor: Doctor) -> None:
    report = doctor(LOG)
    assert report.command == "python -m verl.trainer.main_ppo"
    assert report.overrides == ("data.train_batch_size=16", "trainer.n=8")
    assert report.versions == {"nccl": "2.21.5+cuda12.4"}
    assert report.started is not None
    assert report.phase.last_time == report.started + 600
    assert [(one.level, one.first.line, one.count) for one in report.messages] == [
        ("warning", 3, 2),
        ("error", 6, 1),
    ]
    assert report.messages[1].template == "ERROR: reward server # gone"


def test_a_flood_of_warnings_is_read_in_part(doctor: Doctor) -> None:
    flood = b"UserWarning: slow\n" * (MAX_WARNINGS + 1000)
    report = doctor([flood[: len(flood) // 2], flood[len(flood) // 2 :] + LOG])
    assert report.messages[0].count == MAX_WARNINGS
    assert [one.level for one in report.messages] == ["warning", "error"]
