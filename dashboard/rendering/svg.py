"""SVG icons become pixels in a process of their own, which cannot open files and lives 3 seconds.

resvg follows `href` to files, and a few hundred bytes can make it draw for hours. So the child
that runs it has no descriptors left, and limits on time and memory. An SVG with letters or emoji
and without `href` may be drawn with the fonts of the machine. No script is ever run.
"""

from __future__ import annotations

import re
import subprocess
import sys
import zlib
from pathlib import Path

from config.fonts import metrics

CHILD = Path(__file__).with_name("rasterise.py")
SECONDS = 3.0
INFLATED = 1 << 20
LARGE = 1 << 40
_GZIP = b"\x1f\x8b"
_START = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]{0,200}\?>\s*)?"
    rb"(?:<!--.{0,2000}?-->\s*){0,4}(?:<!DOCTYPE\s+svg[^>\[]{0,400}>\s*)?<(?:svg|[a-z]{1,8}:svg)[\s>]",
    re.DOTALL,
)


class NotDrawn(Exception):
    """The SVG is malformed, too large or takes too long."""


def looks_like(data: bytes) -> bool:
    return data.startswith(_GZIP) or _START.match(data) is not None


def can_limit_memory() -> bool:
    """Whether this system lets a process limit its own memory."""
    code = f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({LARGE}, {LARGE}))"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, check=False)
    return done.returncode == 0


def draw(data: bytes, side: int) -> bytes:
    """A PNG of the SVG (or .svgz), `side` pixels on its longer side. Blocks for up to 3 s."""
    plain = _plain(data)
    letters = [metrics.SANS] if b"<text" in plain and b"href" not in plain.lower() else []
    try:
        done = subprocess.run(
            [sys.executable, "-I", CHILD, str(side), *letters],
            input=plain, capture_output=True, timeout=SECONDS, check=False, env={},
            cwd="/",
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise NotDrawn("the SVG takes too long to draw") from error
    if done.returncode or not done.stdout:
        raise NotDrawn("the SVG cannot be drawn")
    return done.stdout


def _plain(data: bytes) -> bytes:
    if not data.startswith(_GZIP):
        return data
    try:
        plain = zlib.decompressobj(31).decompress(data, INFLATED + 1)
    except zlib.error as error:
        raise NotDrawn("the SVG's compression is broken") from error
    if len(plain) > INFLATED or not _START.match(plain):
        raise NotDrawn("the SVG's compression holds no SVG, or one over 1 MiB")
    return plain
