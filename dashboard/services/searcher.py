"""Run as a script: looks for a pattern in what a service writes, away from everything else.

A pattern can take for ever over one line, and Python lets go of nothing while it searches. What
comes on standard input are pieces, each behind its length: the pattern, then the output. Each of
the output is answered by 1 or 0. The system ends this when one piece takes too long.
"""

from __future__ import annotations

import re
import signal
import sys
from collections.abc import Iterator

CPU_S = 3.0  # for one piece
# What many a pattern costs grows with the square of what it looks through, so that is never much: a
# line can be of any length, and one that grows is searched anew with each piece.
WINDOW = 8 * 1024  # bytes
KEPT = WINDOW // 2  # of one window that are searched again in the next
LENGTH = 4  # bytes


def main() -> None:
    pattern, rest = compiled(_piece() or b""), b""
    while (piece := _piece()) is not None:
        data = rest + piece
        signal.setitimer(signal.ITIMER_PROF, CPU_S)
        found = any(pattern.search(data, *window) for window in _windows(len(data)))
        signal.setitimer(signal.ITIMER_PROF, 0)
        sys.stdout.buffer.write(b"1" if found else b"0")
        sys.stdout.buffer.flush()
        rest = data[-KEPT:]
        rest = rest[rest.rfind(b"\n") + 1 :]


def compiled(text: bytes) -> re.Pattern[bytes]:
    """The text itself where it is no pattern. `.*` at its beginning finds no more and no less, but
    from each sign of a line looks through the rest of it: minutes, where that is long."""
    try:
        re.compile(text)
        return re.compile(re.sub(rb"\A(?:\.\*\??)+(?![+*?{])", b"", text), re.MULTILINE)
    except re.error:
        return re.compile(re.escape(text))


def _windows(length: int) -> Iterator[tuple[int, int]]:
    """Where each begins and ends; what is no longer than KEPT is whole in one of them."""
    for begin in range(0, max(length - KEPT, 1), KEPT):
        yield begin, begin + WINDOW


def _piece() -> bytes | None:
    """None at the end."""
    length = sys.stdin.buffer.read(LENGTH)
    return sys.stdin.buffer.read(int.from_bytes(length)) if length else None


if __name__ == "__main__":
    main()
