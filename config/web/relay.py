"""Events from server to server, through channels-redis.

Each server sends its events to its own streams at once, and to other servers through the relay.
Events are hints to look again, so a repeated one does no harm; after an outage every stream gets a
resync.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from channels.layers import get_channel_layer

from config.web import events

log = logging.getLogger(__name__)

GROUP = "svc.events"
SURFACES = ("main", "review")  # the apps of a dashboard belong to its own machine
PING_S, ANSWER_S = 2.0, 5.0


class Relay:
    """One of settings.SVC_BACKGROUND with a Redis: a thread with its own event loop."""

    def __init__(self) -> None:
        self._me = secrets.token_hex(8)
        self._layer = get_channel_layer()
        self._loop = asyncio.new_event_loop()
        self._stopped = asyncio.Event()
        self._heard = asyncio.Event()  # one of our own messages came back
        self._lost = False

    def start(self) -> None:
        threading.Thread(target=self._serve, name="relay", daemon=True).start()

    def stop(self) -> None:
        events.follow(None)
        with suppress(RuntimeError):  # the loop has ended already
            self._loop.call_soon_threadsafe(self._stopped.set)

    def tell(self, surface: str, event: str, data: Mapping[str, Any]) -> None:
        """Send an event to the other servers; callable from any thread, never blocks."""
        if surface in SURFACES:
            message = {"type": "event", "by": self._me, "of": [surface, event, dict(data)]}
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._send, message)

    def _serve(self) -> None:
        try:
            self._loop.run_until_complete(self._run())
        finally:
            self._loop.close()

    async def _run(self) -> None:
        events.follow(self.tell)
        while not self._stopped.is_set():
            try:
                await self._relay()
            except Exception as error:
                if not self._lost:
                    why = str(error) or "it says nothing"
                    log.warning("events of other servers are not heard", extra={"why": why})
                self._lost = True
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopped.wait(), PING_S)
        with suppress(Exception):
            await self._layer.flush()

    async def _relay(self) -> None:
        """Join the group, listen, and send regular pings. Raises if a ping does not come back: else
        a connection whose other end vanished silently would never be given up."""
        with suppress(Exception):  # close what is left of failed connections
            async with asyncio.timeout(ANSWER_S):
                await self._layer.flush()
        async with asyncio.timeout(ANSWER_S):
            channel = await self._layer.new_channel()
            await self._layer.group_add(GROUP, channel)
        listening = asyncio.ensure_future(self._listen(channel))
        try:
            while not self._stopped.is_set():
                self._heard.clear()
                async with asyncio.timeout(ANSWER_S):
                    await self._layer.group_send(GROUP, {"type": "ping", "by": self._me})
                    await self._heard.wait()
                self._on_reconnected()
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._stopped.wait(), PING_S)
        finally:
            listening.cancel()

    def _on_reconnected(self) -> None:
        """Resync all streams after an outage: events may have been lost."""
        if self._lost:
            self._lost = False
            log.info("events of other servers are heard again")
            for surface in SURFACES:
                events.broadcaster(surface).resync()

    async def _listen(self, channel: str) -> None:
        while True:
            message = await self._layer.receive(channel)
            if message["by"] == self._me:
                self._heard.set()
            elif message["type"] == "event":
                surface, event, data = message["of"]
                events.broadcaster(surface).publish(event, data, relayed=True)

    def _send(self, message: dict[str, Any]) -> None:
        task = self._loop.create_task(self._layer.group_send(GROUP, message))
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
