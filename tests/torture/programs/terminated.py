"""SIGTERM, with nobody to handle it."""

# exit: -15
# signal: TERM
# killed

from tiny import Training

training = Training()
training.run(5)
print("ready", flush=True)
while True:
    training.turn()
