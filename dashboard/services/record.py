"""What is kept of a service's last run: enough to find it again, or how it ended.

Written before the command is started, so that a run is known even if the daemon is killed.
"""

from __future__ import annotations

import re
import signal
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, get_args

import orjson

from config import jsonio
from config.logs import timestamp
from config.storage import files, opening
from dashboard.services import layout
from dashboard.services.system.processes import Family

Status = Literal["running", "stopped", "starting", "stopping", "backoff", "failed"]
STATUSES: tuple[Status, ...] = get_args(Status)
EXIT = re.compile(rb"([0-9a-f]{32}) ([0-9]{1,3})\n")


@dataclass(frozen=True, slots=True)
class Exit:
    """How a command ended. As in a shell, `code` is 128 + n for signal n.

    Both None: the end was not seen.
    """

    code: int | None
    signal: str | None
    at: datetime

    @property
    def clean(self) -> bool:
        return self.code == 0


@dataclass(frozen=True, slots=True)
class Record:
    """The content of `state/dashboard/services/<slug>.json`. `pid` 0: about to start."""

    run: str
    boot: str
    pid: int = 0
    started: int = 0  # start time of the process, see processes.Process
    leader: int = 0  # the wrapper; `pid` differs after a command put itself into the background
    leader_started: int = 0
    at: datetime | None = None
    status: Status = "starting"
    reason: str = "spawned"
    restarts: int = 0
    last_exit: Exit | None = None
    definition: str = ""
    once: bool = False
    log_start: int = 0
    message: str | None = None  # why it could not start, or does not end

    @property
    def family(self) -> Family:
        heir = (self.pid, self.started) if self.pid != self.leader else None
        return Family(self.run, self.leader, self.leader_started, heir)


def load(slug: str) -> Record | None:
    """The record; None without a readable one."""
    try:
        found = files.read(layout.record(slug), limit=65536)
        return _record(orjson.loads(found.data)) if found else None
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def save(slug: str, record: Record) -> None:
    """Write the record. Raises CannotWrite."""
    path = layout.record(slug)
    with files.writing(path.name):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    files.write(path, _text(record))


def exit_of(slug: str, run: str) -> Exit | None:
    """What the wrapper of this run recorded when its command ended; None without a record."""
    path = layout.exit_file(slug)
    try:
        match = EXIT.fullmatch(opening.contents(path))
        at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except OSError:
        return None
    if match is None or match[1].decode() != run:
        return None
    code = int(match[2])
    return Exit(code, signal_name(code - 128), at)


def signal_name(number: int) -> str | None:
    """The name of a signal, as `SIGTERM` for 15; None if there is no such signal."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return None


def _text(record: Record) -> bytes:
    last = record.last_exit
    value = {
        "pid": record.pid,
        "starttime": record.started,
        "bootId": record.boot,
        "run": record.run,
        "leader": record.leader,
        "leaderStarttime": record.leader_started,
        "at": timestamp(record.at) if record.at else None,
        "status": record.status,
        "reason": record.reason,
        "restarts": record.restarts,
        "lastExit": _exit_record(last) if last else None,
        "definition": record.definition,
        "once": record.once,
        "logStart": record.log_start,
        "message": record.message,
    }
    return jsonio.dumps(value, indent=True) + b"\n"


def _exit_record(last: Exit) -> dict[str, Any]:
    return {"code": last.code, "signal": last.signal, "at": timestamp(last.at)}


def _record(value: dict[str, Any]) -> Record:
    last = value["lastExit"]
    ended = Exit(last["code"], last["signal"], _time(last["at"])) if last else None
    numbers = ("pid", "starttime", "leader", "leaderStarttime", "restarts", "logStart")
    if any(type(value[name]) is not int for name in numbers):
        raise ValueError("a number is not an integer")
    if value["status"] not in STATUSES:
        raise ValueError("no such status")
    return Record(
        run=str(value["run"]),
        boot=str(value["bootId"]),
        pid=value["pid"],
        started=value["starttime"],
        leader=value["leader"],
        leader_started=value["leaderStarttime"],
        at=_time(value["at"]) if value["at"] else None,
        status=value["status"],
        reason=str(value["reason"]),
        restarts=value["restarts"],
        last_exit=ended,
        definition=str(value["definition"]),
        once=bool(value["once"]),
        log_start=value["logStart"],
        message=None if (said := value.get("message")) is None else str(said),
    )


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)
