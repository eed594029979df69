"""All checks by name, with what each looks at. A rule names them in its `evidence`."""

from __future__ import annotations

from ..model import Text

SUBJECTS = {
    "config.keys": Text(
        "unknown, renamed and ignored keys of the run's settings",
        "训练参数中未知、已改名或不生效的键",
    ),
    "config.values": Text(
        "values of another type than they look, paths that nothing expands",
        "类型与写法不符的取值、不会被展开的路径",
    ),
    "config.batch": Text(
        "whether the batch sizes fit together, by verl's own assertions",
        "批大小是否相互匹配（按 verl 自身的断言）",
    ),
    "config.traps": Text(
        "settings that contradict each other or teach nothing", "相互矛盾或学不到东西的设置"
    ),
    "config.memory": Text(
        "the memory of a GPU by phase, estimated from the model's config.json",
        "各阶段单卡显存估算（依据模型的 config.json）",
    ),
    "data.files": Text(
        "the data files named by the settings: whole, readable, with the columns asked for",
        "参数中的数据文件：是否完整、可读、列名相符",
    ),
    "data.rows": Text(
        "a sample of their rows: messages, ground truth, sources, repeats",
        "抽样检查其中的行：消息、ground truth、data_source、重复",
    ),
    "data.lengths": Text(
        "prompts above data.max_prompt_length, by the model's tokenizer",
        "超过 data.max_prompt_length 的 prompt（用模型自带 tokenizer 计数）",
    ),
    "model.folder": Text(
        "the model folder's config, tokenizer and chat template",
        "模型目录的 config、tokenizer 与 chat template",
    ),
    "model.weights": Text(
        "its weight files: all there, as long as their headers say",
        "权重文件：是否齐全、长度与文件头一致",
    ),
    "model.checkpoint": Text(
        "a checkpoint that verl wrote: the files of all ranks",
        "verl 写出的 checkpoint：各 rank 的文件是否齐全",
    ),
    "env.python": Text("whether the interpreter starts", "解释器能否启动"),
    "env.packages": Text(
        "versions of verl and what it needs, by their own metadata",
        "verl 及其依赖的版本（依据各包元数据）",
    ),
    "env.installs": Text(
        "which copy of each package an import would find", "import 各包时实际命中的安装位置"
    ),
    "env.torch": Text(
        "torch, its CUDA, the driver, the GPUs: imports torch",
        "torch 及其 CUDA、驱动、GPU（会 import torch）",
    ),
    "env.extensions": Text(
        "compiled kernels (flash-attn, vLLM, …): their GPU architectures, whether they load",
        "编译扩展（flash-attn、vLLM 等）支持的 GPU 架构、能否加载",
    ),
    "env.gpus": Text(
        "nvidia-smi: memory in use and by whom, memory errors",
        "nvidia-smi：显存占用及其进程、显存错误",
    ),
    "env.variables": Text(
        "NCCL_*, TORCH_*, CUDA_*, RAY_* and other variables",
        "NCCL_*、TORCH_*、CUDA_*、RAY_* 等环境变量",
    ),
    "env.limits": Text(
        "open files, processes, locked memory, /dev/shm, memory of the cgroup, clock",
        "文件句柄数、进程数、锁页内存、/dev/shm、cgroup 内存、时钟",
    ),
    "env.folders": Text(
        "caches and temporary folders: room, inodes, whether they can be written",
        "缓存与临时目录：剩余空间、inode、可写性",
    ),
}
"""Check -> what it looks at, in the order in which they are run."""

GROUPS = tuple(dict.fromkeys(name.partition(".")[0] for name in SUBJECTS))
"""`config`, `data`, `model`, `env`."""
