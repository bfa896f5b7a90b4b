"""Another machine, as a network namespace on a wire of its own: what a turn reaches over the
network, and what tells this machine from others, cannot be tried on loopback.

Needs root and iproute2. Nothing leaves the namespace, and it goes with the test.
"""

from __future__ import annotations

import secrets
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from tests.network import _ip, within

NET = "10.78.6"
HERE, THERE = f"{NET}.1", f"{NET}.2"


class Far:
    """The other end of the wire, and what was started there."""

    def __init__(self, namespace: str) -> None:
        self.namespace = namespace
        self.started: list[subprocess.Popen[str]] = []

    def start(self, *argv: str, says: str, **more: Any) -> None:
        """A program that runs there, once it has said this on its standard output."""
        process = subprocess.Popen(
            [*within(self.namespace), *argv], stdout=subprocess.PIPE, text=True, **more
        )
        self.started.append(process)
        assert process.stdout
        while says not in (line := process.stdout.readline()):
            assert line, f"{argv[0]} ended"


@contextmanager
def far() -> Iterator[Far]:
    tag = secrets.token_hex(3)
    namespace, ours, theirs = f"svc-far-{tag}", f"sf{tag}a", f"sf{tag}b"
    _ip("netns", "add", namespace)
    machine = Far(namespace)
    try:
        _ip("link", "add", ours, "type", "veth", "peer", "name", theirs)
        _ip("link", "set", theirs, "netns", namespace)
        _ip("addr", "add", f"{HERE}/30", "dev", ours)
        _ip("link", "set", ours, "up")
        _ip("-n", namespace, "addr", "add", f"{THERE}/30", "dev", theirs)
        for device in (theirs, "lo"):
            _ip("-n", namespace, "link", "set", device, "up")
        yield machine
    finally:
        for process in machine.started:
            with suppress(ProcessLookupError):
                process.kill()
            process.wait()
            if process.stdout:
                process.stdout.close()
        with suppress(AssertionError):
            _ip("link", "del", ours)
        _ip("netns", "del", namespace)
