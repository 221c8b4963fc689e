"""PyTorch is imported by a thread while the main thread waits for it: the steps are seen all the same."""

import threading


def train():
    from tiny import Training

    Training().run(10)


thread = threading.Thread(target=train)
thread.start()
thread.join()
print("joined")
