"""Other interpreters come and go in the process, with code of their own."""

import _xxsubinterpreters as interpreters

from tiny import Training

training = Training()
for turn in range(8):
    other = interpreters.create()
    interpreters.run_string(other, "def f(n):\n    return n and f(n - 1)\nf(50)")
    training.turn()
    interpreters.destroy(other)
print("done")
