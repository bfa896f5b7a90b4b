"""Whether a started service is ready."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from dashboard.health import connect
from dashboard.health.address import Itself, addresses
from dashboard.health.target import Target
from dashboard.services import logs, searcher
from dashboard.services.definition import Ready, Service
from dashboard.services.system.clock import Clock

log = logging.getLogger(__name__)
LOOK_S = 0.1
ALIVE_S = 1.0  # how long a command must live when nothing else can be checked
ANSWER_S = 5.0
SEARCHER = Path(__file__).with_name("searcher.py")


class CannotSearch(Exception):
    """The pattern cannot be searched for; the text says why."""


def condition(service: Service) -> Ready | None:
    """What to wait for: as the file says, else the port; None without either."""
    if service.ready is not None:
        asked = service.ready
        nothing = asked.port is None and asked.log is None and asked.http is None
        return replace(asked, port=service.port) if nothing else asked
    return Ready(port=service.port) if service.port is not None else None


async def wait(slug: str, service: Service, *, since: int, clock: Clock) -> None:
    """Return when the service is ready; `since` is where this run's log begins. No time limit."""
    ready = condition(service)
    if ready is None or (ready.port is None and ready.log is None and ready.http is None):
        await clock.sleep(ALIVE_S)
        return
    try:
        if ready.log is not None:
            await _line(slug, ready.log, since, clock)
        host = service.address or "localhost"
        while ready.port is not None and not await _accepts(ready.port, host):
            await clock.sleep(LOOK_S)
        while ready.http is not None and not await _answers(ready.http, host, service.port):
            await clock.sleep(LOOK_S)
    except (Itself, CannotSearch) as error:
        log.warning("%s is never ready by its service.ready: %s", slug, error)
        await asyncio.Event().wait()


async def _line(slug: str, pattern: str, since: int, clock: Clock) -> None:
    async with _searching(pattern) as found:
        data, since = await asyncio.to_thread(logs.read, slug, since)
        while not await found(data):
            data = b""
            while not data:
                await clock.sleep(LOOK_S)
                data, since = await asyncio.to_thread(logs.read, slug, since)


@asynccontextmanager
async def _searching(pattern: str) -> AsyncIterator[Callable[[bytes], Awaitable[bool]]]:
    """Yield a function that says whether the pattern is in the next output; see searcher.py."""
    try:
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-I", "-S", SEARCHER, env={}, cwd="/", start_new_session=True,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
    except OSError as error:
        raise CannotSearch(f"ready.log cannot be looked for: {error.strerror}") from None
    assert child.stdin is not None
    assert child.stdout is not None
    told, answers = child.stdin, child.stdout

    def tell(piece: bytes) -> None:
        told.write(len(piece).to_bytes(searcher.LENGTH))
        told.write(piece)

    async def found(data: bytes) -> bool:
        tell(data)
        with contextlib.suppress(OSError):
            await told.drain()
        answer = await answers.read(1)
        if not answer:
            raise CannotSearch("ready.log takes too long to be looked for in what it printed")
        return answer == b"1"

    tell(pattern.encode())
    try:
        yield found
    finally:
        with contextlib.suppress(ProcessLookupError):
            child.kill()
        await asyncio.shield(child.wait())


async def _accepts(port: int, host: str) -> bool:
    return await _ask(host, port, None) is not None


async def _answers(target: str, host: str, port: int | None) -> bool:
    """Whether the target answers with a status of 200 to 499, as for a probe. `host` and `port`
    apply to a target that is a path, which is asked over TLS if it speaks no plain HTTP."""
    place = f"[{host}]" if ":" in host else host
    url = urlsplit(target if "://" in target else f"http://{place}:{port or 80}{target}")
    path = (url.path or "/") + (f"?{url.query}" if url.query else "")
    host = url.hostname or "localhost"
    request = (
        f"GET {path} HTTP/1.1\r\nHost: {url.netloc}\r\nUser-Agent: svc (ready)\r\n"
        "Accept: */*\r\nConnection: close\r\n\r\n"
    )
    at = url.port or (443 if url.scheme == "https" else 80)
    for scheme in [url.scheme] if "://" in target else ["http", "https"]:
        line = await _ask(host, at, request.encode(), tls=scheme == "https")
        if match := re.match(rb"HTTP/1\.[01] ([0-9]{3})", line or b""):
            return 200 <= int(match[1]) < 500
    return False


async def _ask(host: str, port: int, request: bytes | None, *, tls: bool = False) -> bytes | None:
    """The first line of the answer; b"" if it only had to accept; None when nothing answers.
    Certificates are not verified: a service that has just started has whatever it has."""
    context = connect.unverified_context() if tls else None
    for address in await _addresses(host, port):
        with contextlib.suppress(OSError, TimeoutError, ValueError):
            async with asyncio.timeout(ANSWER_S):
                reader, writer = await asyncio.open_connection(
                    address, port, ssl=context, server_hostname=host if tls else None
                )
                try:
                    if request is None:
                        return b""
                    writer.write(request)
                    return await reader.readline()
                finally:
                    writer.close()
    return None


async def _addresses(host: str, port: int) -> list[str]:
    """The addresses to ask, none if they cannot be found. Raises Itself if that is this service."""
    try:
        async with asyncio.timeout(ANSWER_S):
            return await addresses(Target(host=host, port=port))
    except Itself:
        raise
    except (OSError, ValueError):  # includes a timeout
        return []
