"""What isn't simulated says so: CUDA's own error, and one line for each function."""
import ctypes
import os
import subprocess
import sys

import torch

from check import expect, expect_equal, result

NOT_SUPPORTED = 801

if len(sys.argv) == 1 and "CHILD" not in os.environ:
    child = subprocess.run([sys.executable, __file__], env=dict(os.environ, CHILD="1"),
                           capture_output=True, text=True)
    expect_equal(child.returncode, 0, child.stderr)
    lines = [line for line in child.stderr.splitlines() if "simulated GPU" in line]
    expect_equal(len(lines), 3, child.stderr)
    for name in ("cudaGraphAddNode", "cuGreenCtxCreate", "cuNeverHeardOf"):
        expect(any(f"{name} of libcu" in line for line in lines), name)
    expect(all("issue tracker" in line for line in lines))
    expect(all(line.endswith(torch.__version__) for line in lines), child.stderr)
    sys.exit(result())

torch.cuda.init()
runtime = ctypes.CDLL(f"libcudart.so.{torch.version.cuda.split('.')[0]}")
driver = ctypes.CDLL("libcuda.so.1")
for _ in range(3):
    expect_equal(runtime.cudaGraphAddNode(None, None, None, 0, None), NOT_SUPPORTED)
    expect_equal(driver.cuGreenCtxCreate(None, None, 0, 0), NOT_SUPPORTED)
    function = ctypes.c_void_p()
    driver.cuGetProcAddress_v2(b"cuNeverHeardOf", ctypes.byref(function), 12000,
                               ctypes.c_uint64(0), None)
    expect_equal(ctypes.CFUNCTYPE(ctypes.c_int)(function.value)(), NOT_SUPPORTED)
sys.exit(result())
