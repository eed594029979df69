"""How the logs of the installation rules in made/python were made: one entry a log.

As in python_programs.py. `$V/dl` is a folder of downloaded wheels and source archives, and pip is
kept off the network (`--no-index`); `venv: bare-3.11` is an environment with nothing but pip.
"""

BARE = "python 3.11"
MAIN = "verl 0.9.1, torch 2.13.0, transformers 4.57.6, python 3.11"
PIP = (
    "export PIP_CONFIG_FILE=/dev/null PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INDEX=1 "
    'PIP_FIND_LINKS=$PWD/wheels PIP_ROOT_USER_ACTION=ignore\nln -s "$V/dl" wheels\n'
)
BUILD_NEWER = (
    "mkdir newer\necho '{1} {{ global: {2}; }};' > v.map\n"
    "echo 'long {2}(void) {{ return 0; }}' > s.c\n"
    "echo 'long {2}(void); long score(void) {{ return {2}(); }}' > e.c\n"
    "gcc -shared -fPIC -nostdlib -Wl,-soname,{0} -Wl,--version-script=v.map -o newer/{0} s.c\n"
    "gcc -shared -fPIC -nostdlib -o libfastscore.so e.c newer/{0}\n"
    'python train.py\necho "exit code $?"'
)


def job(
    rule: str,
    how: str,
    train: str = "",
    run: str = "python train.py",
    libs: str = BARE,
    **more: object,
) -> dict[str, object]:
    """One entry: the rule it shows, one sentence, the program and the shell script."""
    files = {"train.py": train} if train else {}
    files.update(more.pop("more_files", {}))  # type: ignore[call-overload]
    return {"rule": rule, "how": how, "libraries": libs, "files": files, "run": run, **more}


PROGRAMS = {
    "submodule-datapipes": job(
        "INS002",
        "torchdata.datapipes, which torchdata 0.10 removed, is imported",
        """
from torchdata.datapipes.iter import FileLister

print(list(FileLister(".", "*.parquet")))
""",
        libs="torchdata 0.11.0, python 3.11",
    ),
    "submodule-shadowed": job(
        "INS002",
        "a file evaluate.py of the project hides the package whose part is imported",
        run="python train.py",
        libs="python 3.13",
        venv="bare-3.13",
        more_files={
            "train.py": "from evaluate.loading import load\n\nprint(load('accuracy'))\n",
            "evaluate.py": "def helper():\n    return 1\n",
        },
    ),
    "python-m-verl": job(
        "INS003",
        "python -m verl.trainer.main_ppo in an environment without verl",
        run="set -x\npython -m verl.trainer.main_ppo data.train_files=train.parquet "
        "trainer.n_gpus_per_node=8",
        venv="bare-3.11",
    ),
    "python-m-torchrun": job(
        "INS003",
        "python -m vllm in an environment without it",
        run="set -x\npython3 -m vllm serve Qwen/Qwen3-0.6B",
        libs="python 3.12",
        venv="bare-3.12",
    ),
    "import-yaml": job(
        "INS004",
        "import yaml without PyYAML",
        """
import argparse
import yaml

parser = argparse.ArgumentParser()
parser.add_argument("--config", default="sft.yaml")
print(yaml.safe_load(open(parser.parse_args().config)))
""",
        venv="bare-3.11",
    ),
    "import-cv2": job(
        "INS004",
        "a vision preprocessing imports cv2, which no package of the environment brings",
        run="python preprocess.py --split train",
        libs="pillow 13.0.0, python 3.11",
        more_files={
            "preprocess.py": """
import argparse
from images import load

parser = argparse.ArgumentParser()
parser.add_argument("--split")
print(parser.parse_args(), load("a.png"))
""",
            "images.py": """
from PIL import Image
import cv2


def load(path):
    return cv2.cvtColor(cv2.imread(path), cv2.COLOR_BGR2RGB) if path else Image.new("RGB", (4, 4))
""",
        },
    ),
    "import-distutils": job(
        "INS007",
        "distutils is imported under Python 3.12",
        """
import sys
from distutils.version import LooseVersion

print(LooseVersion(sys.version) > LooseVersion("3.10"))
""",
        libs="python 3.12",
        venv="bare-3.12",
    ),
    "import-cgi": job(
        "INS007",
        "cgi is imported under Python 3.13",
        """
import cgi

print(cgi.parse_header("text/html; charset=utf-8"))
""",
        libs="python 3.13",
        venv="bare-3.13",
    ),
    "verl-fsdp-sft-trainer": job(
        "INS008",
        "the SFT trainer's old name with verl 0.9.1",
        run="set -x\npython3 -m verl.trainer.fsdp_sft_trainer data.train_files=train.parquet "
        "model.partial_pretrain=Qwen/Qwen2.5-0.5B-Instruct",
        libs="verl 0.9.1, python 3.11",
    ),
    "verl-fsdp-workers": job(
        "INS008",
        "a recipe imports the legacy FSDP workers from verl 0.9.1",
        """
from verl.single_controller.ray import RayWorkerGroup
from verl.workers.fsdp_workers import ActorRolloutRefWorker

print(RayWorkerGroup, ActorRolloutRefWorker)
""",
        libs=MAIN,
    ),
    "import-vllm": job(
        "VRL062",
        "verl's vLLM server class is imported without vllm",
        """
from verl.workers.rollout.vllm_rollout.vllm_async_server import vLLMHttpServer

print(vLLMHttpServer)
""",
        libs=MAIN,
    ),
    "import-torch": job(
        "INS010",
        "a training script in an environment without torch",
        """
import os
import torch

print(torch.cuda.device_count(), os.getcwd())
""",
        venv="bare-3.11",
    ),
    "metadata-require-version": job(
        "INS014",
        "transformers' require_version for a package that is not installed",
        """
from transformers.utils.versions import require_version

require_version("flash-attn>=2.1.0")
print("flash-attn found")
""",
        libs="transformers 4.57.6, python 3.11",
    ),
    "metadata-own-version": job(
        "INS014",
        "importlib.metadata.version of a package on PYTHONPATH that was never installed",
        run="PYTHONPATH=src python train.py",
        libs="python 3.12",
        venv="bare-3.12",
        more_files={
            "train.py": "from mytrainer import __version__\n\nprint(__version__)\n",
            "src/mytrainer/__init__.py": "from importlib.metadata import version\n\n"
            '__version__ = version("mytrainer")\n',
        },
    ),
    "python-m-verl-dependency": job(
        "INS001",
        "verl was installed without its dependencies and is started with python -m",
        run="python -m venv env\n. env/bin/activate\n"
        + PIP
        + "pip install -q --no-deps verl==0.9.1 packaging\nset -x\n"
        "python -m verl.trainer.main_ppo data.train_files=train.parquet",
        libs="verl 0.9.1, python 3.11",
    ),
    "import-sglang": job(
        "INS010",
        "verl's SGLang rollout is imported without sglang",
        """
from verl.workers.rollout.sglang_rollout.sglang_rollout import ServerAdapter

print(ServerAdapter)
""",
        libs=MAIN,
    ),
    "import-cached-download": job(
        "INS015",
        "huggingface_hub.cached_download, removed in 0.26, is imported",
        """
from huggingface_hub import cached_download, hf_hub_url

print(cached_download(hf_hub_url("gpt2", "config.json")))
""",
        libs="huggingface_hub 0.36.2, python 3.11",
    ),
    "import-tensordict-name": job(
        "INS015",
        "a name that tensordict 0.10 does not have is imported by a recipe",
        run="python -m recipe.main",
        libs="tensordict 0.10.0, torch 2.13.0, python 3.11",
        more_files={
            "recipe/__init__.py": "",
            "recipe/main.py": "from recipe.buffers import Buffer\n\nprint(Buffer)\n",
            "recipe/buffers.py": "from tensordict import TensorDict, lazy_legacy_stack\n\n"
            "Buffer = TensorDict\n",
        },
    ),
    "shadow-datasets-file": job(
        "INS020",
        "a file datasets.py beside the script hides the package",
        run="python datasets.py",
        libs="python 3.11",
        more_files={
            "datasets.py": """
from datasets import load_dataset

print(load_dataset("json", data_files="train.jsonl"))
"""
        },
    ),
    "shadow-datasets-313": job(
        "INS020",
        "a file random.py beside the script hides the standard module, Python 3.13",
        run="python train.py",
        libs="python 3.13",
        venv="bare-3.13",
        more_files={
            "train.py": "import random\n\nprint(random.sample(range(8), 3))\n",
            "random.py": "import random\n\nSEED = random.randint(0, 9)\n",
        },
    ),
    "circular-own-modules": job(
        "INS020",
        "two modules of a project import each other at their top",
        run="python train.py",
        libs="python 3.11",
        more_files={
            "train.py": "from rewards import compute_score\n\nprint(compute_score('7', '7'))\n",
            "rewards.py": "from parsing import extract\n\n\ndef compute_score(text, truth):\n"
            "    return float(extract(text) == truth)\n\n\nPATTERN = r'-?[0-9]+'\n",
            "parsing.py": "import re\n\nfrom rewards import PATTERN\n\n\ndef extract(text):\n"
            "    return re.findall(PATTERN, text)[-1]\n",
        },
    ),
    "folder-wandb": job(
        "INS021",
        "the run folder wandb of an earlier offline run lies in the working directory",
        """
from wandb import init

init(project="grpo", mode="offline")
""",
        venv="bare-3.11",
        setup="mkdir -p wandb/offline-run-20261130_101112-a1b2c3d4",
    ),
    "folder-data": job(
        "INS021",
        "a folder tools with scripts but without the package's modules is on the path",
        run="python train.py",
        libs="python 3.13",
        venv="bare-3.13",
        more_files={
            "train.py": "from evaluate import load\n\nprint(load('accuracy'))\n",
            "evaluate/results.txt": "0.5\n",
        },
    ),
    "relative-import": job(
        "INS022",
        "a recipe's main file is started by its path",
        run="python recipe/dapo/main_dapo.py",
        libs="python 3.11",
        more_files={
            "recipe/dapo/main_dapo.py": "from .dapo_trainer import RayDAPOTrainer\n\n"
            "print(RayDAPOTrainer)\n",
            "recipe/dapo/dapo_trainer.py": "class RayDAPOTrainer:\n    pass\n",
        },
    ),
    "relative-beyond-top": job(
        "INS022",
        "a relative import that leaves the package, Python 3.12",
        run="python -m rewards.run",
        libs="python 3.12",
        venv="bare-3.12",
        more_files={
            "rewards/__init__.py": "",
            "rewards/run.py": "from ..common import parse\n\nprint(parse)\n",
            "common.py": "def parse(text):\n    return text\n",
        },
    ),
    "torchcodec-cuda-libraries": job(
        "INS026",
        "torchcodec 0.17.0, whose PyPI wheel is built for CUDA 13, beside a CPU build of torch",
        """
from torchcodec.decoders import VideoDecoder

print(VideoDecoder("clip.mp4"))
""",
        run='pip install -q --no-deps --no-index --target extra "$V"/dl/torchcodec-*.whl\n'
        "PYTHONPATH=extra python train.py",
        libs="torchcodec 0.17.0, torch 2.13.0, python 3.11",
    ),
    "libaio-ctypes": job(
        "INS025",
        "an offload module loads libaio, which the image lacks",
        """
import ctypes


class AsyncIO:
    def __init__(self):
        self.lib = ctypes.CDLL("libaio.so.1")


print("offload to nvme", flush=True)
AsyncIO()
""",
        libs="python 3.12",
        venv="bare-3.12",
    ),
    "glibc-too-old": job(
        "INS030",
        "an extension that was linked on a newer system (stub libc with a version 2.38) is loaded "
        "under glibc 2.36",
        """
import ctypes

print("load the scorer", flush=True)
lib = ctypes.CDLL("./libfastscore.so")
""",
        run=BUILD_NEWER.format("libc.so.6", "GLIBC_2.38", "__isoc23_strtol"),
        libs="glibc 2.36, gcc 12, python 3.11",
    ),
    "glibcxx-too-old": job(
        "INS030",
        "the same with a newer libstdc++ (stub with a version GLIBCXX_3.4.32), Python 3.13",
        """
import ctypes

print("load the scorer", flush=True)
lib = ctypes.CDLL("./libfastscore.so")
""",
        run=BUILD_NEWER.format("libstdc++.so.6", "GLIBCXX_3.4.32", "_ZSt21ios_base_library_initv"),
        libs="gcc 12, python 3.13",
        venv="bare-3.13",
    ),
    "libcuda-memory-saver": job(
        "INS027",
        "torch_memory_saver (of SGLang) loads its library on a machine without NVIDIA driver",
        """
import torch
from torch_memory_saver import torch_memory_saver

torch_memory_saver.hook_mode = "torch"
print("torch", torch.__version__, flush=True)
with torch_memory_saver.region(tag="weights"):
    weights = torch.zeros(1024)
""",
        run='pip install -q --no-deps --no-index --target extra "$V"/dl/torch_memory_saver-*.whl\n'
        "PYTHONPATH=extra python train.py",
        libs="torch_memory_saver 0.0.10, torch 2.13.0, python 3.11",
    ),
    "torchvision-mismatch": job(
        "INS031",
        "torchvision 0.20.0 beside torch 2.13.0",
        """
from torchvision import transforms

print(transforms.Resize(224))
""",
        run='pip install -q --no-deps --no-index --target extra "$V"/dl/torchvision-*.whl\n'
        "PYTHONPATH=extra python train.py",
        libs="torchvision 0.20.0, torch 2.13.0, python 3.11",
    ),
    "pip-conflict": job(
        "INS032",
        "pip installs numpy 1.26.4 into an environment with verl 0.9.1",
        run="python -m venv env\n. env/bin/activate\n"
        + PIP
        + "pip install --no-deps verl==0.9.1\npip install numpy==1.26.4",
        libs="pip 23.2.1, verl 0.9.1, numpy 1.26.4, python 3.11",
    ),
    "pip-check": job(
        "INS032",
        "pip check where scipy 1.10.1 stands beside numpy 2.2.6",
        run=PIP + "set -x\npip check",
        libs="pip 23.2.1, scipy 1.10.1, numpy 2.2.6, python 3.11",
        venv="npmix",
    ),
    "pip-no-matching": job(
        "INS033",
        "a torch version that the package source does not have",
        run=PIP + "pip install 'verl==0.9.1' 'torch==2.3.1'",
        libs="pip 23.2.1, python 3.11",
        venv="bare-3.11",
    ),
    "pip-conflicting-pins": job(
        "INS033",
        "two pins that contradict each other: verl 0.9.1 wants numpy>=2",
        run=PIP + "pip install --dry-run verl==0.9.1 numpy==1.26.4",
        libs="pip 23.2.1, verl 0.9.1, python 3.11",
    ),
    "build-flash-attn-isolated": job(
        "INS041",
        "flash-attn from source under build isolation: its setup.py imports torch",
        run=PIP + "pip install --no-deps flash-attn==2.7.4.post1",
        libs="pip 23.2.1, flash-attn 2.7.4.post1, python 3.11",
    ),
    "build-flash-attn-no-nvcc": job(
        "TOR043",
        "flash-attn from source without build isolation and without CUDA toolkit",
        run=PIP + "pip install --no-deps --no-build-isolation flash-attn==2.7.4.post1",
        libs="pip 23.2.1, flash-attn 2.7.4.post1, torch 2.13.0, python 3.11",
    ),
    "build-flash-attn-pip26": job(
        "INS041",
        "the isolated build of flash-attn with pip 26.0",
        run="python -m venv env\n. env/bin/activate\n"
        + PIP
        + "pip install -q --upgrade pip\npip install --no-deps flash-attn==2.7.4.post1",
        libs="pip 26.0, flash-attn 2.7.4.post1, python 3.11",
    ),
    "build-extension-no-header": job(
        "INS034",
        "a C extension whose header is not installed",
        run="python -m venv env\n. env/bin/activate\n" + PIP + "pip install --no-deps ./fastscore",
        libs="pip 23.2.1, setuptools 80.9.0, gcc 12, python 3.11",
        more_files={
            "fastscore/setup.py": "from setuptools import Extension, setup\n\n"
            "setup(name='fastscore', version='0.1', ext_modules=[Extension('fastscore', "
            "['score.c'])])\n",
            "fastscore/pyproject.toml": "[build-system]\nrequires = ['setuptools']\n"
            "build-backend = 'setuptools.build_meta'\n",
            "fastscore/score.c": "#include <Python.h>\n#include <cuda_runtime.h>\n",
        },
    ),
    "pip-extra-unknown": job(
        "INS035",
        "an extra that ray does not have",
        run=PIP + "pip install 'ray[default,vllm]'",
        libs="pip 23.2.1, ray 2.60.0, python 3.11",
    ),
    "git-clone-wrong": job(
        "INS036",
        "git clone of an address for which the (loopback) server answers 404",
        run="python -m http.server 18081 --bind 127.0.0.1 > /dev/null 2>&1 &\nsleep 2\n"
        'git clone http://127.0.0.1:18081/verl-org/verl.git\necho "exit code $?"\nkill %1',
        libs="git 2.39",
        venv="bare-3.11",
    ),
    "verl-name-missing": job(
        "INS038",
        "an old recipe imports compute_reward, which verl 0.9.1 no longer has",
        """
from verl.trainer.ppo.reward import compute_reward, load_reward_manager

print(compute_reward, load_reward_manager)
""",
        libs=MAIN,
    ),
    "verl-name-missing-reward": job(
        "INS038",
        "an old recipe imports a reward name from verl 0.9.1",
        run="python -m recipe.main",
        libs=MAIN,
        more_files={
            "recipe/__init__.py": "",
            "recipe/main.py": "from recipe.trainer import fit\n\nfit()\n",
            "recipe/trainer.py": "from verl.trainer.ppo.reward import compute_reward_async\n\n\n"
            "def fit():\n    print(compute_reward_async)\n",
        },
    ),
}
