"""torch, as this interpreter imports it, and the GPUs that it sees."""

from __future__ import annotations

import ctypes
import importlib
import time
import warnings
from typing import Any


def torch_import(*_: str) -> dict[str, Any]:
    """Imports torch."""
    began = time.monotonic()
    torch = importlib.import_module("torch")
    return {
        "version": str(torch.__version__),
        "file": str(torch.__file__),
        "seconds": time.monotonic() - began,
    }


def torch_build(*_: str) -> dict[str, Any]:
    """What torch was built with."""
    torch = importlib.import_module("torch")
    cuda = torch.version.cuda or ""
    flags = getattr(torch._C, "_cuda_getArchFlags", None)  # get_arch_list() is [] without a GPU
    return {
        "cuda": cuda,
        "hip": torch.version.hip or "",
        "archs": (flags() or "").split() if flags and cuda else [],
        "cudnn": torch.backends.cudnn.version() if cuda else None,
        "nccl": _nccl(torch) if cuda else "",
        "cxx11_abi": bool(getattr(torch._C, "_GLIBCXX_USE_CXX11_ABI", True)),
    }


def _nccl(torch: Any) -> str:
    """The release of the NCCL that torch loaded, "" for a build without it."""
    try:
        return ".".join(str(part) for part in torch.cuda.nccl.version())
    except (AttributeError, RuntimeError):
        return ""


def driver(*_: str) -> dict[str, Any]:
    """The CUDA version that the driver library supports, as 12080 for 12.8."""
    try:
        library = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        return {"cuda": 0, "error": str(error)}
    version = ctypes.c_int()
    code = library.cuDriverGetVersion(ctypes.byref(version))
    return {"cuda": version.value, "error": f"cuDriverGetVersion: {code}" if code else ""}


def devices(*_: str) -> dict[str, Any]:
    """The GPUs that torch can use, or what it says when it can't."""
    torch = importlib.import_module("torch")
    seen: list[dict[str, Any]] = []
    error = ""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        available = torch.cuda.is_available()
        if torch.version.cuda or torch.version.hip:
            try:
                torch.cuda.init()
                for index in range(torch.cuda.device_count()):
                    one = torch.cuda.get_device_properties(index)
                    seen.append(
                        {
                            "name": one.name,
                            "capability": [one.major, one.minor],
                            "memory": one.total_memory,
                        }
                    )
            except (RuntimeError, AssertionError) as raised:
                error = str(raised)
    return {
        "available": available,
        "devices": seen,
        "error": error,
        "warnings": [str(one.message) for one in said],
    }


PARTS = (driver, torch_import, torch_build, devices)
