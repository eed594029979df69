"""What the checks of the environment conclude from facts, which are data here."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Doctor
from tests.environment_samples import faults
from verl_doctor.checks import environment
from verl_doctor.checks.environment import (
    architecture,
    extensions,
    gpus,
    installs,
    limits,
    nvidia,
    packages,
    smoke_tests,
    storage,
    torch_build,
    variables,
    visible_devices,
)
from verl_doctor.checks.environment.ask import Answer, Failed, stack
from verl_doctor.checks.types import Result
from verl_doctor.knowledge.base import RuleBase
from verl_doctor.quantities import size
from verl_doctor.scan.database import Scanner

GIB = 1 << 30
H100 = {"name": "NVIDIA H100 80GB HBM3", "capability": [9, 0], "memory": 80 * GIB}
PYTHON: Any = {
    "version": "3.12.3",
    "executable": "/env/bin/python",
    "markers": {"python_version": "3.12", "sys_platform": "linux", "platform_machine": "x86_64"},
}


# --- torch ----------------------------------------------------------------------------------


def torch(
    cuda: str = "12.8",
    archs: str = "sm_80 sm_90",
    driver: int = 12080,
    devices: tuple[Any, ...] = (H100,),
    error: str = "",
) -> Answer:
    return Answer(
        {
            "driver": {"cuda": driver, "error": "" if driver else "libcuda.so.1: cannot open"},
            "torch_import": {"version": "2.8.0", "file": "/env/torch/__init__.py", "seconds": 2.0},
            "torch_build": {
                "cuda": cuda,
                "hip": "",
                "archs": archs.split(),
                "cudnn": 91002,
                "nccl": "2.27.3",
                "cxx11_abi": True,
            },
            "devices": {
                "available": bool(devices),
                "devices": list(devices),
                "error": error,
                "warnings": [],
            },
        }
    )


def of_torch(answer: Answer, count: int = 8, hidden: bool = False) -> list[Result]:
    return list(torch_build.check(answer, gpus=count, hidden=hidden))


def test_a_torch_that_fits_is_in_order_and_shows_what_it_was_built_with() -> None:
    (result,) = of_torch(torch())
    assert result.state == "ok"
    assert "NCCL: 2.27.3" in result.seen
    assert "CUDA of the driver: 12.8" in result.seen


def test_gpu_without_code_in_torch_is_named() -> None:
    (result,) = of_torch(torch(archs="sm_70 sm_80 sm_86"))
    assert (result.severity, result.rule) == ("critical", "CUD005")
    assert "NVIDIA H100 80GB HBM3 (sm_90)" in result.text.en
    assert "sm_90" in result.text.zh


@pytest.mark.parametrize(
    ("cuda", "driver", "expected"),
    [
        ("13.0", 12080, [("critical", "CUD026")]),
        ("12.8", 12040, []),  # an older driver of the same major version serves
        ("12.4", 13000, []),
        ("12.8", 0, [("high", "CUD025")]),
        ("", 12080, [("critical", "CUD027")]),
    ],
)
def test_driver_against_the_cuda_of_torch(
    cuda: str, driver: int, expected: list[tuple[str, str]]
) -> None:
    assert faults(of_torch(torch(cuda, driver=driver))) == expected


def test_the_wheel_that_is_advised_is_one_that_the_driver_supports() -> None:
    (result,) = of_torch(torch("13.0", driver=12070))
    assert result.fix is not None
    assert result.fix.run.endswith("/whl/cu126")


def test_a_cpu_torch_without_gpus_is_no_fault() -> None:
    (result,) = of_torch(torch("", driver=0, devices=()), count=0)
    assert result.state == "unknown"


@pytest.mark.parametrize(
    ("said", "rule"),
    [
        ("CUDA initialization: system not yet initialized", "CUD016"),
        ("No CUDA GPUs are available", "CUD025"),
        ("CUDA driver initialization failed, you might not have a CUDA gpu.", "CUD034"),
    ],
)
def test_torch_that_can_not_use_the_gpus(said: str, rule: str) -> None:
    assert faults(of_torch(torch(devices=(), error=said))) == [("critical", rule)]


def test_hidden_gpus_are_told_once_and_elsewhere() -> None:
    assert of_torch(torch(devices=(), error="No CUDA GPUs are available"), hidden=True) == []


@pytest.mark.parametrize(
    ("capability", "sm", "ptx", "expected"),
    [
        ([9, 0], [80, 86], [], False),
        ([8, 9], [80, 86], [], True),
        ([8, 0], [86], [], False),
        ([10, 0], [80, 90], [90], True),
        ([12, 0], [80, 90], [120], True),
        ([12, 0], [100], [121], False),
        ([8, 7], [80], [], True),  # Jetson: nothing is known
    ],
)
def test_which_gpu_runs_which_code(
    capability: list[int], sm: list[int], ptx: list[int], expected: bool
) -> None:
    assert architecture.covers(capability, sm, ptx) is expected


# --- extensions -----------------------------------------------------------------------------


def extension(package: str, path: str, *sm: int) -> Any:
    return {"package": package, "path": path, "sm": list(sm), "ptx": []}


def test_extension_built_for_another_gpu_is_named_with_what_it_holds() -> None:
    found = [extension("flash-attn", "/env/flash_attn_2_cuda.so", 80, 86)]
    results = list(extensions.check(found, [H100], {}))
    assert faults(results) == [("high", "CUD004")]
    assert results[0].seen == ("flash-attn: sm_80 sm_86",)
    assert results[0].fix is not None
    assert results[0].fix.run.startswith("TORCH_CUDA_ARCH_LIST=9.0 FLASH_ATTN_CUDA_ARCHS=90 ")


def test_a_library_for_one_gpu_only_is_no_fault_beside_others() -> None:
    found = [
        extension("vllm", "/env/vllm/_C.abi3.so", 80, 90),
        extension("vllm", "/env/vllm/_flashmla_C.abi3.so", 100),
    ]
    assert faults(extensions.check(found, [H100], {})) == []


@pytest.mark.parametrize(
    ("package", "path", "said", "expected"),
    [
        ("flash-attn", "/env/flash_attn_2_cuda.cpython-312-x86_64-linux-gnu.so",
         "OSError: /env/x.so: undefined symbol: _ZN3c105ErrorC2E", [("high", "HF034")]),
        ("vllm", "/env/vllm/_C.abi3.so",
         "OSError: /env/x.so: undefined symbol: _ZN3c105ErrorC2E", [("high", "VLM021")]),
        ("torchvision", "/env/torchvision/_C.so",
         "OSError: libcudart.so.12: cannot open shared object file", [("high", "INS026")]),
        ("vllm", "/env/vllm/_C.abi3.so",
         "OSError: libcuda.so.1: cannot open shared object file", []),
    ],
)  # fmt: skip
def test_extension_that_does_not_load(
    package: str, path: str, said: str, expected: list[tuple[str, str]]
) -> None:
    loads = {path: Answer(failed={"library": Failed("raised", said)})}
    assert faults(extensions.check([extension(package, path, 90)], [], loads)) == expected


# --- packages and installs ------------------------------------------------------------------


def package(name: str, version: str, *requires: str, **more: str) -> Any:
    path = f"/env/site-packages/{name}-{version}.dist-info"
    return {
        "name": name,
        "version": version,
        "path": path,
        "requires": list(requires),
        "requires_python": "",
        "editable": "",
        "commit": "",
        **more,
    }


def of_packages(*found: Any, **modules: Any) -> list[Result]:
    return list(packages.check(PYTHON, found, modules))


def test_versions_outside_of_what_verl_asks_for() -> None:
    verl = package(
        "verl",
        "0.9.1",
        "numpy>=2.0.0",
        "tensordict!=0.9.0,<=0.10.0,>=0.8.0",
        'vllm==0.24.0; extra == "vllm"',
        'mbridge; extra == "vllm"',
        'uvloop; sys_platform == "win32"',
        requires_python="<3.12",
    )
    results = of_packages(verl, package("tensordict", "0.12.0"), package("vllm", "0.11.0"))
    assert faults(results) == [("medium", ""), ("medium", "INS032")]
    assert results[1].seen == (
        "numpy>=2.0.0: missing",
        "tensordict!=0.9.0,<=0.10.0,>=0.8.0: 0.12.0",
        "vllm==0.24.0: 0.11.0",
    )


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("2.9.1", [("high", "VLM021")]),
        ("2.8.0+cu128", []),
        ("2.8.0a0+34c6371d24.nv25.08", [("medium", "INS032")]),
    ],
)
def test_engine_beside_another_torch_than_its_own(
    version: str, expected: list[tuple[str, str]]
) -> None:
    found = (package("verl", "0.6.1"), package("vllm", "0.11.0", "torch==2.8.0"))
    assert faults(of_packages(*found, package("torch", version))) == expected


def test_a_checkout_without_metadata_is_held_to_the_table_of_releases() -> None:
    checkout = {"file": "/src/verl/__init__.py", "folders": ["/src/verl"], "version": "0.7.2.dev"}
    found = [package("numpy", "2.2.0"), package("ray", "2.50.0"), package("transformers", "4.57.1")]
    (fault, listed) = of_packages(*found, package("tensordict", "0.10.0"), verl=checkout)
    assert fault.seen == ("numpy<2.0.0: 2.2.0",)
    assert "verl 0.7.1" in fault.text.en
    assert listed.state == "ok"


def test_without_verl_the_interpreter_may_be_the_wrong_one() -> None:
    (fault, _) = of_packages(package("torch", "2.8.0"))
    assert (fault.severity, fault.rule) == ("high", "INS010")
    assert fault.fix is not None
    assert "--python" in fault.fix.text.en


def test_the_copy_that_python_finds_first_counts() -> None:
    found = [package("vllm", "0.11.0", "torch==2.8.0"), package("torch", "2.8.0")]
    results = of_packages(package("verl", "0.6.1"), *found, package("torch", "2.9.1"))
    assert faults(results) == []


def test_an_import_of_the_second_copy_is_one_fault_not_two() -> None:
    copies = [package("ray", "2.50.0"), package("ray", "2.43.0", path="/b/ray-2.43.0.dist-info")]
    second: Any = {"file": "/b/ray/__init__.py", "folders": ["/b/ray"], "version": ""}
    assert faults(installs.check(copies, {"ray": second}, {"ray": "ray"})) == [("low", "")]


def test_copies_of_one_version_are_no_fault() -> None:
    copies = [package("ray", "2.50.0"), package("ray", "2.50.0", path="/other/ray.egg-info")]
    ray: Any = {"file": "/env/site-packages/ray/__init__.py", "folders": [], "version": ""}
    assert list(installs.check(copies, {"ray": ray}, {"ray": "ray"})) == []


def test_a_folder_that_hides_a_package_is_told() -> None:
    hiding: Any = {"file": "", "folders": ["/work/vllm"], "version": ""}
    results = installs.check([package("vllm", "0.11.0")], {"vllm": hiding}, {"vllm": "vllm"})
    assert faults(results) == [("high", "INS021")]


# --- GPUs and the variables that choose them ------------------------------------------------


def gpu(index: int, used: int = 0, **more: Any) -> nvidia.Gpu:
    values = {"uncorrected": 0, "mig": False, **more}
    return nvidia.Gpu(index, f"GPU-{index}f", "H100", "570", 80 * GIB, used, **values)


def test_memory_of_other_processes_is_told_with_who_holds_it() -> None:
    other = (nvidia.Process("4711", "python3", 30 * GIB),)
    machine = nvidia.Machine((gpu(0, 4 << 20), gpu(1, 31 * GIB, processes=other)))
    results = list(gpus.check(machine, None, 2))
    assert faults(results) == [("high", "CUD001")]
    assert "pid 4711: python3, 30 GiB" in results[0].seen
    assert faults(gpus.check(machine, "0", 1)) == []  # GPU 1 is not this run's
    assert faults(gpus.check(nvidia.Machine((gpu(0, GIB),)), None, 1)) == []


@pytest.mark.parametrize(
    ("said", "rule"),
    [
        ("Failed to initialize NVML: Driver/library version mismatch", "CUD016"),
        ("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver", "CUD025"),
        ("Unable to determine the device handle for GPU0000:4F:00.0: GPU is lost.", "CUD015"),
    ],
)
def test_failing_nvidia_smi_points_to_its_rule(said: str, rule: str) -> None:
    assert faults(gpus.check(nvidia.Machine(error=said), None, 0)) == [("high", rule)]


def test_uncorrectable_memory_errors() -> None:
    machine = nvidia.Machine((gpu(3, uncorrected=2),))
    assert faults(gpus.check(machine, None, 1)) == [("medium", "CUD015")]


def test_no_nvidia_smi_is_no_fault() -> None:
    assert list(gpus.check(nvidia.Machine(missing=True), None, 0)) == []
    (result,) = gpus.check(nvidia.Machine(missing=True), None, 8)
    assert result.state == "unknown"


def test_gpus_behind_the_first_unknown_entry_are_not_visible() -> None:
    both = (gpu(0), gpu(1))
    assert nvidia.visible_gpus(both, "1,7,0") == (gpu(1),)
    assert nvidia.visible_gpus(both, None) == both
    assert nvidia.visible_gpus(both, "GPU-") is None  # both begin like this


def test_minus_one_hides_all_gpus_also_where_they_are_not_known() -> None:
    assert visible_devices.hides_all({"CUDA_VISIBLE_DEVICES": "-1"}, ())
    assert not visible_devices.hides_all({"CUDA_VISIBLE_DEVICES": "9"}, ())
    assert not visible_devices.hides_all({}, ())


def of_variables(*, installed: dict[str, str] | None = None, **values: str) -> list[Result]:
    return list(
        variables.check(
            values,
            gpus=(gpu(0), gpu(1)),
            interfaces=("eth0", "ib0", "lo"),
            installed=installed or {},
        )
    )


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"CUDA_VISIBLE_DEVICES": ""}, [("critical", "CUD025")]),
        ({"CUDA_VISIBLE_DEVICES": "-1"}, [("critical", "CUD025")]),
        ({"CUDA_VISIBLE_DEVICES": "4"}, [("critical", "CUD025")]),
        ({"CUDA_VISIBLE_DEVICES": "0,1,2"}, [("high", "CUD018")]),
        ({"CUDA_VISIBLE_DEVICES": "1,0"}, []),
        ({"CUDA_VISIBLE_DEVICES": "GPU-1f"}, []),
        ({"CUDA_VISIBLE_DEVICES": "MIG-aaaa"}, []),
        ({"CUDA_VISIBLE_DEVICES": "0", "ROCR_VISIBLE_DEVICES": "0"}, [("critical", "")]),
        ({"NCCL_SOCKET_IFNAME": "ens3"}, [("high", "DST005")]),
        ({"NCCL_SOCKET_IFNAME": "=eth"}, [("high", "DST005")]),
        ({"NCCL_SOCKET_IFNAME": "eth,ib"}, []),
        ({"NCCL_SOCKET_IFNAME": "^docker0"}, []),
        ({"GLOO_SOCKET_IFNAME": "eth"}, [("high", "DST021")]),
        ({"GLOO_SOCKET_IFNAME": "eth0"}, []),
        ({"LD_LIBRARY_PATH": "/usr/lib:/usr/local/cuda/lib64/stubs/"}, [("high", "CUD025")]),
        ({"http_proxy": "http://p:3"}, [("low", "")]),
        ({"http_proxy": "http://p:3", "no_proxy": "localhost"}, []),
        ({"NCCL_P2P_DISABLE": "1"}, [("low", "")]),
        ({"NCCL_P2P_DISABLE": "0"}, []),
    ],
)
def test_values_of_variables(values: dict[str, str], expected: list[tuple[str, str]]) -> None:
    assert faults(of_variables(**values)) == expected


def test_traps_that_depend_on_what_is_installed() -> None:
    segments = {"PYTORCH_CUDA_ALLOC_CONF": "max_split_size_mb:128,expandable_segments:True"}
    assert faults(of_variables(**segments)) == []
    assert faults(of_variables(installed={"vllm": "0.18.1"}, **segments)) == [("high", "VLM030")]
    assert faults(of_variables(installed={"vllm": "0.24.0"}, **segments)) == []
    transfer = {"HF_HUB_ENABLE_HF_TRANSFER": "1"}
    old, new = {"huggingface-hub": "0.36.0"}, {"huggingface-hub": "1.2.0"}
    assert faults(of_variables(installed=old, **transfer)) == [("high", "")]
    assert faults(of_variables(installed={**old, "hf-transfer": "0.1"}, **transfer)) == []
    assert faults(of_variables(installed=new, **transfer)) == []


def test_secrets_are_not_shown_and_other_values_are() -> None:
    (listed,) = of_variables(
        HF_TOKEN="plainsecret",
        WANDB_API_KEY="0123456789",
        TOKENIZERS_PARALLELISM="false",
        HTTPS_PROXY="http://user:pass@proxy:3128",
        PATH="/bin",
    )
    assert listed.seen == (
        "HF_TOKEN=***",
        "HTTPS_PROXY=http://***@proxy:3128",
        "TOKENIZERS_PARALLELISM=false",
        "WANDB_API_KEY=***",
    )


# --- the machine ----------------------------------------------------------------------------

ROOMY: dict[str, Any] = {
    "limits": {
        "nofile": [1024, 1048576],
        "nproc": [None, None],
        "memlock": [65536, 65536],
        "exempt": [],
    },
    "cpus": {"machine": 192, "allowed": 192, "told": False},
    "shared_memory": {"total": 64 * GIB, "free": 60 * GIB},
    "memory": {"total": 2000 * GIB, "available": 1900 * GIB, "limit": None, "used": None},
    "processes": {"limit": None, "used": None},
    "network": {"interfaces": ["eth0", "lo"], "infiniband": []},
    "clock": {"now": 1_790_000_000.0, "newest": 1_780_000_000.0, "package": "torch"},
}


@pytest.mark.parametrize(
    ("part", "values", "expected"),
    [
        ("limits", {}, []),
        ("limits", {"nofile": [1024, 4096]}, [("medium", "SYS004")]),
        ("limits", {"nproc": [4096, 4096]}, [("medium", "RAY046")]),
        ("limits", {"nproc": [4096, 4096], "exempt": ["nproc"]}, []),
        ("processes", {"limit": 2048, "used": 100}, [("medium", "RAY046")]),
        ("processes", {"limit": 65536, "used": 100}, []),
        ("cpus", {"allowed": 16}, [("medium", "RAY046")]),
        ("cpus", {"allowed": 16, "told": True}, []),
        ("shared_memory", {"total": 64 << 20, "free": 64 << 20}, [("high", "RAY048")]),
        ("shared_memory", {"total": 64 * GIB, "free": 1 << 20}, [("high", "SYS002")]),
        ("shared_memory", {"total": 8 * GIB, "free": 8 * GIB}, [("low", "RAY048")]),
        ("memory", {"limit": 100 * GIB, "used": 95 * GIB}, [("high", "RAY010")]),
        ("memory", {"available": 20 * GIB}, [("high", "RAY010")]),
        ("network", {"infiniband": ["mlx5_0"]}, [("medium", "DST008")]),
        ("clock", {"now": 1_600_000_000.0}, [("medium", "")]),
    ],
)
def test_limits(part: str, values: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    found = {**ROOMY, part: {**ROOMY[part], **values}}
    assert faults(limits.check(found)) == expected


def test_cores_of_the_job_are_what_the_fix_tells_ray() -> None:
    (fault,) = limits.check({**ROOMY, "cpus": {**ROOMY["cpus"], "allowed": 16}})
    assert fault.fix is not None
    assert fault.fix.set == "ray_kwargs.ray_init.num_cpus=16"


def test_nothing_is_said_of_what_was_not_told() -> None:
    assert list(limits.check({})) == []


def folder(**values: Any) -> Answer:
    roomy = {
        "path": "/data/run",
        "nearest": "/data",
        "directory": True,
        "writable": True,
        "total": 1000 * GIB,
        "free": 500 * GIB,
        "inodes": 1_000_000,
        "inodes_free": 900_000,
        "type": "ext4",
    }
    return Answer({"folder": {**roomy, **values}})


@pytest.mark.parametrize(
    ("writers", "values", "expected"),
    [
        ((), {}, []),
        ((), {"writable": False}, [("high", "SYS003")]),
        (("datasets",), {"writable": False}, [("medium", "DAT027")]),
        ((), {"directory": False}, [("high", "SYS014")]),
        ((), {"free": 5 * GIB}, [("high", "SYS001")]),
        ((), {"free": 20 * GIB}, []),
        (("TMPDIR", "Ray"), {"free": 20 * GIB}, [("medium", "RAY015")]),
        (("Triton",), {"free": 20 * GIB}, []),
        ((), {"inodes_free": 12}, [("high", "SYS001")]),
        ((), {"inodes": 0, "inodes_free": 0}, []),  # btrfs and others have no fixed number
    ],
)
def test_folders(
    writers: tuple[str, ...], values: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    results = storage.check({"/data/run": folder(**values)}, {"/data/run": writers})
    assert faults(results) == expected


def test_a_mount_that_hangs_is_a_fault() -> None:
    hung = Answer(failed={"folder": Failed("timeout", "20 s")})
    assert faults(storage.check({"/nfs/run": hung}, {})) == [("high", "SYS011")]


def test_caches_follow_the_variables_that_move_them() -> None:
    assert storage.caches({"HOME": "/h", "HF_HOME": "/hf", "RAY_TMPDIR": "/r"}) == {
        "/tmp": ("TMPDIR", "torch.compile"),
        "/r": ("Ray",),
        "/hf/hub": ("Hugging Face",),
        "/hf/datasets": ("datasets",),
        "/h/.triton/cache": ("Triton",),
        "/h/.cache/vllm": ("vLLM",),
    }
    assert "/hf/hub" not in storage.caches({"HOME": "/h", "HF_HOME": "/hf", "HF_HUB_OFFLINE": "1"})


def test_temp_dir_too_long_for_sockets() -> None:
    assert list(storage.socket_path({"RAY_TMPDIR": "/tmp/r1000"})) == []
    longest = "/scratch/" + "x" * 36
    assert list(storage.socket_path({"TMPDIR": longest})) == []
    assert faults(storage.socket_path({"TMPDIR": longest + "x"})) == [("critical", "RAY051")]


# --- smoke tests ----------------------------------------------------------------------------


def test_of_a_hang_the_main_thread_is_shown_and_of_a_crash_the_one_that_crashed() -> None:
    worker = ["Thread 0x01 (most recent call first):", '  File "/w.py", line 1 in pump']
    main = ["Thread 0x02 (most recent call first):", '  File "/m.py", line 9 in <module>']
    assert stack(["Timeout (0:01:48)!", *worker, *main]) == ('File "/m.py", line 9 in <module>',)
    crash = ["Current thread 0x01 (most recent call first):", worker[1]]
    dump = ["Fatal Python error: Segmentation fault", *crash, *main]
    assert stack(dump) == ('File "/w.py", line 1 in pump',)
    assert stack(["terminate called"]) == ("terminate called",)


def test_smoke_tests_that_were_not_run_say_why() -> None:
    (result,) = smoke_tests.check(
        {"kernel": Answer({"kernel": {"what": "", "skipped": "gpu"}}, seconds=1.0)}
    )
    assert (result.state, result.text.en) == (
        "unknown",
        "Not run: a kernel on every GPU (no GPU here).",
    )


@pytest.mark.parametrize(
    ("failed", "rule"),
    [
        (Failed("raised", "OutOfMemoryError: CUDA out of memory. Tried to allocate"), "CUD001"),
        (Failed("signal", "SIGSEGV"), "SYS023"),
        (Failed("timeout", "120 s"), "HNG001"),
        (Failed("raised", "ImportError: x.so: undefined symbol: _ZN3c10"), "INS023"),
    ],
)
def test_failing_smoke_tests_point_to_their_rules(failed: Failed, rule: str) -> None:
    answers = {"flash_attention": Answer(failed={"flash_attention": failed})}
    assert faults(smoke_tests.check(answers)) == [("critical", rule)]


# --- all of them ----------------------------------------------------------------------------


def test_rules_that_checks_name_exist(shipped: tuple[RuleBase, Scanner]) -> None:
    named = {
        rule
        for file in Path(environment.__file__).parent.glob("*.py")
        for rule in re.findall(r'"([A-Z]{2,3}\d{3})"', file.read_text())
    }
    assert len(named) > 30
    assert not [rule for rule in sorted(named) if rule not in shipped[0]]


NOT_FOUND = "cannot open shared object file: No such file or directory"
IMPORT_ERRORS = {
    "ModuleNotFoundError: No module named 'torch'": "INS010",
    "ImportError: /e/lib/libtorch_cuda.so: undefined symbol: ncclCommWindowRegister": "INS024",
    "ImportError: /e/fused.so: undefined symbol: _ZN3c105ErrorC2ENS_14SourceLocationE": "INS023",
    f"ImportError: libcuda.so.1: {NOT_FOUND}": "INS027",
    f"ImportError: libcudart.so.12: {NOT_FOUND}": "INS026",
    f"OSError: libnccl.so.2: {NOT_FOUND}": "INS026",
    f"ImportError: libGL.so.1: {NOT_FOUND}": "INS025",
    "ImportError: /lib64/libc.so.6: version `GLIBC_2.32' not found (required by /e/x.so)": "INS030",
    "ValueError: libcublas.so.*[0-9] not found in the system path ['/a', '/b']": "INS029",
    "AttributeError: partially initialized module 'torch' has no attribute 'nn' "
    "(most likely due to a circular import)": "INS020",
}


@pytest.mark.parametrize("message", IMPORT_ERRORS)
def test_the_rule_named_is_the_one_that_a_log_would_get(message: str, doctor: Doctor) -> None:
    frame = '  File "/w/main.py", line 3, in <module>\n    import torch\n'
    log = f"Traceback (most recent call last):\n{frame}{message}\n"
    assert doctor(log.encode()).findings[0].rule == IMPORT_ERRORS[message]
    answer = Answer(failed={"torch_import": Failed("raised", message)})
    assert faults(of_torch(answer)) == [("critical", IMPORT_ERRORS[message])]


@pytest.mark.parametrize(
    ("count", "expected"),
    [(64 << 20, "64 MiB"), (1023, "1023 B"), (1.5 * (1 << 40), "1.5 TiB"), (80 * GIB, "80 GiB")],
)
def test_sizes(count: float, expected: str) -> None:
    assert size(count) == expected
