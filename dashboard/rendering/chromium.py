"""One Chromium in its own process group, driven over its DevTools pipe.

No port is opened: only this process can send it commands. Its profile is temporary. Its sandbox is
on, except for root: Chromium does not start as root with one.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import json
import os
import shutil
import signal
import socket
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import psutil

from config.web import surfaces
from dashboard.files import layout

NAMES = (
    "chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)  # fmt: skip
NICE = 10  # below what the user runs, but not so low that a busy machine never gets a picture
MESSAGE = 64 << 20  # bytes of one message: a screenshot in base64 is the largest
_FLAGS = (
    "--headless=new", "--remote-debugging-pipe", "--no-first-run", "--no-default-browser-check",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-extensions", "--disable-breakpad", "--disable-dev-shm-usage", "--disable-gpu",
    "--block-new-web-contents", "--deny-permission-prompts", "--mute-audio", "--hide-scrollbars",
    "--password-store=basic", "--use-mock-keychain", "--metrics-recording-only",
)  # fmt: skip
# Where no request of a page may go, sockets and workers included, in any form of the address.
_NEVER = (
    "169.254.*", "[fe8*", "[fe9*", "[fea*", "[feb*", "[::ffff:a9fe:*", "[64:ff9b::a9fe:*",
    "100.100.100.200", "168.63.129.16", "192.0.0.192", "[fd00:ec2::254*",
    "metadata.google.internal",
)  # fmt: skip
# The names of any machine for itself.
_HERE = (
    "localhost", "*.localhost", "127.*", "[::1]", "[::ffff:7f*]", "[::]", "[::ffff:0:0]",
    "0.0.0.0",  # noqa: S104 - a name for the machine, nothing is bound
)  # fmt: skip
# the pipe is descriptors 3 and 4 of the browser, made from its standard input and output
_SHELL = 'exec "$0" "$@" 3<&0 4>&1 0</dev/null 1>/dev/null 2>/dev/null'


class Broken(Exception):
    """The browser did not start, ended, or refused a command."""


def find_browser(command: str | None) -> str | None:
    """The browser to run: screenshots.command of config.yaml, else the first known one; None if
    there is none."""
    if command:
        return shutil.which(os.path.expanduser(command))  # noqa: PTH111 - `which` takes text
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def _flags() -> tuple[str, ...]:
    never = ", ".join(f"MAP {one} ~NOTFOUND" for one in (*_NEVER, *_own()))
    root = ("--no-sandbox",) if os.geteuid() == 0 else ()
    return (*_FLAGS, f"--host-resolver-rules={never}", *root)


def _own() -> list[str]:
    """This service's own listeners, by all names and addresses that this machine has now."""
    hosts = {*_HERE, socket.gethostname().lower()}
    for one in (one for found in psutil.net_if_addrs().values() for one in found):
        if one.family == socket.AF_INET:
            high, low = divmod(int(ipaddress.IPv4Address(one.address)), 1 << 16)
            hosts |= {one.address, f"[::ffff:{high:x}:{low:x}]"}
        elif one.family == socket.AF_INET6:
            hosts.add(f"[{one.address.partition('%')[0]}]")
    return [f"{host}:{port}" for port in set(surfaces.ports().values()) for host in sorted(hosts)]


class Browser:
    """Commands and events of the DevTools protocol."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._in, self._out = process.stdin, process.stdout
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._last = 0
        self.heard: Callable[[str, dict[str, Any]], None] = lambda _method, _params: None

    def say(self, method: str, session: str | None = None, **params: Any) -> int:
        """Send a command without waiting for its answer. Returns its number."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": params}
        if session is not None:
            message["sessionId"] = session
        self._in.write(json.dumps(message).encode() + b"\0")
        return self._last

    async def ask(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:
        """The result of a command. Broken if the browser refuses it or ends."""
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[self.say(method, session, **params)] = answer
        return await answer

    async def listen(self) -> None:
        """Dispatch the browser's messages until it ends."""
        try:
            while True:
                message = json.loads((await self._out.readuntil(b"\0"))[:-1])
                waiter = self._waiting.pop(message.get("id"), None)
                if waiter is None:
                    if "method" in message:
                        self.heard(message["method"], message.get("params", {}))
                elif waiter.done():
                    continue
                elif "error" in message:
                    waiter.set_exception(Broken(str(message["error"].get("message"))))
                else:
                    waiter.set_result(message["result"])
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError, ValueError):
            for waiter in self._waiting.values():
                if not waiter.done():
                    waiter.set_exception(Broken("the browser ended"))


def cpu_seconds(pid: int) -> float:
    """CPU seconds of a process and all its descendants, including those that have ended."""
    total = 0.0
    with contextlib.suppress(psutil.Error):
        top = psutil.Process(pid)
        for one in (top, *top.children(recursive=True)):
            with contextlib.suppress(psutil.Error):
                total += sum(one.cpu_times()[:4])  # the last two are those of its ended children
    return total


@asynccontextmanager
async def running(
    command: str, size: tuple[int, int], ended: Callable[[float], object] = lambda _cpu: None
) -> AsyncIterator[Browser]:
    """A browser for the length of the block; its whole process group is killed at the end.

    `ended` receives the CPU seconds that it took.
    """
    folder = tempfile.mkdtemp(prefix="browser-", dir=layout.cache_dir())
    try:
        process = await asyncio.create_subprocess_exec(
            "/bin/sh", "-c", _SHELL, command, *_flags(), f"--user-data-dir={folder}",
            f"--window-size={size[0]},{size[1]}",
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            start_new_session=True, limit=MESSAGE,
        )  # fmt: skip
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PGRP, process.pid, NICE)
        browser = Browser(process)
        listening = asyncio.create_task(browser.listen())
        try:
            yield browser
        finally:
            try:
                ended(await asyncio.to_thread(cpu_seconds, process.pid))
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            await asyncio.shield(process.wait())
            listening.cancel()
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
