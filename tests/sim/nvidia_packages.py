"""NVIDIA's Python packages beside torch: the stand-ins come first, wherever torch looks for CUDA.

A tree of links stands for the installation, with files in nvidia/ that no program could load.
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import torch

from check import expect, expect_equal, result

PROGRAM = "import torch; print(torch.__file__); print(torch.nn.Conv2d(1, 2, 3).cuda()" \
          "(torch.zeros(1, 1, 5, 5, device='cuda')).shape[-1])"
FOLDERS = ("cu13", "cuda_runtime", "cublas", "cudnn", "nccl", "cusparse", "cufft", "curand",
           "cusolver", "cuda_nvrtc", "cuda_cupti", "nvjitlink", "nvtx", "cufile", "nvshmem")


def needed(libraries: Path) -> set:
    """CUDA libraries that torch's own are linked with."""
    names = set()
    for library in libraries.glob("lib*.so*"):
        text = subprocess.run(["readelf", "-d", library], capture_output=True, text=True).stdout
        names.update(re.findall(r"\(NEEDED\).*\[(lib(?:cu|nv|nccl)[^\]]*)\]", text))
    return names


def link_all(source: Path, target: Path, *but: str) -> None:
    target.mkdir()
    for entry in source.iterdir():
        if entry.name not in but:
            (target / entry.name).symlink_to(entry)


packages = Path(torch.__file__).resolve().parents[1]
names = needed(packages / "torch/lib") - set(os.listdir(packages / "torch/lib"))
expect(len(names) > 8, f"libraries of CUDA that torch is linked with; got {sorted(names)}")
with tempfile.TemporaryDirectory() as scratch:
    folder = Path(scratch) / "packages"
    link_all(packages, folder, "torch", "nvidia")
    link_all(packages / "torch", folder / "torch", "lib")
    link_all(packages / "torch/lib", folder / "torch/lib")
    for name in FOLDERS:
        libraries = folder / "nvidia" / name / "lib"
        libraries.mkdir(parents=True)
        for library in names:
            (libraries / library).write_text("not for this machine\n")
    environment = dict(os.environ, PYTHONPATH=str(folder))
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True,
                          text=True)
    said = done.stdout.split() or [done.stderr]
    expect_equal(said, [str(folder / "torch/__init__.py"), "3"])
    plain = {name: value for name, value in environment.items() if name != "LD_AUDIT"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=plain, capture_output=True,
                          text=True)
    expect(done.returncode != 0, "without the stand-ins torch finds the false ones, and fails")
sys.exit(result())
