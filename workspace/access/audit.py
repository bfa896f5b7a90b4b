"""What was done over /mcp and what its gate refused: one log line each, rows in batches (13).

Rows are written within a second by a short-lived thread, never on the way of a call; a failing
write is logged and nothing else. Arguments, prompts and tokens are never stored.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import F

from config.kernel.jsonio import clean
from config.kernel.mcp import Call
from workspace import ids
from workspace.models import AuditEntry, ClientUse

BATCH_S = 0.5

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Refused:
    """The fold of gate refusals: one row per peer, minute and outcome."""

    minute: datetime
    peer: str
    outcome: str  # auth_failed, insecure_transport


class Ledger:
    """Rows that wait to be written. Safe from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._entries: list[AuditEntry] = []
        self._refused: Counter[Refused] = Counter()
        self._request_ids: dict[Refused, str] = {}
        self._timer: threading.Timer | None = None

    def call(self, call: Call, *, peer: str, request_id: str) -> None:
        """One answered call of a client."""
        entry = AuditEntry(
            time=datetime.now(UTC),
            client=call.principal.client,  # type: ignore[attr-defined]
            operation=call.operation,
            project=_word(call, "project", "project") or _word(call, "slug", "slug"),
            session_id=_word(call, "sessionId", "session_id", "sessionId")[:36],
            run=_word(call, "runId")[:32],
            outcome=call.outcome,
            ms=call.ms,
            peer=peer,
            request_id=request_id,
        )
        log.info("mcp call", extra=_fields(entry))
        with self._lock:
            self._entries.append(entry)
            self._arm()

    def refused(self, *, peer: str, outcome: str, request_id: str) -> None:
        """One request the gate refused."""
        fold = Refused(datetime.now(UTC).replace(second=0, microsecond=0), peer, outcome)
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
        """The timer's thread ends with its work, so its database connection does too."""
        try:
            self.flush()
        finally:
            connection.close()

    def flush(self) -> None:
        """Write what waits, now."""
        with self._writing:
            with self._lock:
                entries, self._entries = self._entries, []
                refused, self._refused = self._refused, Counter()
                request_ids, self._request_ids = self._request_ids, {}
                timer, self._timer = self._timer, None
            if timer is not None:
                timer.cancel()
            if not entries and not refused:
                return
            try:
                with transaction.atomic():
                    _write(entries)
                    for fold, count in refused.items():
                        _fold(fold, count, request_ids[fold])
            except Exception:
                log.exception("audit: %d rows were lost", len(entries) + len(refused))


def _write(entries: list[AuditEntry]) -> None:
    AuditEntry.objects.bulk_create(entries)
    latest = {entry.client: entry for entry in entries if entry.client}
    ClientUse.objects.bulk_create(
        [
            ClientUse(client=client, last_used=entry.time, last_peer=entry.peer)
            for client, entry in latest.items()
        ],
        update_conflicts=True,
        unique_fields=["client"],
        update_fields=["last_used", "last_peer"],
    )


def _fold(fold: Refused, count: int, request_id: str) -> None:
    present = AuditEntry.objects.filter(
        time=fold.minute, peer=fold.peer, outcome=fold.outcome, client=""
    )
    if not present.update(count=F("count") + count):
        AuditEntry.objects.create(
            time=fold.minute, peer=fold.peer, outcome=fold.outcome,
            request_id=request_id, count=count,
        )  # fmt: skip


def _word(call: Call, key: str, *arguments: str) -> str:
    """A name from the result, else from the arguments; never anything longer than a name."""
    candidates = [call.result.get(key), *(call.arguments.get(name) for name in arguments)]
    word = next((word for word in candidates if isinstance(word, str)), "")
    word = clean(word)
    if key == "sessionId":
        return word if ids.UUID.fullmatch(word) else ""
    return word if len(word) <= 128 and word.isprintable() else ""


def _fields(entry: AuditEntry) -> dict[str, Any]:
    return {
        "clientId": entry.client, "operation": entry.operation, "project": entry.project or None,
        "sessionId": entry.session_id or None, "runId": entry.run or None,
        "outcome": entry.outcome, "ms": entry.ms, "peer": entry.peer,
        "requestId": entry.request_id,
    }  # fmt: skip


def prune(*, days: int) -> int:
    """Forget rows older than that; how many they were."""
    return AuditEntry.objects.filter(time__lt=datetime.now(UTC) - timedelta(days=days)).delete()[0]


LEDGER = Ledger()
flush = LEDGER.flush
