"""The layer that makes calls fail: compiled when it is needed, and loaded before the C library."""

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

LOADED = "SCUMBLE_FAULTS_SHIM"
"""Where it was put, for the process that has it."""


def preloaded() -> bool:
    """Runs this process anew with the layer before the C library; False where there is no compiler, or the system has no such door."""
    if LOADED in os.environ:
        shutil.rmtree(os.environ.pop(LOADED))
        del os.environ["LD_PRELOAD"]
        return True
    compiler = shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        return False
    folder = tempfile.mkdtemp(prefix="faults-shim-")
    library, source = Path(folder) / "shim.so", Path(__file__).with_name("shim.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl"], check=True)
    os.environ |= {"LD_PRELOAD": str(library), LOADED: folder}
    os.execv(sys.executable, [sys.executable, "-m", "faults", *sys.argv[1:]])


def layer() -> Any:
    """Its functions."""
    return ctypes.CDLL(None)
