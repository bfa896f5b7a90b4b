"""The real server around a small ASGI app, as a process: what the raw-socket tests talk to.

    python -m tests.config.wire_server [CERT KEY]

Prints its port. The app says on stdout what happened to it, one word a line.
"""

from __future__ import annotations

import asyncio
import gc
import sys
from pathlib import Path
from typing import Any

from config.web.answers import Receive, Send
from config.web.events import EventStream, broadcaster
from config.web.http.listeners import Listener, open_ports
from config.web.http.server import Server

BIG = b"x" * 65536
GO = asyncio.Event()


def say(*words: object) -> None:
    print(*words, flush=True)


async def answer(send: Send, body: bytes, status: int = 200, *, more: bool = False) -> None:
    headers = [(b"content-type", b"text/plain")]
    if not more:
        headers.append((b"content-length", b"%d" % len(body)))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": more})


async def whole(receive: Receive) -> bytes | None:
    parts = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message["body"])
        if not message["more_body"]:
            return b"".join(parts)


async def app(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    say("began", scope["path"])
    try:
        await ROUTES[scope["path"]](scope, receive, send)
    finally:
        say("ended", scope["path"])


async def echo(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    body = await whole(receive)
    if body is None:
        say("left")
    else:
        await answer(send, b"%s %d %s" % (scope["method"].encode(), len(body), body[:40]))


async def refuse(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    await answer(send, b"no", 401)


async def limit(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """413 as soon as more than 5 MB have come."""
    size, more = 0, True
    while more and size <= 5_000_000:
        message = await receive()
        size, more = size + len(message["body"]), message["more_body"]
    await answer(send, b"%d" % size, 413 if more else 200)


async def hold(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """Takes one piece of the body, then waits for the client to go away."""
    say("took", len((await receive())["body"]))
    await answer(send, b"held", more=True)
    while (await receive())["type"] != "http.disconnect":
        pass


async def sit(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """Takes one piece of the body and never asks for more."""
    say("took", len((await receive())["body"]))
    await asyncio.Event().wait()


async def flood(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """Writes 64 MB; says how much it got rid of."""
    await answer(send, b"", more=True)
    for number in range(1024):
        await send({"type": "http.response.body", "body": BIG, "more_body": True})
        say("sent", number)
    await send({"type": "http.response.body", "body": b""})


async def unsized(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """A whole answer that does not say how long it is."""
    body = await whole(receive) or b""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"whole %b" % body})


async def steps(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """Headers at once; the body when another request asks for /go."""
    await whole(receive)
    await answer(send, b"", more=True)
    await GO.wait()
    await send({"type": "http.response.body", "body": b"done"})


async def go(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    GO.set()
    await answer(send, b"gone")


async def crash(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    raise RuntimeError("secret")


async def torn(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    await answer(send, b"half", more=True)
    raise RuntimeError("secret")


async def where(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    shown = {name: scope[name] for name in ("scheme", "root_path", "client", "raw_path")}
    names = sorted(name.decode() for name, _value in scope["headers"])
    await answer(send, repr(shown | {"headers": names}).encode())


async def publish(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """Publishes as many events as the body says, from a thread, and tells the last id."""
    count = int(await whole(receive) or 0)
    source = broadcaster("wire")
    last = await asyncio.to_thread(lambda: [source.publish("n", {}) for _ in range(count)][-1])
    await answer(send, b"%d" % last)


async def garbage(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """How much the collector alone could free since the last time; from now on it is only asked."""
    gc.disable()
    await answer(send, b"%d" % gc.collect())


ANSWERS = (echo, refuse, limit, hold, sit, flood, unsized, steps, go, crash, torn, where, publish)
ROUTES: dict[str, Any] = {"/events": EventStream("wire"), "/garbage": garbage} | {
    f"/{route.__name__}": route for route in ANSWERS
}


def main(tls: list[str]) -> None:
    pair = (Path(tls[0]), Path(tls[1])) if tls else None

    def listen(factory: Any) -> None:
        say(open_ports([Listener("main", ("127.0.0.1",), 0, tls=pair)], factory)["main"])

    server = Server(app, listen=listen, started=lambda: None, stopping=lambda: say("stopping"))
    server.run()
    say("stopped")


if __name__ == "__main__":
    main(sys.argv[1:])
