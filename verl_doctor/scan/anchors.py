"""What the engine itself looks for in a chunk, beside the texts of the rules.

Each anchor is a hyperscan expression. It only has to find the place: Python decides what it is.
"""

from __future__ import annotations

import re
from typing import Final

TRACEBACK: Final = 1
FRAME: Final = 2
EXCEPTION: Final = 3
STEP: Final = 4
SAMPLE: Final = 5
ERROR_LINE: Final = 6
DONE: Final = 7
PHASE: Final = 8
CONFIG: Final = 9
OVERRIDES: Final = 10
ELASTIC: Final = 11
SIGNAL: Final = 12
NCCL: Final = 13
REPEATED: Final = 14
METRICS: Final = 15
IGNORED: Final = 16
FACT: Final = 17
WARNING: Final = 18
CHECKPOINT: Final = 19
COLOURED: Final = 20

FIRST_RULE: Final = 100
"""Ids from here on belong to rule texts."""

LOGGING_ERROR: Final = "--- Logging error ---"
"""`logging.Handler.handleError`: a record could not be printed, and the program goes on."""

EXCEPTION_ENDINGS: Final = (
    "Error",
    "Exception",
    "Interrupt",
    "Timeout",
    "Unavailable",
    "Removed",
    "Died",
    "Dead",
    "Lost",
    "Crashed",
    "Failed",
    "Failure",
    "NotFound",
    "Resources",
    "Refused",
    "NotMet",
    "Exit",
    "Invalid",
    "Unsupported",
    "Fault",
    "Killed",
    "Empty",
)
"""How the names of exceptions end; a name of another shape is only known inside a traceback."""

PHASE_TEXTS: Final[dict[str, str]] = {
    "ray init kwargs: {": "launch",
    "Started a local Ray instance": "launch",
    "Connecting to existing Ray cluster": "launch",
    "Connected to Ray cluster": "launch",
    "TaskRunner hostname: ": "config",
    "[validate_config] All configuration checks passed": "config",
    "Using dataset class: ": "data",
    "dataset len: ": "data",
    "Filtering prompts longer than": "data",
    "Size of train dataloader: ": "data",
    "train and validate dataloader initialized": "data",
    "Total training steps: ": "model_load",
    "colocated worker base class": "model_load",
    "bind role ": "model_load",
    "create worker group": "model_load",
    "Model config after override": "model_load",
    "Loading checkpoint shards": "model_load",
    "Loading weights": "model_load",
    "wrap_policy: functools.partial": "model_load",
    "num_warmup_steps: ": "model_load",
    "initialising workers": "model_load",
    "initializing workers": "model_load",
    "Initializing a V1 LLM engine": "engine_init",
    "Initializing an LLM engine": "engine_init",
    "Starting to load model": "engine_init",
    "GPU KV cache size": "engine_init",
    "Capturing CUDA graph": "engine_init",
    "Capture cuda graph begin": "engine_init",
    "Load weight begin": "engine_init",
    "AgentLoopManager: [": "engine_init",
    "LLMServerManager: [": "engine_init",
    "all initialize finished, ready to fit": "weight_sync",
    "update_weights done": "weight_sync",
    "Training from scratch": "training",
    "Setting global step to ": "checkpoint",
    "Load from checkpoint folder: ": "checkpoint",
    "resuming from ": "checkpoint",
    "Resuming from ": "checkpoint",
    "test_gen_batch meta info": "validation",
    "Validation rollouts": "validation",
    "validation generation end": "training",
    "Initial validation metrics": "training",
    "Training Progress: ": "training",
    "local_global_step_folder: ": "checkpoint",
    "Saving checkpoint to ": "checkpoint",
    "generating rollouts": "rollout",
    "Destroying the process group": "shutdown",
}
"""verl's own banners and those of the engines under it, and the phase that each begins."""

ANCHORS: Final[dict[int, str]] = {
    TRACEBACK: r"Traceback \(most recent call last\)",
    FRAME: r'^[^"\n]{0,200}  File "[^"\n]{1,400}", line \d',
    EXCEPTION: rf"([A-Z][A-Za-z0-9_]{{1,60}}({'|'.join(EXCEPTION_ENDINGS)})|\bException)"
    r"(\([A-Za-z_.]{1,60}\))?(: |:\r?$|\r?$)",
    STEP: r"\bstep:\d+ - ",
    METRICS: r"(\{'(loss|train_loss|eval_loss|reward|eps)': |Global step \d+[^{\n]{0,40}: \{"
    r'|"(step|global_step|_step|iteration|training/global_step)": ?\d)',
    SAMPLE: r"\[(prompt|response|ground_truth|score)\]",
    ERROR_LINE: r"(\bERROR\b|\bFATAL\b|\bCRITICAL\b|\bFatal |^error: |: error: "
    r"|\b[Ee]rror in |core dumped"
    r"|任务失败|训练(终止|失败)|退出码 ?[1-9]|exit(ed)? with (code|status) [1-9]"
    r"|\bexit code:? [1-9]"
    r"|\bCheck failed: |^\[\d{4}-\d\d-\d\d [\d:,]{8,12} C \d"
    r"|terminate called|[Aa]ssertion [^\n]{0,200}failed|[Pp]anic)",
    DONE: r"('train_runtime': |训练(已)?(完成|结束)|Final validation metrics: "
    r"|Training (completed|finished|done)"
    r"|raining complete[d.!]|exit code 0\b|wandb: Run summary:|wandb: Synced|Run summary:"
    r"|wandb: Find logs at|Training Progress: {1,3}100%\|[^|\n]{1,80}\| \d+/\d+ \[)",
    CONFIG: r"\{'(actor_rollout_ref|algorithm)': ",
    OVERRIDES: r"(Error executing job with overrides: \[|-m verl\.[a-z_.]+ [a-z_+.]+=)",
    ELASTIC: r"(^[^\n]{0,80}\b(time|host|rank|exitcode) {1,12}: |failed \(exitcode: -?\d"
    r"|first observed failure)",
    SIGNAL: r"(\bKilled\b|\bTerminated\b|\bAborted\b|Segmentation fault|Bus error"
    r"|Illegal instruction|Floating point exception|\bHangup\b"
    r"|[Ee]xit(ed with)? ([Cc]ode|[Ss]tatus):? {0,12}\d{3}\b)",
    NCCL: r"(collective operation timeout: WorkNCCL|last enqueued work: )",
    IGNORED: rf"(Exception ignored (in|on|while)|{LOGGING_ERROR})",
    FACT: r"(ersion[\"']?[ :=]{1,3}[\"']?v?\d|LLM engine \(v\d"
    r"|NVIDIA [A-Z\d]|AMD Instinct|Ascend ?\d)",
    WARNING: r"(\bWARNING\b|\bWARN |Warning: )",
    CHECKPOINT: r"(\bglobal_step_|\bcheckpoint-|checkpointed_iteration\.txt to step )\d",
    REPEATED: r"\[repeated \d+x across",
    # Not before `(`, a blank or a line end: that is how Ray and the engines colour their prefixes,
    # on every line, where it keeps nothing apart that belongs together.
    COLOURED: r"(\x1b(\[[0-9;]*m[^( \n]|\[[0-9;]*[^0-9;m]|[^\[])|\^\[\[|\xef\xbf\xbd\[)",
    PHASE: "(" + "|".join(re.escape(text) for text in PHASE_TEXTS) + ")",
}
