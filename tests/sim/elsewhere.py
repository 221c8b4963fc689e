"""The folder can be moved, and preloading the stand-ins does as well."""
import os
import shutil
import subprocess
import sys
import tempfile

import torch

from check import expect_equal, result

PROGRAM = "import torch; print(torch.nn.Conv2d(1, 2, 3).cuda()" \
          "(torch.zeros(1, 1, 5, 5, device='cuda')).shape[-1])"

# What PyTorch is linked against, for the CUDA that it was built for.
MAJOR = {"13": ["libcufft.so.12", "libcusolver.so.12"], "12": ["libcufft.so.11", "libcusolver.so.11"]}
ALWAYS = ["libcusparse.so.12", "libcusparseLt.so.0", "libnccl.so.2", "libcufile.so.0",
          "libcurand.so.10", "libcuda.so.1", "libnvToolsExt.so.1", "libnvshmem_host.so.3"]


def run(**environment: str) -> str:
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True,
                          text=True)
    return done.stdout.strip() if done.returncode == 0 else done.stderr


sim = os.path.dirname(os.environ["LD_AUDIT"])
plain = {name: value for name, value in os.environ.items() if name != "LD_AUDIT"}
with tempfile.TemporaryDirectory() as folder:
    moved = os.path.join(folder, "a new place")
    shutil.copytree(sim, moved)
    if not os.path.exists("/usr/lib/libgpuleak-sim.so"):
        os.symlink(moved, os.path.join(folder, "link"))
        expect_equal(run(**plain, LD_AUDIT=os.path.join(folder, "link", "libgpuleak-sim.so")), "3")
    major = torch.version.cuda.split(".")[0]
    cudnn = "libcudnn.so.8" if torch.version.cuda < "12.3" else "libcudnn.so.9"
    names = [f"lib{name}.so.{major}" for name in ("cudart", "cublas", "cublasLt", "cupti", "nvrtc")]
    names += [cudnn] + MAJOR[major] + ALWAYS
    expect_equal(run(**plain, LD_PRELOAD=":".join(f"{sim}/lib/{name}" for name in names)), "3")
sys.exit(result())
