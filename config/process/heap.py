"""What a long-lived process with many threads asks of glibc's heap; elsewhere nothing."""

from __future__ import annotations

import ctypes

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8  # of malloc.h
LARGE_BYTES = 512 * 1024
ARENAS = 2

_libc = ctypes.CDLL(None)


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
