"""The audit: calls over /mcp, the service's tools that turns called, and refusals of the gate, each
as a log line and a row.

Both are written within a second by a short-lived thread, never during the call; a write that fails
is only logged. Arguments, prompts and tokens are never stored.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db import connection, transaction
from django.db.models import F

from config.jsonio import clean
from config.mcp.turn_tools import PREFIX
from config.storage import homes, ranges
from workspace import ids
from workspace.models import AuditEntry, ClientUse

if TYPE_CHECKING:
    from config.mcp.endpoint import Call
    from workspace.access.principals import Agent

BATCH_S = 0.5
CHUNK = 50  # rows written at once, so that a burst never holds the GIL for long

log = logging.getLogger(__name__)


class Entry(NamedTuple):
    """One answered call of a client or a turn; the fields are the columns."""

    time: datetime
    client: str
    turn: str
    operation: str
    project: str
    session_id: str
    run: str
    outcome: str
    ms: int
    peer: str
    request_id: str


COLUMNS = Entry._fields


@dataclass(frozen=True, slots=True)
class FoldedRefusals:
    """The key by which refusals share a row: peer, minute and outcome."""

    time: datetime
    peer: str
    outcome: str  # auth_failed, insecure_transport


class Ledger:
    """The entries that wait to be written. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._entries: list[Entry] = []
        self._refused: Counter[FoldedRefusals] = Counter()
        self._request_ids: dict[FoldedRefusals, str] = {}
        self._timer: threading.Timer | None = None

    def call(self, call: Call, *, client: str, peer: str, request_id: str) -> None:
        """Add an answered call of a client."""
        entry = Entry(
            time=datetime.now(UTC),
            client=client,
            turn="",
            operation=call.operation,
            project=_word(call, "project", "project") or _word(call, "slug", "slug"),
            session_id=_word(call, "sessionId", "session_id", "sessionId"),
            run=_word(call, "runId"),
            outcome=call.outcome,
            ms=call.ms,
            peer=peer,
            request_id=request_id,
        )
        self._add(entry)

    def turn(self, call: Call, agent: Agent, *, part: str, peer: str, request_id: str) -> None:
        """Add a tool call of a running turn, under the tool's name in tool lists."""
        entry = Entry(
            time=datetime.now(UTC),
            client="",
            turn=agent.turn,
            operation=f"{PREFIX}{part}__{call.operation}",
            project=agent.project,
            session_id=agent.chat,
            run="",
            outcome=call.outcome,
            ms=call.ms,
            peer=peer,
            request_id=request_id,
        )
        self._add(entry)

    def _add(self, entry: Entry) -> None:
        with self._lock:
            self._entries.append(entry)
            self._arm()

    def add_refusal(self, *, peer: str, outcome: str, request_id: str) -> None:
        """Add a request that the gate refused."""
        fold = FoldedRefusals(datetime.now(UTC).replace(second=0, microsecond=0), peer, outcome)
        with self._lock:
            self._refused[fold] += 1
            self._request_ids.setdefault(fold, request_id)
            self._arm()

    def _arm(self) -> None:
        if self._timer is None:
            self._timer = threading.Timer(BATCH_S, self._flush_and_leave)
            self._timer.daemon = True
            self._timer.start()

    def _flush_and_leave(self) -> None:
        """Flush in the timer's thread, then close the thread's database connection."""
        try:
            self.flush()
        finally:
            connection.close()

    def flush(self) -> None:
        """Write all waiting entries now."""
        with self._writing:
            with self._lock:
                entries, self._entries = self._entries, []
                refused, self._refused = self._refused, Counter()
                request_ids, self._request_ids = self._request_ids, {}
                timer, self._timer = self._timer, None
            if timer is not None:
                timer.cancel()
            try:
                for start in range(0, len(entries), CHUNK):
                    _write(entries[start : start + CHUNK])
                _note_uses(entries)
                for fold, count in refused.items():
                    _fold(fold, count, request_ids[fold])
            except Exception:
                log.exception("audit: a batch of %d rows was lost", len(entries) + len(refused))


def _write(entries: list[Entry]) -> None:
    if log.isEnabledFor(logging.INFO):
        for entry in entries:
            log.handle(_line(entry))
    with transaction.atomic():
        _insert(entries)


def _note_uses(entries: list[Entry]) -> None:
    """Note when each client was last seen, once for all entries of a batch."""
    latest = {entry.client: entry for entry in entries if entry.client}
    uses = [
        ClientUse(client=client, last_used=entry.time, last_peer=entry.peer)
        for client, entry in latest.items()
    ]
    ClientUse.objects.bulk_create(
        uses,
        update_conflicts=True,
        unique_fields=["client"],
        update_fields=["last_used", "last_peer"],
    )


def _insert(entries: list[Entry]) -> None:
    """Insert by SQL: making model instances would cost more than many of the recorded calls."""
    columns = (*COLUMNS, "count", "home")
    marks = ", ".join(["%s"] * len(columns))
    table = AuditEntry._meta.db_table
    sql = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})"  # noqa: S608
    adapt, home = connection.ops.adapt_datetimefield_value, homes.home()
    rows: list[tuple[Any, ...]] = [(adapt(time), *rest, 1, home) for time, *rest in entries]
    with connection.cursor() as cursor:
        cursor.executemany(sql, rows)


def _line(entry: Entry) -> logging.LogRecord:
    """The log line of the call, with the time of the call."""
    shown = {
        "clientId": entry.client or None, "turnId": entry.turn or None,
        "operation": entry.operation, "project": entry.project or None,
        "sessionId": entry.session_id or None, "runId": entry.run or None,
        "outcome": entry.outcome, "ms": entry.ms, "peer": entry.peer,
        "requestId": entry.request_id,
    }  # fmt: skip
    said = "tool of a turn" if entry.turn else "mcp call"
    line = log.makeRecord(log.name, logging.INFO, "", 0, said, (), None, extra=shown)
    line.created = entry.time.timestamp()
    return line


def _fold(fold: FoldedRefusals, count: int, request_id: str) -> None:
    columns = asdict(fold)
    present = AuditEntry.objects.filter(homes.mine(), **columns, client="")
    if not present.update(count=F("count") + count):
        AuditEntry.objects.create(**columns, request_id=request_id, count=count)


def _word(call: Call, key: str, *arguments: str) -> str:
    """A name from the result, else from the arguments; "" for text that cannot be a name."""
    candidates = [call.result.get(key), *(call.arguments.get(name) for name in arguments)]
    word = next((word for word in candidates if isinstance(word, str)), "")
    if not word:
        return ""
    word = clean(word)
    if key == "sessionId":
        return word if ids.UUID.fullmatch(word) else ""
    return word if len(word) <= 128 and word.isprintable() else ""


def prune(*, days: int) -> int:
    """Delete rows older than `days`; return how many."""
    before = datetime.now(UTC) - timedelta(days=days)
    return ranges.delete(AuditEntry.objects.filter(homes.adoptable(), time__lt=before))


LEDGER = Ledger()
flush = LEDGER.flush
