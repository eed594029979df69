"""The sections, asked in real children: interpreters and packages that fail in every way."""

from __future__ import annotations

import ctypes.util
import importlib.util
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import get_type_hints

import pytest

from tests.environment_samples import (
    GPU_TORCH,
    device_code,
    distribution,
    elf,
    faults,
    module,
)
from verl_doctor.checks.environment import (
    Stopped,
    active_python,
    environment,
    extensions,
    facts,
    installs,
    interpreter,
    nvidia,
    packages,
    smoke_tests,
    torch_build,
)
from verl_doctor.checks.environment.ask import Answer, Failed, ask
from verl_doctor.checks.environment.children import run
from verl_doctor.checks.environment.sections.extensions import architectures
from verl_doctor.checks.environment.sections.interpreter import STACK

LONG_S = 120.0
"""For children that end by themselves."""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose packages every child finds first."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.chdir(tmp_path)
    return folder


def torch_answer(site: Path, source: str, timeout_s: float = LONG_S) -> Answer:
    module(site, "torch", source)
    return ask(sys.executable, "torch_build", timeout_s=timeout_s)


def judged(answer: Answer) -> list[tuple[str, str]]:
    return faults(torch_build.check(answer, gpus=1, hidden=False))


def until(condition: Callable[[], bool]) -> None:
    """Waits for a condition, generously."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.02)


def gone(pid: int) -> bool:
    """Whether a process has ended, reaped or not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return True
    return state == "Z"


def test_torch_that_raises_is_told_with_its_message_and_place(site: Path) -> None:
    symbol = "libtorch_cuda.so: undefined symbol: ncclCommShrink"
    answer = torch_answer(site, f"print('noise', end='')\nraise ImportError({symbol!r})\n")
    assert answer.failed["torch_import"] == Failed(
        "raised", f"ImportError: {symbol}", (f"{site}/torch/__init__.py:2",)
    )
    assert "driver" in answer.facts  # the other parts go on
    assert judged(answer) == [("critical", "INS024")]


def test_torch_that_segfaults_is_named_by_its_signal_and_stack(site: Path) -> None:
    answer = torch_answer(site, "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")
    failed = answer.failed["torch_import"]
    assert (failed.how, failed.what) == ("signal", "SIGSEGV")
    assert failed.where[0] == f'File "{site}/torch/__init__.py", line 2 in <module>'
    assert judged(answer) == [("critical", "SYS023")]


def test_torch_that_hangs_is_ended_and_told_where(site: Path) -> None:
    answer = torch_answer(site, "import time\n\ntime.sleep(3600)\n", timeout_s=6.0)
    failed = answer.failed["torch_import"]
    assert failed.how == "timeout"
    assert failed.where[0] == f'File "{site}/torch/__init__.py", line 3 in <module>'
    assert answer.seconds < 60
    assert judged(answer) == [("critical", "HNG001")]


def test_torch_that_crashes_when_cuda_starts(site: Path) -> None:
    source = GPU_TORCH.replace("init=lambda: None", "init=__import__('os').abort")
    answer = torch_answer(site, source)
    assert answer.facts["torch_build"]["cuda"] == "12.8"
    (result,) = torch_build.check(answer, gpus=1, hidden=False)
    assert result.rule == "SYS023"
    assert result.text.en == "Starting CUDA in the imported torch ends with: SIGABRT."


def test_torch_that_exits_is_a_finding(site: Path) -> None:
    answer = torch_answer(site, "import os\nos._exit(3)\n")
    assert answer.failed["torch_import"].what == "exit status 3"
    assert judged(answer) == [("critical", "")]


def test_hostile_text_of_a_package_is_made_visible(site: Path) -> None:
    answer = torch_answer(site, "raise ImportError('\\x1b[2Jgone')")
    assert answer.failed["torch_import"].what == "ImportError: \\x1b[2Jgone"


def test_build_and_gpus_of_a_torch_are_told(site: Path) -> None:
    answer = torch_answer(site, GPU_TORCH)
    assert answer.facts["torch_build"] == {
        "cuda": "12.8",
        "hip": "",
        "archs": ["sm_80", "sm_90", "compute_90"],
        "cudnn": 91002,
        "nccl": "2.27.3",
        "cxx11_abi": True,
    }
    (device,) = answer.facts["devices"]["devices"]
    assert (device["name"], device["capability"]) == ("NVIDIA B200", [10, 0])


def test_smoke_test_names_the_missing_kernel_image(site: Path) -> None:
    module(site, "torch", GPU_TORCH)
    answers = {"kernel": ask(sys.executable, "smoke/kernel", timeout_s=LONG_S)}
    assert faults(smoke_tests.check(answers)) == [("critical", "CUD004")]


def test_interpreter_that_is_not_there(tmp_path: Path) -> None:
    answer = ask(str(tmp_path / "python"), "interpreter", timeout_s=LONG_S)
    assert answer.failed[""].how == "start"
    assert faults(interpreter.check("python", answer)) == [("critical", "SYS063")]


def test_interpreter_that_can_not_start(tmp_path: Path) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho 'Fatal Python error: init_fs_encoding' >&2\nexit 1\n")
    broken.chmod(0o755)
    answer = ask(str(broken), "interpreter", timeout_s=LONG_S)
    assert answer.failed[""].where == ("Fatal Python error: init_fs_encoding",)
    assert faults(interpreter.check(str(broken), answer)) == [("critical", "SYS025")]


def test_wrapper_that_passes_a_signal_on_as_status(tmp_path: Path) -> None:
    wrapper = tmp_path / "python"
    wrapper.write_text("#!/bin/sh\nexit 139\n")
    wrapper.chmod(0o755)
    assert run([str(wrapper)], LONG_S).signal == "SIGSEGV"


def test_a_child_that_floods_is_bounded_and_what_it_started_is_ended(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    code = (
        "import os, subprocess, sys\n"
        "child = subprocess.Popen(['sleep', '600'])\n"
        f"open({str(mark)!r}, 'w').write(str(child.pid))\n"
        "sys.stdout.write('x' * (6 << 20) + 'the end')\n"
    )
    ended = run([sys.executable, "-c", code], LONG_S)
    assert ended.code == 0
    assert ended.seconds < 60
    assert len(ended.stdout) == 4 << 20
    assert ended.stdout.endswith("the end")
    until(lambda: gone(int(mark.read_text())))


def test_two_copies_and_a_shadow_and_an_editable_checkout(site: Path, tmp_path: Path) -> None:
    distribution(site, "ray", "2.50.0")
    distribution(site, "ray", "2.43.0")
    module(site, "ray", "")
    distribution(site, "vllm", "0.11.0")
    module(tmp_path, "vllm", "")  # in the working directory
    checkout = tmp_path / "verl-src"
    module(checkout, "verl", "")
    home = distribution(site, "verl", "0.9.0.dev0")
    (home / "direct_url.json").write_text(
        f'{{"url": "file://{checkout}", "dir_info": {{"editable": true}}}}'
    )
    (site / "verl.pth").write_text("")  # what pip's own would do is done by the path here
    (site / "verl").symlink_to(checkout / "verl")
    git = checkout / ".git"
    git.mkdir()
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "packed-refs").write_text("# pack-refs\n" + "ab" * 20 + " refs/heads/main\n")

    answer = ask(sys.executable, "interpreter", timeout_s=LONG_S)
    results = list(installs.check(answer.facts["packages"], answer.facts["modules"], STACK))
    assert faults(results) == [("medium", "INS032"), ("medium", "")]
    double, shadow, editable = sorted(results, key=lambda one: one.state == "ok")
    assert sorted(line.split(":")[0] for line in double.seen) == ["2.43.0", "2.50.0"]
    assert shadow.seen[0] == str(tmp_path / "vllm" / "__init__.py")
    assert editable.text.en == f"verl 0.9.0.dev0 is an editable install, commit {'ab' * 6}."


def test_requirements_of_the_installed_packages_are_read(site: Path) -> None:
    distribution(site, "verl", "0.9.1", ["tensordict<=0.10.0", "numpy; python_version < '3'"])
    distribution(site, "tensordict", "0.12.0")
    answer = ask(sys.executable, "interpreter", timeout_s=LONG_S)
    told = answer.facts
    results = packages.check(told["python"], told["packages"], told["modules"])
    (unmet,) = [one for one in results if one.state == "fault" and "verl 0.9.1" in one.text.en]
    assert unmet.seen == ("tensordict<=0.10.0: 0.12.0",)


def test_architectures_are_read_from_the_device_code(tmp_path: Path) -> None:
    code = device_code([[(2, 80), (2, 90), (1, 80)], [(2, 86)]])
    library = tmp_path / "flash_attn_2_cuda.so"
    library.write_bytes(elf({".text": b"\x90" * 40, ".nv_fatbin": code}))
    assert architectures(str(library)) == ([80, 86, 90], [80])
    library.write_bytes(elf({".nv_fatbin": code})[:300])
    assert architectures(str(library))[1] == []  # cut off before the section table
    library.write_bytes(b"")
    assert architectures(str(library)) == ([], [])


def test_extensions_of_known_packages_are_found_and_one_that_does_not_load(site: Path) -> None:
    module(site, "torch", "")
    library = site / "flash_attn_2_cuda.cpython-312-x86_64-linux-gnu.so"
    library.write_bytes(elf({".nv_fatbin": device_code([[(2, 90)]])}))
    distribution(site, "flash-attn", "2.8.3", files=[library.name, "flash_attn/__init__.py"])
    told = ask(sys.executable, "extensions", timeout_s=LONG_S).facts["extensions"]
    assert [(one["package"], one["sm"]) for one in told] == [("flash-attn", [90])]
    loads = {
        path: ask(sys.executable, "library", path, timeout_s=LONG_S)
        for path in extensions.loadable(told)
    }
    assert list(loads) == [str(library)]
    results = list(extensions.check(told, [], loads))
    assert faults(results) == [("high", "")]
    assert results[0].seen[0] == str(library)


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("echo 'NVIDIA-SMI has failed because'; exit 9", "NVIDIA-SMI has failed because"),
        ("echo 'Failed to initialize NVML: Driver/library version mismatch' >&2; exit 18",
         "Failed to initialize NVML: Driver/library version mismatch"),
        ("kill -SEGV $$", "SIGSEGV"),
        ("sleep 600", "nvidia-smi: no answer within 1 s"),
    ],
)  # fmt: skip
def test_nvidia_smi_that_fails(
    script: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nvidia_smi(tmp_path, monkeypatch, script)
    limit = 1.0 if "sleep" in script else LONG_S
    assert nvidia.machine(limit) == nvidia.Machine(error=expected)


def test_nvidia_smi_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert nvidia.machine(LONG_S) == nvidia.Machine(missing=True)


def test_gpus_and_who_is_on_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nvidia_smi(
        tmp_path,
        monkeypatch,
        "case $1 in --query-gpu=*)\n"
        "echo '0, GPU-aa, NVIDIA H200, 570.86.15, 143771, 20480, 0, Disabled'\n"
        "echo '1, GPU-bb, NVIDIA H200, 570.86.15, 143771, 4, [N/A], Disabled';;\n"
        "*) echo 'GPU-aa, 4711, ray::WorkerDict, 20000';;\nesac",
    )
    first, second = nvidia.machine(LONG_S).gpus
    assert first.used == 20480 * nvidia.MIB
    assert first.processes == (nvidia.Process("4711", "ray::WorkerDict", 20000 * nvidia.MIB),)
    assert (second.uncorrected, second.processes) == (None, ())


def nvidia_smi(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    program = folder / "nvidia-smi"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def test_host_and_folder_tell_what_the_judges_take(tmp_path: Path) -> None:
    told = ask(sys.executable, "host", timeout_s=LONG_S)
    assert not told.failed
    shapes = {
        "limits": facts.Limits,
        "cpus": facts.Cpus,
        "shared_memory": facts.SharedMemory,
        "memory": facts.Memory,
        "processes": facts.Processes,
        "network": facts.Network,
        "clock": facts.Clock,
    }
    assert told.facts.keys() == shapes.keys()
    for part, shape in shapes.items():
        assert told.facts[part].keys() == get_type_hints(shape).keys(), part
    assert "lo" in told.facts["network"]["interfaces"]

    missing = tmp_path / "run" / "checkpoints"
    folder = ask(sys.executable, "folder", str(missing), timeout_s=LONG_S).facts["folder"]
    assert folder.keys() == get_type_hints(facts.Folder).keys()
    assert (folder["path"], folder["nearest"]) == (str(missing), str(tmp_path))
    assert not missing.exists()


NO_DRIVER = ctypes.util.find_library("cuda") is None
ONE_GPU = """case $1 in --query-gpu=*)
echo '0, GPU-aa, NVIDIA H200, 570.86.15, 143771, 4, 0, Disabled';; esac"""


@pytest.mark.parametrize(
    ("torch", "devices", "expected"),
    [
        ("raise ImportError('undefined symbol: ncclCommShrink')", None, ("critical", "INS024")),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)", None, ("critical", "SYS023")),
        pytest.param(GPU_TORCH, None, ("high", "CUD025"),
                     marks=pytest.mark.skipif(not NO_DRIVER, reason="there is a driver")),
        ("", "", ("critical", "CUD025")),
    ],
    ids=["import fails", "segfault", "no driver", "CUDA_VISIBLE_DEVICES="],
)  # fmt: skip
def test_what_breaks_torch_is_a_finding(
    site: Path, monkeypatch: pytest.MonkeyPatch, torch: str, devices: str | None,
    expected: tuple[str, str],
) -> None:  # fmt: skip
    module(site, "torch", torch)
    nvidia_smi(site, monkeypatch, ONE_GPU)
    if devices is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", devices)
    wanted = ["env.torch", "env.variables", "env.gpus"]
    results = environment(sys.executable, only=wanted)
    assert expected in faults(results)
    assert {one.check for one in results} <= {*wanted, "env.python"}
    assert "env.gpus" in {one.check for one in results}  # the others go on


def test_the_whole_survey_goes_on_after_a_torch_that_crashes(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module(site, "torch", "import os\nos.abort()\n")
    distribution(site, "verl", "0.9.1")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    monkeypatch.setenv("HF_TOKEN", "hf_secretsecretsecretsecret")
    results = environment(sys.executable, smoke=True, folders=[Path("checkpoints")])
    assert {("critical", "SYS023"), ("critical", "CUD025")} <= set(faults(results))
    seen = [line for one in results for line in one.seen]
    assert "HF_TOKEN=***" in seen
    assert any(line.startswith(f"{Path.cwd()}/checkpoints: ") for line in seen)
    assert {one.check for one in results} >= {"env.packages", "env.limits", "env.folders"}
    assert not [one for one in results if one.check == "env.smoke"]


def test_ctrl_c_ends_the_survey_and_its_children(site: Path) -> None:
    mark = site / "pid"
    module(site, "torch", f"import os, time\nopen({str(mark)!r}, 'w').write(str(os.getpid()))\n"
           "time.sleep(3600)\n")  # fmt: skip
    code = "import sys; from verl_doctor.checks.environment import environment as check\n"
    code += "check(sys.executable, timeout_s=1000)"
    path = f"{site}:{Path(__file__).parent.parent}"
    survey = subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path},
        stderr=subprocess.PIPE,
    )
    until(lambda: mark.exists() and bool(mark.read_text()))
    survey.send_signal(signal.SIGINT)
    assert b"KeyboardInterrupt" in survey.communicate(timeout=60)[1]
    until(lambda: gone(int(mark.read_text())))


def test_a_survey_that_is_told_to_stop_ends_its_children(site: Path) -> None:
    mark, told = site / "pid", list[tuple[int, int]]()
    module(site, "torch", f"import os, time\nopen({str(mark)!r}, 'w').write(str(os.getpid()))\n"
           "time.sleep(3600)\n")  # fmt: skip
    with pytest.raises(Stopped):
        environment(
            sys.executable,
            timeout_s=1000,
            stopped=lambda: mark.exists() and bool(mark.read_text()),
            tell=lambda answers, questions: told.append((answers, questions)),
        )
    assert gone(int(mark.read_text()))
    assert told[0] == (0, told[0][1])
    assert told[-1][1] >= 5
    assert all(answers < questions for answers, questions in told)


@pytest.mark.parametrize("one", ["matmul", "all_reduce"])
def test_smoke_tests_with_the_real_torch(one: str) -> None:
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed")
    answers = {one: ask(sys.executable, f"smoke/{one}", timeout_s=LONG_S)}
    (result,) = smoke_tests.check(answers)
    assert result.state == "ok", result


def test_the_active_environment_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.touch()
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path))
    assert active_python() == str(python)
