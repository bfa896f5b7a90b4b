"""The one thread that ticks the chats with open streams.

It exists only while there are clients. It ticks fast while something runs, and slowly otherwise.
Queue rows come from the database, in one query for all chats. Why it polls:
docs/design/workspace.md#event-streams.
"""

from __future__ import annotations

import logging
import threading
import time

from django.db import DatabaseError, connections

from config.process import wakeup
from workspace.chats.streams.channel import Channel, Watcher
from workspace.chats.turns import queue, states
from workspace.chats.turns.delivery import CHANGES
from workspace.models import Turn

log = logging.getLogger(__name__)

TICK_S, IDLE_TICK_S = 0.05, 0.2  # an idle open page must cost almost nothing
QUEUE_LOOK_S, IDLE_QUEUE_LOOK_S = 0.25, 1.0
IDLE_AFTER_S = 3.0


class Watch:
    """All channels of this process and the one thread that ticks them."""

    def __init__(self) -> None:
        self._channels: dict[str, Channel] = {}
        self._lock = threading.Lock()
        self._ticking = False

    def join(self, watcher: Watcher, project: str, chat: str, path: str) -> bool:
        """Attach a client. False while it is too far behind."""
        if path not in self._channels:
            fresh = Channel(project, chat, path)
            fresh.look_at_queue(queue.active_rows(project, chat))
        with self._lock:
            channel = self._channels.get(path) or fresh
            joined = channel.join(watcher)
            if channel.watchers:
                self._channels[path] = channel
                self._tick()
        return joined

    def leave(self, watcher: Watcher, path: str) -> None:
        """Detach a client, also one whose join in another thread has not attached it yet."""
        with self._lock:
            watcher.closed = True
            channel = self._channels.get(path)
            if channel is not None:
                channel.leave(watcher)
                if not channel.watchers:
                    del self._channels[path]

    @property
    def clients(self) -> int:
        """The number of open chat streams."""
        with self._lock:
            return sum(len(channel.watchers) for channel in self._channels.values())

    def _tick(self) -> None:
        if not self._ticking:
            threading.Thread(target=self._run, name="chat-streams", daemon=True).start()
            self._ticking = True

    def _run(self) -> None:
        while True:
            try:
                self._follow()
                break
            except Exception:  # such as too many open files: the streams go on when some are free
                log.exception("chats are not followed for a moment")
                time.sleep(IDLE_AFTER_S)
        connections.close_all()

    def _follow(self) -> None:
        """Tick until no client is left."""
        looked, busy_until, rung = 0.0, 0.0, True
        with wakeup.Wakeup(CHANGES) as sleeper:
            while channels := self._list_channels():
                now = time.monotonic()
                ticked = [self._tick_one(channel) for channel in channels]
                if rung or any(ticked):
                    busy_until = now + IDLE_AFTER_S
                busy = now < busy_until
                if rung or now - looked >= (QUEUE_LOOK_S if busy else IDLE_QUEUE_LOOK_S):
                    looked = now
                    self._look(channels)
                rung = sleeper.wait(TICK_S if busy else IDLE_TICK_S)

    def _tick_one(self, channel: Channel) -> bool:
        try:
            return channel.tick()
        except Exception:  # one unreadable chat must not stop the others
            log.exception("chat stream failed", extra={"chat": channel.chat})
            return False

    def _look(self, channels: list[Channel]) -> None:
        try:
            look_at_queues(channels)
        except Exception:  # whatever fails, the streams go on
            log.exception("the queues of watched chats could not be read")

    def _list_channels(self) -> list[Channel]:
        """The channels with clients; the thread ends when there are none."""
        with self._lock:
            if not self._channels:
                self._ticking = False
            return list(self._channels.values())


def look_at_queues(channels: list[Channel]) -> None:
    """Read the queues of all chats with open streams in one query."""
    rows: dict[tuple[str, str], list[Turn]] = {(one.project, one.chat): [] for one in channels}
    chats = [chat for _, chat in rows]
    wanted = Turn.objects.filter(chat__in=chats, state__in=(*states.BUSY, *states.WAITING))
    try:
        for turn in wanted.order_by("id"):
            rows.setdefault((turn.project, turn.chat), []).append(turn)
    except DatabaseError:
        return  # the database is locked or gone: the next look is soon
    for channel in channels:
        channel.look_at_queue(rows[channel.project, channel.chat])


WATCH = Watch()
