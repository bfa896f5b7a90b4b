"""What a process asks of Python's search for garbage, and of glibc's heap."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Iterator
from typing import ClassVar

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8  # of malloc.h
LARGE_BYTES = 512 * 1024
ARENAS = 2
_PIECES = (4000, 2000, 1000, 504, 248, 120, 56, 24)  # bytes; the larger gaps are taken whole
_POOL, _HEADER, _STEP, _SMALL = 16 * 1024, 48, 16, 512  # bytes; how CPython keeps small objects
_MOST = 256 * 1024  # bytes taken of each size, should some Python keep them in another way

_libc = ctypes.CDLL(None)


def loading() -> None:
    """Search for no garbage until `loaded`: what a start makes stays, and to look at it again and
    again takes a fifth of the start."""
    gc.disable()


def loaded(*, lasting: bool = True) -> None:
    """What is there stays: no search need look at it again, the one at the end included, and a fork
    does not copy it for one. A process that lasts lets go of what a start leaves behind before."""
    if lasting:
        gc.collect()
    gc.freeze()
    gc.enable()


def shared() -> None:
    """What is there stays, and forks share it: to be called before the first.

    A fork copies each page that it writes to, and loading leaves gaps of a few bytes in thousands
    of them. They are taken for good, which costs nothing, as the pages are there; so what a fork
    makes lies together in pages of its own. Each has 4 MB less of its own for it (S12, S14).

    No search for garbage before: it would find 1 % and take an eighth of a start.
    """
    loaded(lasting=False)
    _gaps.extend(_small_gaps())
    gc.freeze()
    if hasattr(_libc, "mallinfo2"):
        _take_large_gaps()


def give_back() -> None:
    """Memory that was freed goes back to the system; to be called before threads are started.

    By itself glibc raises both thresholds with the first large buffer that is freed, up to 32 and
    64 MiB, and the arena of each thread then keeps what its busiest moment took. Said by the call
    and not by the environment, which the programs we start would inherit.
    """
    if hasattr(_libc, "mallopt"):
        _libc.mallopt(_MMAP_THRESHOLD, LARGE_BYTES)
        _libc.mallopt(_TRIM_THRESHOLD, LARGE_BYTES)
        _libc.mallopt(_ARENA_MAX, ARENAS)


_gaps: list[bytes] = []


def _small_gaps() -> Iterator[bytes]:
    """Objects of each size, until a pool is begun for one: only then are the others full."""
    for size in range(_HEADER, _SMALL + 1, _STEP):
        for _ in range(_MOST // size):
            one = bytes(size - sys.getsizeof(b""))
            yield one
            if id(one) % _POOL == _HEADER:
                break


def _take_large_gaps() -> None:
    _libc.mallinfo2.restype, _libc.malloc.restype = _Used, ctypes.c_void_p
    _libc.malloc_trim(0)  # what lies side by side becomes one
    for size in _PIECES:
        top = _top()
        for _ in range(_MOST // size):
            if _libc.malloc(size) is None or _top() != top:
                break


class _Used(ctypes.Structure):
    """What mallinfo2(3) tells; the last is how much is free behind all that is in use."""

    _fields_: ClassVar = [(f"word_{number}", ctypes.c_size_t) for number in range(10)]


def _top() -> int:
    return int(_libc.mallinfo2().word_9)
