"""Run as a script: an SVG on standard input, a PNG on standard output, and nothing else.

It imports nothing of the service. Before it parses the SVG it gives up the right to open or grow
any file, and limits its processor time and, where the system can, its memory. With font files as
arguments it may open files to read fonts; so pass them only for an SVG that names no file.
"""

from __future__ import annotations

import contextlib
import html
import re
import resource
import struct
import sys
from typing import Any

import resvg_py

MEMORY = 1 << 30
CPU_S = 2
LOOKED_AT = 24  # signature, chunk header, width and height of a PNG
FONTS = 64  # files that may be open while fonts are read
LETTERS, EMOJI, FIRST_EMOJI = "DejaVu Sans", "Noto Color Emoji", "\U0001f000"
_NUMBERED = re.compile(r"&#(?:x[0-9a-f]{1,6}|[0-9]{1,7});", re.IGNORECASE)
_JOINING = re.compile("[\u200d\ufe0e\ufe0f]")
_BEYOND = re.compile(r"[^\x00-\x7f]")
_NOWHERE = "\U0010fffd"  # in no font: a character drawn like this one is drawn as a box


def main(side: int, fonts: list[str]) -> None:
    text = sys.stdin.buffer.read().decode("utf-8-sig")
    for limit, value in (
        (resource.RLIMIT_NOFILE, FONTS if fonts else 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, CPU_S),
    ):
        resource.setrlimit(limit, (value, value))
    with contextlib.suppress(ValueError, OSError):  # macOS cannot limit memory
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    how: dict[str, Any] = {"skip_system_fonts": True}
    if fonts:
        text = _NUMBERED.sub(_letter, text)
        family = EMOJI if max(text) >= FIRST_EMOJI else LETTERS
        how = {"font_files": fonts, "font_family": family, "serif_family": family}
        plain = _JOINING.sub("", text)
        boxes = _BEYOND.sub(_NOWHERE, plain)
        if boxes != plain and _render(boxes, side, how) == _render(plain, side, how):
            sys.exit("no font here has its letters")
    sys.stdout.buffer.write(_render(text, side, how))


def _letter(number: re.Match[str]) -> str:
    """The character itself if it is not ASCII; an ASCII one may be markup and stays a
    reference."""
    letter = html.unescape(number[0])
    return letter if _BEYOND.match(letter) else number[0]


def _render(text: str, side: int, how: dict[str, Any]) -> bytes:
    """resvg keeps the aspect ratio by width only: a tall image is drawn again by height."""
    png = resvg_py.svg_to_bytes(svg_string=text, width=side, **how)
    width, height = struct.unpack(">II", bytes(png[16:LOOKED_AT]))
    if height > width:
        png = resvg_py.svg_to_bytes(svg_string=text, height=side, **how)
    return bytes(png)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
