"""Run as a script: search for a pattern in a service's output, in a process of its own.

A pattern can take very long over one line, and Python cannot interrupt the search. Standard input
has pieces, each preceded by its length: first the pattern, then the output. Each piece of output is
answered by 1 or 0. A timer signal ends the process when one piece takes too long.
"""

from __future__ import annotations

import re
import signal
import sys
from collections.abc import Iterator

CPU_S = 3.0  # for one piece
# The time of many patterns grows with the square of the searched text, so each search is limited: a
# line can be of any length, and a growing one is searched again with each piece.
WINDOW = 8 * 1024  # bytes
KEPT = WINDOW // 2  # bytes of a window that are searched again in the next one
LENGTH = 4  # bytes


def main() -> None:
    pattern, rest = compile_pattern(_piece() or b""), b""
    while (piece := _piece()) is not None:
        data = rest + piece
        signal.setitimer(signal.ITIMER_PROF, CPU_S)
        found = any(pattern.search(data, *window) for window in _windows(len(data)))
        signal.setitimer(signal.ITIMER_PROF, 0)
        sys.stdout.buffer.write(b"1" if found else b"0")
        sys.stdout.buffer.flush()
        rest = data[-KEPT:]
        rest = rest[rest.rfind(b"\n") + 1 :]


def compile_pattern(text: bytes) -> re.Pattern[bytes]:
    """The compiled pattern, or the text itself if it is not a pattern. A leading `.*` is removed:
    it changes no result, but makes each start search the rest of the line, which takes minutes on
    long ones."""
    try:
        re.compile(text)
        return re.compile(re.sub(rb"\A(?:\.\*\??)+(?![+*?{])", b"", text), re.MULTILINE)
    except re.error:
        return re.compile(re.escape(text))


def _windows(length: int) -> Iterator[tuple[int, int]]:
    """Begin and end of each window; a text of up to KEPT bytes is always whole in one of them."""
    for begin in range(0, max(length - KEPT, 1), KEPT):
        yield begin, begin + WINDOW


def _piece() -> bytes | None:
    """The next piece of standard input; None at its end."""
    length = sys.stdin.buffer.read(LENGTH)
    return sys.stdin.buffer.read(int.from_bytes(length)) if length else None


if __name__ == "__main__":
    main()
