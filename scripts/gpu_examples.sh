#!/usr/bin/env bash
# What `check` and `--probe` say on a machine with a GPU: writes the outputs that docs/ shows.
# usage: gpu_examples.sh PYTHON OUT      (PYTHON has torch with CUDA; needs nvcc; verl-doctor importable)
set -u
PYTHON=$1 OUT=$2
DOCTOR="$PYTHON -m verl_doctor"
export COLUMNS=100
mkdir -p "$OUT"
WORK=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$WORK"' EXIT

$DOCTOR check --only env --python "$PYTHON" --smoke --all --lang en >"$OUT/check-env-smoke.txt" 2>&1

# a compiled package for another architecture: its cubin is for sm_75 and holds no PTX
SITE=$WORK/site
mkdir -p "$SITE/flash_attn" "$SITE/flash_attn-2.7.4.dist-info"
printf 'Metadata-Version: 2.1\nName: flash-attn\nVersion: 2.7.4\n' >"$SITE/flash_attn-2.7.4.dist-info/METADATA"
printf 'flash_attn_2_cuda.so,,\nflash_attn/__init__.py,,\n' >"$SITE/flash_attn-2.7.4.dist-info/RECORD"
touch "$SITE/flash_attn/__init__.py"
cat >"$WORK/kernel.cu" <<'CU'
__global__ void add(float *x) { x[threadIdx.x] += 1; }
extern "C" int launch(float *x) { add<<<1, 1>>>(x); return cudaGetLastError(); }
CU
nvcc -shared -Xcompiler -fPIC -gencode arch=compute_75,code=sm_75 -cudart shared \
  "$WORK/kernel.cu" -o "$SITE/flash_attn_2_cuda.so" || exit 1
cat >"$SITE/flash_attn/flash_attn_interface.py" <<'PY'
import ctypes, torch

LIBRARY = ctypes.CDLL(__file__.rpartition("/flash_attn/")[0] + "/flash_attn_2_cuda.so")


def flash_attn_func(x):
    status = LIBRARY.launch(ctypes.c_void_p(x.data_ptr()))
    if status:
        raise RuntimeError(f"CUDA error: {torch.cuda.cudart().cudaGetErrorString(torch.cuda.cudart().cudaError(status))}")
PY
echo 'import torch; from flash_attn.flash_attn_interface import flash_attn_func
flash_attn_func(torch.zeros(1, device="cuda"))' >"$WORK/attention.py"
PYTHONPATH=$SITE:${PYTHONPATH:-} $PYTHON "$WORK/attention.py" >"$OUT/other-architecture.log" 2>&1
$DOCTOR "$OUT/other-architecture.log" --no-record --lang en >"$OUT/other-architecture.txt" 2>&1
PYTHONPATH=$SITE:${PYTHONPATH:-} $DOCTOR "$OUT/other-architecture.log" --no-record --lang en \
  --probe --python "$PYTHON" >"$OUT/other-architecture-probed.txt" 2>&1

# out of memory, with another process on the GPU and without
hog='import torch,time; x=torch.empty(int(100*2**30), dtype=torch.uint8, device="cuda"); print("held", flush=True); time.sleep(120)'
oom='import torch; x=[torch.empty(2**30, dtype=torch.uint8, device="cuda") for _ in range(400)]'
$PYTHON -c "$oom" >"$OUT/oom-alone.log" 2>&1
$DOCTOR "$OUT/oom-alone.log" --no-record --lang en --probe --python "$PYTHON" >"$OUT/oom-alone-probed.txt" 2>&1
$PYTHON -c "$hog" >"$WORK/hog" & until grep -q held "$WORK/hog"; do sleep 0.5; done
$PYTHON -c "$oom" >"$OUT/oom-shared.log" 2>&1
$DOCTOR "$OUT/oom-shared.log" --no-record --lang en --probe --python "$PYTHON" >"$OUT/oom-shared-probed.txt" 2>&1

CUDA_VISIBLE_DEVICES= $DOCTOR check --only env --python "$PYTHON" --lang en >"$OUT/check-no-visible-gpu.txt" 2>&1
ls -l "$OUT"
