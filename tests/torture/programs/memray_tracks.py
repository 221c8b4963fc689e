"""memray patches every library's malloc while it tracks: ours beside it, begun before and after."""

# needs: memray

import memray
from tiny import Training

training = Training()
training.run(5)
with memray.Tracker("memray.bin", native_traces=False):
    training.run(10)
training.run(5)
with memray.Tracker("memray.native.bin", native_traces=True):
    training.run(10)
allocations = list(memray.FileReader("memray.bin").get_high_watermark_allocation_records())
print(training.turns, len(allocations) > 0)
