"""Nothing special: what all others are compared with."""

from tiny import Training

Training().run(20)
print("done")
