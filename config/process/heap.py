"""What a process asks of Python's search for garbage, and of glibc's heap."""

from __future__ import annotations

import ctypes
import gc

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8  # of malloc.h
LARGE_BYTES = 512 * 1024
ARENAS = 2

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
