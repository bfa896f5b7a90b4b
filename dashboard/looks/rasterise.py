"""Run as a script: an SVG on standard input, a PNG on standard output, and nothing else.

It imports nothing of the service. Before it looks at the SVG it gives up the right to open or
grow any file and bounds its own processor time and, where the system
can, memory.
"""

from __future__ import annotations

import contextlib
import resource
import struct
import sys

import resvg_py

MEMORY = 1 << 30
CPU_S = 2
LOOKED_AT = 24  # signature, chunk header, width and height of a PNG


def main(side: int) -> None:
    text = sys.stdin.buffer.read().decode("utf-8-sig")
    for limit, value in (
        (resource.RLIMIT_NOFILE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, CPU_S),
    ):
        resource.setrlimit(limit, (value, value))
    with contextlib.suppress(ValueError, OSError):  # macOS bounds no memory
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    # resvg keeps the aspect ratio by the width alone: a tall one is drawn again by its height
    png = resvg_py.svg_to_bytes(svg_string=text, width=side, skip_system_fonts=True)
    width, height = struct.unpack(">II", bytes(png[16:LOOKED_AT]))
    if height > width:
        png = resvg_py.svg_to_bytes(svg_string=text, height=side, skip_system_fonts=True)
    sys.stdout.buffer.write(bytes(png))


if __name__ == "__main__":
    main(int(sys.argv[1]))
