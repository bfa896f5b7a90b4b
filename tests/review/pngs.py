"""The pixels of a PNG as resvg writes them: 8 bits a channel, with alpha, not interlaced."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Image:
    width: int
    height: int
    rows: tuple[bytes, ...]  # RGBA

    def pixel(self, x: int, y: int) -> tuple[int, ...]:
        return tuple(self.rows[y][4 * x : 4 * x + 4])

    def dark(self, left: int, top: int, right: int, bottom: int) -> int:
        """How many pixels of the box are nearly black."""
        box = (self.pixel(x, y) for y in range(top, bottom) for x in range(left, right))
        return sum(max(pixel[:3]) < 90 and pixel[3] > 200 for pixel in box)


def size(data: bytes) -> tuple[int, int]:
    """Width and height, from the head alone."""
    width, height = struct.unpack_from(">II", data, 16)
    return width, height


def read(data: bytes, rows: int = 1 << 30) -> Image:
    """The image, or as many rows of it from the top: they are unpacked one pixel at a time."""
    width, height, depth, colour = struct.unpack_from(">IIBB", data, 16)
    assert (data[:8], depth, colour) == (b"\x89PNG\r\n\x1a\n", 8, 6)
    packed, at = b"", 8
    while at < len(data):
        size, kind = struct.unpack_from(">I4s", data, at)
        packed += data[at + 8 : at + 8 + size] if kind == b"IDAT" else b""
        at += size + 12
    flat, stride = zlib.decompress(packed), 4 * width
    lines: list[bytes] = []
    above = bytes(stride)
    for y in range(min(height, rows)):
        start = y * (stride + 1)
        above = _line(flat[start], bytearray(flat[start + 1 : start + 1 + stride]), above)
        lines.append(above)
    return Image(width, height, tuple(lines))


def _line(filtered: int, line: bytearray, above: bytes) -> bytes:
    for i, value in enumerate(line):
        left = line[i - 4] if i >= 4 else 0
        corner = above[i - 4] if i >= 4 else 0
        guess = (0, left, above[i], (left + above[i]) // 2, _paeth(left, above[i], corner))
        line[i] = (value + guess[filtered]) & 255
    return bytes(line)


def _paeth(left: int, above: int, corner: int) -> int:
    guess = left + above - corner
    return min((left, above, corner), key=lambda one: abs(guess - one))
