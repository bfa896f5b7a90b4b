"""The nodes on one PostgreSQL and one Redis: which one this is, and which others there are.

A node is one installation of the service, one data directory. Each reports itself to the others
through one hash in the Redis. Only lists of nodes depend on it: which node runs what is decided
by database transactions.
"""

from __future__ import annotations

import logging
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import orjson
from django.conf import settings

from config import __version__
from config.options import OptionError
from config.process import redis_client
from config.process.node_registry import ID, LONGEST, Node, NodeRegistry
from config.storage import opening
from config.web.late import load

__all__ = ["Node", "Nodes", "can_hear", "follow", "forget", "me", "name", "others", "twin"]

log = logging.getLogger(__name__)

KEY = "svc:nodes"  # field: id of a node; value: its report, JSON
BEAT_S = float(os.environ.get("SVC_TEST_BEAT_S", "5"))
SILENCE_S = 3 * BEAT_S
WAIT_S = 1.0  # for the first look of a process
MOST = 1000  # nodes
MEND = (
    "where a data directory is a copy of the other, stop its service, delete <data>/state/node "
    "and start again"
)
# The time of the Redis and all values that are not too long, in one round trip.
LOOK = """
local told, most = {}, tonumber(ARGV[2])
for _, id in ipairs(redis.call('HKEYS', KEYS[1])) do
  if #told < most and redis.call('HSTRLEN', KEYS[1], id) <= tonumber(ARGV[1]) then
    told[#told + 1] = id
    told[#told + 1] = redis.call('HGET', KEYS[1], id)
  end
end
return {redis.call('TIME')[1], told}
"""


def me() -> str:
    """The id of this node, made once, at random, in `<data>/state/node`."""
    return _identity(settings.DATA_DIR / "state" / "node")


def name() -> str:
    """The name of this node for people: the setting, else the name of the host."""
    return settings.SVC.node or socket.gethostname()


def others() -> list[Node]:
    """Other nodes by name, gone ones for a week; [] without Redis. Waits once, 1 s at most."""
    if not settings.SVC.redis_url:
        return []
    return [node for node in _running().nodes() if node.id != me()]


def twin() -> str:
    """The name of another server that uses the id of this node; "" when there is none."""
    if not settings.SVC.redis_url:
        return ""
    return _running().twin()


def can_hear() -> bool:
    """Whether the Redis answers; while it does not, no node is heard. True without a Redis."""
    return not settings.SVC.redis_url or _running().heard


def forget(node: str) -> None:
    """Remove a node from the lists until it is heard again."""
    if settings.SVC.redis_url:
        with redis_client.connect() as redis:
            redis.hdel(KEY, node)


def follow(changed: Callable[[], None]) -> Callable[[], None]:
    """Call `changed` (from a thread) when others() or can_hear() changes; returns what ends it."""
    _followers.append(changed)
    return lambda: _followers.remove(changed)


_followers: list[Callable[[], None]] = []
_starting = threading.Lock()
_nodes: Nodes | None = None


def _running() -> Nodes:
    """The Nodes of this process; one that is not the server's only listens."""
    global _nodes  # noqa: PLW0603 - one per process
    with _starting:
        if _nodes is None or _nodes.pid != os.getpid():
            _nodes = Nodes(speaks=False)
            _nodes.start()
        found = _nodes
    found.looked.wait(WAIT_S)
    return found


class Nodes:
    """One of settings.SVC_BACKGROUND with a Redis: reports and listens, on one thread."""

    def __init__(self, *, speaks: bool = True) -> None:
        self.pid, self.heard = os.getpid(), True
        self.looked = threading.Event()
        self._speaks, self._beats = speaks, 0
        self._boot = secrets.token_hex(8)
        self._redis = redis_client.connect()
        self._registry, self._lock = NodeRegistry(SILENCE_S), threading.Lock()
        self._stopped = threading.Event()
        self._twin, self._twin_at = "", 0.0
        self._reported: object = None
        self._thread = threading.Thread(target=self._run, name="svc-nodes", daemon=True)

    def start(self) -> None:
        global _nodes  # noqa: PLW0603 - one per process
        if self._speaks:
            me()
            with _starting:
                _nodes = self
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join(1)

    def nodes(self) -> list[Node]:
        """All nodes, this one too."""
        with self._lock:
            return self._registry.nodes(time.monotonic())

    def twin(self) -> str:
        """Name of another server with our id, from the report if this process only listens."""
        if self._speaks:
            return self._twin
        return next((node.twin for node in self.nodes() if node.id == me()), "")

    def _run(self) -> None:
        while not self._stopped.is_set():
            self._round()
            self.looked.set()
            self._tell_followers()
            self._stopped.wait(BEAT_S)
        self._redis.close()

    def _round(self) -> None:
        """Listen, then report. What fails is tried again at the next beat."""
        import redis

        try:
            at, values = self._listen()
            if self._speaks:
                self._speak(at, values.get(me()))
            self._forget()
        except (redis.RedisError, OSError) as error:
            if self.heard:
                log.warning("other nodes are not heard", extra={"why": str(error)})
            self.heard = False
            return
        self.heard = True

    def _listen(self) -> tuple[int, dict[str, bytes]]:
        at, flat = self._redis.eval(LOOK, 1, KEY, LONGEST, 2 * MOST)
        found = dict(zip((one.decode(errors="replace") for one in flat[::2]), flat[1::2],
                         strict=True))  # fmt: skip
        with self._lock:
            self._registry.hear(found, now=time.monotonic(), wall=time.time(), redis=int(at))
        return int(at), found

    def _speak(self, at: int, last: bytes | None) -> None:
        """Write our current report; `last` is the last report under our id."""
        self._look_for_twin(last)
        self._beats += 1
        said = {
            "name": name(),
            "url": settings.SVC.node_url,
            "version": __version__,
            **{fact: _fact(where) for fact, where in settings.SVC_NODE_FACTS.items()},
            "twin": self._twin,
            "boot": self._boot,
            "beat": self._beats,
            "at": at,
        }
        self._redis.hset(KEY, me(), orjson.dumps(said))

    def _look_for_twin(self, last: bytes | None) -> None:
        """Detect a server that reports under our id: one data directory is a copy of the other."""
        with self._lock:
            told = self._registry.report_of(me()) if last is not None else {}
        if self._beats and told.get("boot") not in (None, self._boot):
            other = str(told.get("name"))[:80] or "?"
            if other != self._twin:
                log.error(f"the server {other} uses the id of this node: {MEND}")
            self._twin, self._twin_at = other, time.monotonic()
        elif self._twin and time.monotonic() - self._twin_at > SILENCE_S:
            self._twin = ""

    def _forget(self) -> None:
        with self._lock:
            gone = self._registry.forget(time.monotonic())
        if gone:
            self._redis.hdel(KEY, *gone)

    def _tell_followers(self) -> None:
        """Call the followers if anything changed besides the fields that change with every beat."""
        mine = me() if self._speaks else ""
        listed = [
            (one.id, one.name, one.url, one.version, one.home, one.apps, one.dashboard, one.alive)
            for one in self.nodes()
            if one.id != mine
        ]
        now = (self.heard, listed)
        if self._reported not in (None, now):
            for changed in [*_followers]:
                with suppress(Exception):
                    changed()
        self._reported = now


def _fact(where: str) -> Any:
    """What a part reports about this node; None while that fails."""
    try:
        return load(where)()
    except Exception as error:  # a part that is not ready must not silence the node
        log.debug("a node does not say all", extra={"why": str(error)})
        return None


@cache
def _identity(path: Path) -> str:
    """The id in `path`, made if missing: of two first starts link() lets one win. OptionError
    if the file holds no id."""
    if not path.exists():
        draft = path.with_name(f".svc-tmp-node-{os.getpid()}-{threading.get_ident()}")
        draft.touch(mode=0o600)
        draft.write_text(secrets.token_hex(8))
        with suppress(FileExistsError):  # another process was first; its id is the id
            os.link(draft, path)
        draft.unlink()
    found = opening.contents(path).decode(errors="replace").strip()
    if not ID.fullmatch(found):
        raise OptionError(f"{path} holds no id of a node: delete it, and a new one is made")
    return found
