"""Another allocator for the host's memory is preloaded, before us and after us."""

# preload: jemalloc

from tiny import Training

Training().run(10)
print("done")
