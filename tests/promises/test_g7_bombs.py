"""YAML bombs cost neither time nor memory: refused within 200 ms and 50 MB each."""

from __future__ import annotations

import contextlib
import time
import tracemalloc

import pytest

from config.storage.yamlio import YamlError, parse, set_entry
from tests.promises.rings import ring, seeded

SIZE = 1 << 20


def laughs(width: int, depth: int, shape: bytes) -> bytes:
    """Each line names the one before `width` times."""
    lines = [b"a0: &a0 x"]
    for level in range(1, depth):
        inner = b", ".join([shape % (level - 1)] * width)
        lines.append(b"a%d: &a%d [%s]" % (level, level, inner))
    return b"\n".join(lines)


BOMBS = {
    "billion laughs": laughs(9, 10, b"*a%d"),
    "long laughs": laughs(2, 60, b"*a%d"),
    "quadratic laughs": b"a: &a " + b"x" * 50_000 + b"\nb: [" + b"*a, " * 50_000 + b"]\n",
    "merge keys": b"a0: &a0 {x: 1}\n"
    + b"".join(
        b"a%d: &a%d {<<: [%s]}\n" % (n, n, b", ".join([b"*a%d" % (n - 1)] * 9)) for n in range(1, 9)
    ),
    "brackets": b"[" * SIZE,
    "braces": b"{a: " * (SIZE // 4),
    "dashes": b"- " * (SIZE // 2),
    "question marks": b"? " * (SIZE // 2),
    "indentation": b"".join(b" " * n + b"a:\n" for n in range(1_400)),
    "items": b"- a\n" * (SIZE // 4),
    "keys": b"".join(b"k%d: 1\n" % n for n in range(100_000)),
    "flow items": b"[" + b"a," * (SIZE // 2 - 1) + b"]",
    "anchors": b"".join(b"k%d: &a%d x\n" % (n, n) for n in range(50_000)),
    "anchor again": b"[" + b"&a x," * 100_000 + b"]",
    "tags": b"[" + b"!!str x," * 100_000 + b"]",
    "directives": b"".join(b"%%TAG !%d! tag:x,2000:\n" % n for n in range(30_000)) + b"--- a\n",
    "documents": b"---\n" * (SIZE // 4),
    "comment": b"#" * SIZE,
    "blank lines": b"\n" * SIZE,
    "one scalar": b"a: " + b"x" * (SIZE - 10),
    "folded": b"a: >\n" + b" x\n" * (SIZE // 3 - 10),
    "escapes": b'a: "' + b"\\x41" * (SIZE // 4 - 10) + b'"',
    "long number": b"a: " + b"9" * (SIZE - 10),
    "long float": b"a: 1." + b"9" * (SIZE - 10),
    "long exponent": b"a: 1e" + b"9" * 1000,
    "long key": b"x" * (SIZE - 10) + b": 1",
    "open quote": b"a: '" + b"x " * (SIZE // 2 - 10),
    "colons": b"a" + b":" * (SIZE - 10),
    "spaces": b"a: |\n" + b" " * (SIZE - 10),
    "too large": b"x" * (50 * SIZE),
}

PIECES = (
    *(b"[", b"]", b"{", b"}", b": ", b"- ", b"? ", b", ", b"&a ", b"*a", b"\n", b" ", b"!t ", b"'"),
    *(b'"', b"|\n", b">-\n", b"#", b"<<", b"x", b"%", b"---\n", b"\t"),
)


@pytest.mark.promise("G7")
@pytest.mark.parametrize("kind", BOMBS)
def test_a_bomb_is_read_or_refused_at_once(kind: str):
    data = BOMBS[kind]

    spent = next((x for x in (timed(data) for _ in range(3)) if x < 0.2), 0.2)
    tracemalloc.start()
    with contextlib.suppress(YamlError):
        parse(data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert spent < 0.2
    assert peak < 50 * 1024 * 1024


def timed(data: bytes) -> float:
    """CPU seconds of one read: other processes on the machine do not count."""
    start = time.process_time()
    with contextlib.suppress(YamlError):
        parse(data)
    return time.process_time() - start


@pytest.mark.promise("G7")
def test_random_structure_is_bounded_too():
    rng = seeded()
    start = time.process_time()
    for _ in range(ring(fast=100, slow=10_000)):
        data = b"".join(rng.choices(PIECES, k=rng.randrange(400)))
        with contextlib.suppress(YamlError):
            set_entry(data, ("a", "b"), "x")
    spent = time.process_time() - start

    assert spent < 0.05 * ring(fast=100, slow=10_000)
