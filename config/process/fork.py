"""Fork a child that shares what its parent has loaded and then runs independently.

Only a process without threads may fork: a lock that another thread held would never be released
in the child.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.context import ForkProcess

from config.options import OptionError
from config.process import prctl

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD)
_context = get_context("fork")


def start(
    name: str,
    run: Callable[[], object],
    leave: Callable[[], None] = lambda: None,
    output: int | None = None,
) -> ForkProcess:
    """Fork a child that calls `run` and exits with 0, or with OptionError's exit code.

    It leads its own session, so that Ctrl-C reaches only its parent, and it ends with its parent.
    `leave` releases in it what belongs to the parent; `output` becomes its stdout and stderr.
    """
    parent = os.getpid()
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)  # still the parent's handlers

    def begin() -> None:
        os.setsid()
        _listen_to_nobody()
        leave()
        _redirect(output)
        prctl.call_process(f"svc-{name}")
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        die_with(parent)
        _finish(run)

    try:
        process = _context.Process(target=begin, name=name)
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    return process


def _listen_to_nobody() -> None:
    signal.set_wakeup_fd(-1)
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)


def _finish(run: Callable[[], object]) -> None:
    try:
        run()
    except OptionError as error:
        sys.exit(error.report())
    finally:
        atexit._run_exitfuncs()  # multiprocessing would skip them


def _redirect(output: int | None) -> None:
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    if output is not None:
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.close(output)


_forking = [0]  # pid of the process that forks


def bind() -> None:
    """Make every later child of this process, and their children in turn, end with its parent."""
    os.register_at_fork(before=_remember, after_in_child=lambda: die_with(_forking[0]))


def _remember() -> None:
    _forking[0] = os.getpid()


def die_with(parent: int) -> None:
    """End with the parent, even if the parent was killed before this call."""
    prctl.die_with_parent()
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)
