"""AddressSanitizer's run-time is preloaded, as for a C++ extension that somebody debugs."""

# preload: asan

from tiny import Training

Training().run(5)
print("done")
