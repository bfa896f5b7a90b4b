"""D14: a child that writes 5 MB/s while its log is cut twenty times, on this file system."""

from __future__ import annotations

import subprocess
import sys
import time
from datetime import UTC, datetime

from bench.dashboard.sizes import Sizes
from bench.figures import Figure, counted
from dashboard.services import logs, rotation

ROTATIONS, RATE = 20, 5_000_000
LINE = "line {:09d} " + "." * 85
WRITER = f"""
import sys, time
began, size = time.monotonic(), 0
for n in range(int(sys.argv[1])):
    size += sys.stdout.write({LINE!r}.format(n) + chr(10))
    if n % 100 == 99:
        sys.stdout.flush()
        time.sleep(max(0, size / {RATE} - (time.monotonic() - began)))
"""


def figures(sizes: Sizes) -> list[Figure]:
    length = len(LINE.format(0)) + 1
    count = (ROTATIONS + 3) * sizes.log_bytes // length
    fd, _ = logs.append_to("shop")
    began = time.monotonic()
    command = [sys.executable, "-c", WRITER, str(count)]
    with subprocess.Popen(command, stdout=fd, start_new_session=True) as writer:
        rotations = 0
        while writer.poll() is None:
            rotations += rotation.rotate(
                "shop", max_bytes=sizes.log_bytes, keep=10_000, now=datetime.now(UTC)
            )
            time.sleep(sizes.log_bytes / RATE / 20)
    took = time.monotonic() - began
    parts = sorted(logs.kept("shop"), key=lambda part: part.start)
    text = b"".join(part.path.read_bytes() for part in parts)
    wrong = sum(
        line != LINE.format(number).encode()
        for number, line in enumerate(text.splitlines())
    )  # fmt: skip
    lost = abs(count - text.count(b"\n")) + wrong
    rate = count * length / took / 1e6
    what = f"lines lost, doubled or torn of {count} at {rate:.1f} MB/s over {rotations} rotations"
    assert rotations >= ROTATIONS, rotations
    return [counted("D14", what, lost)]
