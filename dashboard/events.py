"""The events that clients of the dashboard receive: hints to refetch, never contents.

`EventDebouncer` belongs to the daemon's thread; the stream is served from the server's loop. How
events are merged: docs/design/dashboard.md#events
"""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from config.errors import MethodNotAllowed, Unavailable
from config.web.answers import Receive, Send, refusal, refuse
from config.web.events import Broadcaster, EventStream, Messages, declare

QUIET_S = 0.12  # about 150 ms with the time a watcher takes to see a file
LONGEST_S = 1.0
# If one item has several reasons, the one that is later in this list is sent.
WEIGHT = ("scan", "config", "claimed", "ignored", "error", "removed")

Key = tuple[str, str]  # type; slug, group or reason


@dataclass(slots=True)
class StreamGreeting:
    """What a stream receives when it begins or cannot resume, valid from the first moment of the
    run; written by the daemon alone."""

    boot: str = ""
    rev: int = 0
    lost: list[str] = field(default_factory=list)
    on_join: Callable[[], None] = lambda: None

    def __post_init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Begin a run, with a new id."""
        self.boot = secrets.token_hex(6)

    def hello(self) -> Mapping[str, Any]:
        return {"boot": self.boot, "rev": self.rev}

    def joined(self) -> None:
        self.on_join()

    def resync(self) -> Messages:
        """The events for a client that cannot resume: everything may have changed."""
        return [
            ("change", {"type": "apps", "reason": "resync"}),
            ("change", {"type": "bookmarks"}),
            ("change", {"type": "observed", "reason": "scan"}),
            ("change", {"type": "config"}),
            ("change", {"type": "reboot", "lost": self.lost}),
        ]


GREETING = StreamGreeting()
os.register_at_fork(after_in_child=GREETING.begin)  # in each forked server
EVENTS = declare(
    "dashboard",
    Broadcaster(resync=GREETING.resync, hello=GREETING.hello, joined=GREETING.joined),
)
_stream = EventStream("dashboard")


async def STREAM(scope: dict[str, Any], receive: Receive, send: Send) -> None:  # noqa: N802
    """ASGI: GET /api/events."""
    if scope["method"] != "GET":
        text = f"{scope['method']} is not possible on {scope['path']}; use GET."
        await refuse(send, refusal(MethodNotAllowed(text), (b"allow", b"GET")))
    elif EVENTS.full():
        error = Unavailable("Too many event streams are open.", code="too_many_streams")
        await refuse(send, refusal(error, (b"retry-after", b"1")))
    else:
        await _stream(scope, receive, send)


@dataclass(slots=True)
class Pending:
    """One event that waits until its item stops changing; `latest` is loop time."""

    latest: float
    timer: asyncio.TimerHandle
    fields: dict[str, Any]


class EventDebouncer:
    """Events of one daemon run, on its thread: those of one item within a moment are merged."""

    def __init__(self, publish: Callable[[str, Mapping[str, Any]], object] = EVENTS.publish):
        self._publish = publish
        self._pending: dict[Key, Pending] = {}

    def app(self, slug: str, reason: str) -> None:
        """`reason`: config, removed or error."""
        self._later("app", slug, slug=slug, reason=reason)

    def apps(self, reason: str) -> None:
        """The list changed: added, removed, discovered, gone or resync."""
        self._later("apps", reason, reason=reason)

    def state(self, slug: str, state: str) -> None:
        """A health transition, published at once."""
        self._publish("change", {"type": "state", "slug": slug, "state": state})

    def bookmarks(self, group: str | None = None) -> None:
        self._later("bookmarks", group or "", **({"group": group} if group else {}))

    def observed(self, reason: str) -> None:
        """`reason`: scan, claimed, ignored or config."""
        self._later("observed", "", reason=reason)

    def thumb(self, slug: str) -> None:
        self._later("thumb", slug, slug=slug)

    def config(self) -> None:
        self._later("config", "")

    def nodes(self) -> None:
        """Another node appeared, disappeared or has changed."""
        self._later("nodes", "")

    def reboot(self, ids: Sequence[str]) -> None:
        """The lost-at-reboot notice changed; `ids` is empty when it was cleared."""
        GREETING.lost = list(ids)
        self._later("reboot", "", lost=list(ids))

    def flush(self) -> None:
        """Publish all waiting events now."""
        for key in [*self._pending]:
            self._tell(key)

    def _later(self, kind: str, item: str, **fields: Any) -> None:
        loop, key = asyncio.get_running_loop(), (kind, item)
        before = self._pending.get(key)
        latest = before.latest if before else loop.time() + LONGEST_S
        if before is not None:
            before.timer.cancel()
            fields = _merge(before.fields, fields)
        timer = loop.call_at(min(loop.time() + QUIET_S, latest), self._tell, key)
        self._pending[key] = Pending(latest, timer, {"type": kind, **fields})
        if loop.time() >= latest:
            self._tell(key)

    def _tell(self, key: Key) -> None:
        pending = self._pending.pop(key)
        pending.timer.cancel()
        self._publish("change", pending.fields)


def _merge(before: dict[str, Any], fields: dict[str, Any]) -> dict[str, Any]:
    """The newer event, with the weightier of the two reasons."""
    reasons = [one["reason"] for one in (before, fields) if "reason" in one]
    known = [reason for reason in reasons if reason in WEIGHT]
    return fields | ({"reason": max(known, key=WEIGHT.index)} if known else {})
