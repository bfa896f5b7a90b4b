"""Another machine, as a network namespace on a wire of its own: what a turn reaches over the
network, and what tells this machine from others, cannot be tried on loopback.

The near end of the wire is a namespace too, which the test enters: a wire of the machine's own
would come and go under the browser of another test, whose requests then fail. Needs root and
iproute2. Nothing leaves the namespaces, and they go with the test.
"""

from __future__ import annotations

import ctypes
import os
import secrets
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from tests.network import _ip, within

NET = "10.78.6"
CLONE_NEWNET = 0x40000000
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

    def end(self) -> None:
        for process in self.started:
            with suppress(ProcessLookupError):
                process.kill()
            process.wait()
            if process.stdout:
                process.stdout.close()


@contextmanager
def far() -> Iterator[Far]:
    """What this thread starts or opens from here on is on this end of the wire."""
    tag = secrets.token_hex(3)
    near, away = f"svc-near-{tag}", f"svc-far-{tag}"
    with _namespace(near), _namespace(away), _entered(near):
        _ip(
            "-n", near, "link", "add", "wire", "type", "veth", "peer", "name", "wire", "netns", away
        )
        for namespace, address in ((near, HERE), (away, THERE)):
            _ip("-n", namespace, "addr", "add", f"{address}/30", "dev", "wire")
            for device in ("wire", "lo"):
                _ip("-n", namespace, "link", "set", device, "up")
        machine = Far(away)
        try:
            yield machine
        finally:
            machine.end()


@contextmanager
def _namespace(name: str) -> Iterator[None]:
    _ip("netns", "add", name)
    try:
        yield
    finally:
        _ip("netns", "del", name)


@contextmanager
def _entered(namespace: str) -> Iterator[None]:
    """This thread in the namespace, and back where it was."""
    back = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        _enter(f"/run/netns/{namespace}")
        try:
            yield
        finally:
            _enter(f"/proc/self/fd/{back}")
    finally:
        os.close(back)


def _enter(path: str) -> None:
    """os.setns, which Python has from 3.12 on."""
    namespace = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if ctypes.CDLL(None, use_errno=True).setns(namespace, CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"setns {path}")
    finally:
        os.close(namespace)
