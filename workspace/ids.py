"""Identifiers: ULIDs (sortable by creation) for rows, UUIDs for chats."""

from __future__ import annotations

import json
import os
import re
import threading
import time
import uuid
from datetime import datetime

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_OF_KEYS = uuid.UUID("3f1c9a52-6f0e-4b7b-9d57-1f6d1a0c8b3e")
_lock = threading.Lock()
_last = 0

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
RUN = re.compile(f"run_[{_CROCKFORD}]{{26}}")


def ulid() -> str:
    """48 bits of milliseconds, 80 random bits; strictly increasing within one process."""
    global _last  # noqa: PLW0603 - one monotone counter per process is the point
    with _lock:
        number = (time.time_ns() // 1_000_000) << 80 | int.from_bytes(os.urandom(10), "big")
        if number <= _last:
            number = _last + 1
        _last = number
    return _encode(number)


def _encode(number: int) -> str:
    return "".join(_CROCKFORD[number >> shift & 31] for shift in range(125, -1, -5))


def turn_id() -> str:
    return f"msg_{ulid()}"


def following(turn: str) -> str:
    """The least turn id after `turn`, which keeps the order even if the clock was set back."""
    number = 1 + sum(_CROCKFORD.index(c) << 5 * n for n, c in enumerate(reversed(turn[4:])))
    return f"msg_{_encode(number)}"


def run_id() -> str:
    return f"run_{ulid()}"


def run_id_at(moment: datetime) -> str:
    """The least id that a run queued at this moment can have."""
    return f"run_{_encode(int(moment.timestamp() * 1000) << 80)}"


def session_id() -> str:
    return str(uuid.uuid4())


def of_key(key: str, *whose: object) -> str:
    """The id of a chat that is started under a key: always the same for `key` and `whose`."""
    return str(uuid.uuid5(_OF_KEYS, json.dumps([key, *whose], sort_keys=True)))
