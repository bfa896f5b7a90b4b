"""Tickers on one host whose clock stands still until told: `python -m tests.promises.tickers N`.

Forked from one process. Each line on stdin is a time; it is answered by a line once every ticker
has stepped there.
"""

from __future__ import annotations

import os
import sys
from datetime import datetime

import django


def main(count: int) -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    django.setup()
    from tests.workspace.triggers.world import Stepped
    from workspace.triggers.schedule.ticker import Ticker

    pipes = []
    for _ in range(count):
        (told, tell), (done, say) = os.pipe(), os.pipe()
        if os.fork() == 0:
            clock = Stepped()
            ticker = Ticker(clock)
            for time in os.fdopen(told):
                clock.moment = datetime.fromisoformat(time.strip())
                ticker.step()
                os.write(say, b".")
            os._exit(0)
        pipes.append((tell, done))
    for line in sys.stdin:
        for tell, _ in pipes:
            os.write(tell, line.encode())
        print("".join(os.read(done, 1).decode() for _, done in pipes), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
