"""Settings of Python's garbage collector and of glibc's heap for this process."""

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
_POOL, _HEADER, _STEP, _SMALL = 16 * 1024, 48, 16, 512  # bytes; CPython's layout of small objects
_MOST = 256 * 1024  # bytes taken of each size at most, in case a Python has another layout

_libc = ctypes.CDLL(None)


def loading() -> None:
    """Disable garbage collection until `freeze`: what a start allocates stays alive, and to scan it
    again and again takes a fifth of the start."""
    gc.disable()


def freeze(*, lasting: bool = True) -> None:
    """Exclude all present objects from garbage collection, also from that at exit, so that none
    scans them and makes a fork copy them. A `lasting` process collects once before that."""
    if lasting:
        gc.collect()
    gc.freeze()
    gc.enable()


def prepare_for_forks() -> None:
    """Prepare the present objects to be shared by forks; call it before the first fork.

    A fork copies each page that it writes to, and loading leaves gaps of a few bytes in thousands
    of pages. They are filled permanently, which costs nothing because the pages exist already;
    what a fork allocates then lies together in pages of its own. Each fork has 4 MB less private
    memory (S12, S14).

    Garbage is not collected first: that would free 1 % and take an eighth of a start.
    """
    freeze(lasting=False)
    _gaps.extend(_small_gaps())
    gc.freeze()
    if hasattr(_libc, "mallinfo2"):
        _take_large_gaps()


def give_back() -> None:
    """Make glibc return freed memory to the system; call it before threads are started.

    By default glibc raises both thresholds when the first large buffer is freed, up to 32 and
    64 MiB, and the arena of each thread then keeps its peak. Set by a call and not by environment
    variables, which the programs we start would inherit.
    """
    if hasattr(_libc, "mallopt"):
        _libc.mallopt(_MMAP_THRESHOLD, LARGE_BYTES)
        _libc.mallopt(_TRIM_THRESHOLD, LARGE_BYTES)
        _libc.mallopt(_ARENA_MAX, ARENAS)


_gaps: list[bytes] = []


def _small_gaps() -> Iterator[bytes]:
    """Allocate objects of each size until one starts a new pool: then the older pools are full."""
    for size in range(_HEADER, _SMALL + 1, _STEP):
        for _ in range(_MOST // size):
            one = bytes(size - sys.getsizeof(b""))
            yield one
            if id(one) % _POOL == _HEADER:
                break


def _take_large_gaps() -> None:
    _libc.mallinfo2.restype, _libc.malloc.restype = _Used, ctypes.c_void_p
    _libc.malloc_trim(0)  # merges adjacent free chunks
    for size in _PIECES:
        top = _top()
        for _ in range(_MOST // size):
            if _libc.malloc(size) is None or _top() != top:
                break


class _Used(ctypes.Structure):
    """The result of mallinfo2(3); the last field is the free space at the top of the heap."""

    _fields_: ClassVar = [(f"word_{number}", ctypes.c_size_t) for number in range(10)]


def _top() -> int:
    return int(_libc.mallinfo2().word_9)
