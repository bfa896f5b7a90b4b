"""Pings and the limit of the dashboard's stream (case D48)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, MutableMapping
from typing import Any

import pytest

from config.web import events
from config.web.events import Broadcaster
from dashboard.events import STREAM

SCOPE = {"type": "http", "method": "GET", "path": "/api/events", "headers": []}


class Clock:
    """The timers of the loop: they are over when the test says so."""

    def __init__(self) -> None:
        self.timers: list[tuple[float, Callable[[], None]]] = []

    def call_later(self, delay: float, call: Callable[[], None]) -> asyncio.TimerHandle:
        self.timers.append((delay, call))
        return asyncio.get_running_loop().call_at(float("inf"), call)

    def over(self) -> float:
        """The next timer is over; its seconds."""
        delay, call = self.timers.pop(0)
        call()
        return delay


async def test_a_stream_is_pinged_every_25_seconds_events_or_not(monkeypatch: pytest.MonkeyPatch):
    clock, source = Clock(), Broadcaster()
    monkeypatch.setattr(asyncio.get_running_loop(), "call_later", clock.call_later)
    client = source.join(None)
    await client.take()

    for number in range(3):
        source.publish("change", {"n": number})
        assert b"event: change" in await client.take()
        assert clock.over() == 25
        assert await client.take() == b": ping\n\n"

    source.leave(client)
    assert clock.timers != []  # the next one was under way, and ends with the last client
    assert source._ping is None


async def test_one_stream_too_many_is_told_to_come_back(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(events, "CLIENTS", 0)
    sent: list[dict[str, Any]] = []

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(dict(message))

    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    await STREAM(dict(SCOPE), receive, send)

    assert sent[0]["status"] == 503
    assert (b"retry-after", b"1") in sent[0]["headers"]
    assert json.loads(sent[1]["body"]) == {
        "error": "Too many event streams are open.",
        "code": "too_many_streams",
    }
