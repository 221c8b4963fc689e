"""Functions are made, allocate, and are gone: their addresses come back as other functions'."""

import gc
import types

import torch
from tiny import Training

training = Training()
for turn in range(15):
    for number in range(60):
        blank = "\n" * number
        source = f"def f{number}():\n{blank}    return torch.empty(10, device='cuda')\n"
        names = {"torch": torch}
        exec(compile(source, f"<made {turn}.{number}>", "exec"), names)
        function = names[f"f{number}"]
        function()
        other = types.FunctionType(function.__code__.replace(co_name="other"), names)
        other()
        del function, other, names
    gc.collect()
    training.turn()
print(torch.cuda.memory_allocated())
