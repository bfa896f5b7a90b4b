"""Probe one app once. Bounded in time and bytes; every outcome is a Result.

Raw asyncio streams and a new connection each time: keep-alive delays a dev server's shutdown and
hides a refusal. Redirects are never followed, proxy variables never read.
"""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import ssl
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace

from config.process import table
from dashboard.health import clock, http
from dashboard.health.address import Forbidden, Itself, Unresolved, addresses
from dashboard.health.connect import CONNECT_S, connect, streams
from dashboard.health.result import Kind, Page, Result, judge
from dashboard.health.target import Target

Connecting = Callable[[], AbstractAsyncContextManager[object]]
DRAIN_S = 0.1
BAD_REQUEST = 400
# This process is out of descriptors or buffers, which says nothing about the app.
_OURS = frozenset((errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM))


async def probe(
    target: Target,
    *,
    prefer: str | None = None,
    page: bool = False,
    connecting: Connecting = nullcontext,
) -> Result:
    """The result of probing `target`. `prefer` is the address that answered last time; `page` also
    reads title, headers and body; `connecting` makes a context manager that is entered for the
    connect phase alone.

    Raises OSError only if this process itself has run out of descriptors or memory.
    """
    if target.scheme == "process":
        return _alive(target)
    began = clock.now()
    blank = Result(began=began.mono, at=began.wall, kind=Kind.DNS)
    try:
        found = await addresses(target, within=target.timeout)
    except TimeoutError:
        return replace(blank, error=f"{target.host} was not resolved in {target.timeout:g} s")
    except Unresolved as error:
        return replace(blank, error=str(error))
    except Itself as error:
        return replace(blank, kind=Kind.NO_PROBE, error=str(error))
    except Forbidden as error:
        return replace(blank, kind=Kind.REFUSED, error=str(error))
    if prefer in found:
        found = [prefer, *(one for one in found if one != prefer)]
    result = await _ask(target, found, target.speaks == "https", page, connecting)
    if target.speaks == "auto" and _perhaps_tls(result):
        secure = await _ask(target, found, True, page, connecting)
        return secure if _is_tls(secure) else result
    return result


def _perhaps_tls(result: Result) -> bool:
    """Whether the port may speak TLS: to a plain request such servers send an alert or a 400, or
    hang up."""
    error = result.error or ""
    hung_up = error in {http.SPEAKS_TLS, http.NO_ANSWER, http.CUT} or error.startswith(http.BROKEN)
    return hung_up or result.status == BAD_REQUEST


def _is_tls(secure: Result) -> bool:
    """Whether the server speaks TLS, even if it refused with a TLS alert."""
    failed = secure.kind is Kind.TLS and "alert" not in (secure.error or "")
    return not failed and secure.kind not in {Kind.TIMEOUT, Kind.REFUSED}


async def _ask(
    target: Target,
    found: list[str],
    tls: bool,
    page: bool,
    connecting: Connecting,
) -> Result:
    """Make one connection. Returns its result."""
    async with connecting():
        began = clock.now()
        blank = Result(began=began.mono, at=began.wall, kind=Kind.TIMEOUT)
        limit = min(CONNECT_S, target.timeout)
        try:
            sock, addr = await connect(found, target.port, within=limit)
        except TimeoutError:
            return replace(blank, error=f"no connection within {limit:g} s")
        except OSError as error:
            if error.errno in _OURS:
                raise
            return replace(blank, kind=Kind.REFUSED, error=_plainly(error))
    reached = replace(blank, addr=addr)
    if target.speaks == "tcp":
        sock.close()
        return replace(reached, kind=Kind.OK, scheme="tcp", ms=_since(began.mono))
    return await _exchange(sock, target, reached, tls, page)


async def _exchange(
    sock: socket.socket, target: Target, reached: Result, tls: bool, page: bool
) -> Result:
    """Send the request over a connected socket. Returns the result of its answer."""
    writer: asyncio.StreamWriter | None = None
    try:
        async with asyncio.timeout(_seconds_left(target, reached)):
            reader, writer = await streams(sock, target, tls=tls, limit=http.HEAD_BYTES)
            writer.write(http.request(target))
            head = await http.read_head(reader)
        answered = _answer_result(target, head, reached, tls)
        return await _with_body(reader, head, target, answered, page)
    except TimeoutError:
        return replace(reached, error=f"connected, but no answer within {target.timeout:g} s")
    except ssl.SSLError as error:
        return replace(reached, kind=Kind.TLS, scheme="https", error=f"TLS failed: {_tls(error)}")
    except http.NotHttp as error:
        kind = Kind.TLS if str(error) == http.SPEAKS_TLS else Kind.NOT_HTTP
        return replace(reached, kind=kind, error=str(error))
    except OSError as error:
        text = f"{http.BROKEN}: {_plainly(error)}"
        return replace(reached, kind=Kind.TLS if tls else Kind.NOT_HTTP, error=text)
    finally:
        if writer is not None:
            writer.transport.abort()


def _answer_result(target: Target, head: http.Head, reached: Result, tls: bool) -> Result:
    kind, error = judge(target, head.status)
    return replace(
        reached,
        kind=kind,
        status=head.status,
        ms=_since(reached.began),
        scheme="https" if tls else "http",
        error=error,
    )


async def _with_body(
    reader: asyncio.StreamReader, head: http.Head, target: Target, answered: Result, page: bool
) -> Result:
    """The result with the body checked if it is wanted.

    A short body is read even if it is not wanted, because many servers log a broken connection.
    """
    if target.method == "HEAD":
        return answered
    wanted = page or (target.body is not None and answered.ok)
    seconds = max(0.0, _seconds_left(target, answered)) if wanted else DRAIN_S
    body = await http.read_body(reader, head, seconds)
    if page:
        answered = replace(answered, page=Page(http.title(head.headers, body), head.headers, body))
    if answered.ok and target.body and target.body.encode() not in body:
        error = "the first 64 KiB of the answer do not hold health.body"
        return replace(answered, kind=Kind.BODY, error=error)
    return answered


def _alive(target: Target) -> Result:
    """Scheme `process`: whether that very process, by pid and start, still runs."""
    began = clock.now()
    gone = Result(began=began.mono, at=began.wall, kind=Kind.EXITED, error="not running")
    if target.process is None:
        return gone
    pid, started = target.process
    if not table.same(pid, started):
        return replace(gone, error=f"process {pid} has ended")
    lived = table.age(started)
    return replace(gone, kind=Kind.OK, ms=_since(began.mono), error=None, lived=lived)


def _since(began: float) -> float:
    return round((clock.now().mono - began) * 1000, 3)


def _seconds_left(target: Target, result: Result) -> float:
    return result.began + target.timeout - clock.now().mono


def _plainly(error: OSError) -> str:
    """A text like `connection refused`, where asyncio would describe its call."""
    return (os.strerror(error.errno) if error.errno else str(error) or "no reason given").lower()


def _tls(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return error.verify_message
    return (error.reason or str(error)).replace("_", " ").lower()
