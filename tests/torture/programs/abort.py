"""abort() in mid-training, with a message and a failed assertion of its own."""

# exit: -6

import os

from tiny import Training

training = Training()
training.run(9)
training.forward()
print("aborting", flush=True)
os.abort()
