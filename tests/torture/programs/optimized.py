"""With -OO, isolated, and without line tables' help."""

# python: -OO -X no_debug_ranges -u -B

from tiny import Training

Training().run(8)
print("done", __debug__)
