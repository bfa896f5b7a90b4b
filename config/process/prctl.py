"""What a process sets for itself by prctl(2) on Linux, and what happens on other systems.

Elsewhere a thread checks once a second whether the parent lives; orphans go to the first process,
and any process of the same user can read the environment. Light: turn processes load it too.
"""

from __future__ import annotations

import ctypes
import os
import signal
import time

_PDEATHSIG, _DUMPABLE, _NAME, _SUBREAPER = 1, 4, 15, 36
LOOK_S = 1.0

_libc = ctypes.CDLL(None, use_errno=True)
KNOWN = hasattr(_libc, "prctl")


def become_subreaper() -> None:
    """Make orphans of our descendants our children instead of the first process's."""
    _ask(_SUBREAPER, 1)


def hide_memory() -> None:
    """Hide our environment and memory from commands of the same user; no core dumps."""
    _ask(_DUMPABLE, 0)


def die_with_parent() -> None:
    """Get SIGTERM when the thread that started us ends; the caller then checks its parent pid."""
    if KNOWN:
        _ask(_PDEATHSIG, signal.SIGTERM)
    else:
        _look_after(os.getppid())


def call_process(name: str) -> None:
    """Set the name that `ps -e` and `top` show instead of `python`; 15 bytes at most."""
    _ask(_NAME, name.encode())


def _ask(option: int, value: int | bytes) -> None:
    if KNOWN:
        _libc.prctl(option, value, 0, 0, 0)


def _look_after(parent: int) -> None:
    import threading

    threading.Thread(target=_look, args=(parent,), name="parent", daemon=True).start()


def _look(parent: int) -> None:
    import threading

    while os.getppid() == parent:
        time.sleep(LOOK_S)
    main = threading.main_thread().ident
    if main is not None:
        signal.pthread_kill(main, signal.SIGTERM)  # interrupts the call it blocks in
