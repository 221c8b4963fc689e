"""A thread imports PyTorch and trains while the main thread waits: the steps are seen."""

import threading


def train():
    from tiny import Training

    Training().run(10)


thread = threading.Thread(target=train)
thread.start()
thread.join()
print("joined")
