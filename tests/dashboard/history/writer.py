"""A recorder in a process of its own, to be killed: one probe and one flush after the other.

Prints the number of each probe whose flush has returned. The environment names the data directory.
"""

from __future__ import annotations

import itertools
import time

import django

if __name__ == "__main__":
    django.setup()
    from dashboard.history.recorder import Recorder

    recorder = Recorder()
    recorder.load(time.time())
    start = time.time()
    for number in itertools.count():
        at = start + 10 * number  # a row for each
        recorder.add("shop", at, "up", 1_000 + number, 200, ok=True)
        recorder.edge("shop", at + 1, "up", "up", "ok")
        recorder.flush(at + 1)
        print(number, flush=True)
