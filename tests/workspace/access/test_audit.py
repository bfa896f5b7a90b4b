"""The audit: one row and one line per call, refusals folded, nothing secret kept."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from config.mcp.endpoint import Call
from tests.workspace.access.world import REGISTRY, TOKEN, block, client, load
from workspace.access import audit, describe
from workspace.access.policy import Scope
from workspace.access.principals import Client
from workspace.models import AuditEntry, ClientUse

CI = Client("ci", Scope())
CHAT = str(uuid.uuid4())
pytestmark = pytest.mark.django_db


@pytest.fixture
def ledger(monkeypatch: pytest.MonkeyPatch) -> Iterator[audit.Ledger]:
    """One that writes when the test says so."""
    monkeypatch.setattr(audit, "BATCH_S", 3600)
    ledger = audit.Ledger()
    yield ledger
    ledger.flush()


def record(ledger: audit.Ledger, operation: str = "read_chat", outcome: str = "ok", **more: Any):
    call = Call(CI, operation, outcome, 7, **more)
    ledger.call(call, client="ci", peer="127.0.0.1", request_id="r1")


def test_a_call_is_one_row_with_the_names_of_what_it_touched(ledger: audit.Ledger):
    record(ledger, arguments={"project": "alpha", "session_id": CHAT, "prompt": "secret words"})
    ledger.flush()

    row = AuditEntry.objects.values().get()
    assert {key: row[key] for key in ("client", "operation", "project", "session_id")} == {
        "client": "ci", "operation": "read_chat", "project": "alpha", "session_id": CHAT,
    }  # fmt: skip
    assert (row["outcome"], row["ms"], row["peer"], row["count"]) == ("ok", 7, "127.0.0.1", 1)
    assert "secret words" not in str(row)


def test_the_result_names_what_was_made(ledger: audit.Ledger):
    made = {"project": "beta", "sessionId": CHAT, "runId": "run_1"}
    record(ledger, "run_trigger", arguments={"project": "alpha"}, result=made)
    record(ledger, "create_project", arguments={"name": "N"}, result={"slug": "n"})
    ledger.flush()

    first, second = AuditEntry.objects.order_by("id")
    assert (first.project, first.session_id, first.run) == ("beta", CHAT, "run_1")
    assert second.project == "n"


@pytest.mark.parametrize("project", ["x" * 500, 5, None, ["a"], "a\nb", "\ud800" * 200])
def test_what_is_no_name_is_not_kept(ledger: audit.Ledger, project: Any):
    record(ledger, arguments={"project": project, "session_id": "../../etc/passwd"})
    ledger.flush()

    row = AuditEntry.objects.get()
    assert (row.project, row.session_id) == ("", "")


def test_each_call_is_one_log_line_with_the_time_of_the_call(
    ledger: audit.Ledger, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.INFO)
    with time_machine.travel(datetime(2026, 1, 31, 9, tzinfo=UTC), tick=False):
        record(ledger, arguments={"project": "alpha"})
    ledger.flush()

    (line,) = [line for line in caplog.records if line.message == "mcp call"]
    assert line.created == datetime(2026, 1, 31, 9, tzinfo=UTC).timestamp()
    assert (line.clientId, line.requestId, line.sessionId) == ("ci", "r1", None)  # type: ignore[attr-defined]


def test_refusals_of_a_peer_fold_by_minute_and_outcome(ledger: audit.Ledger):
    with time_machine.travel(datetime(2026, 1, 31, 9, 0, 10, tzinfo=UTC), tick=False) as clock:
        for number in range(25):
            ledger.add_refusal(peer="10.0.0.1", outcome="auth_failed", request_id=f"r{number}")
            if number == 12:
                ledger.flush()
        ledger.add_refusal(peer="10.0.0.2", outcome="auth_failed", request_id="x")
        ledger.add_refusal(peer="10.0.0.1", outcome="insecure_transport", request_id="y")
        clock.shift(60)
        ledger.add_refusal(peer="10.0.0.1", outcome="auth_failed", request_id="z")
        ledger.flush()

    rows = {(r.peer, r.outcome, r.time.minute): r for r in AuditEntry.objects.all()}
    assert {key: row.count for key, row in rows.items()} == {
        ("10.0.0.1", "auth_failed", 0): 25,
        ("10.0.0.2", "auth_failed", 0): 1,
        ("10.0.0.1", "insecure_transport", 0): 1,
        ("10.0.0.1", "auth_failed", 1): 1,
    }
    assert rows["10.0.0.1", "auth_failed", 0].request_id == "r0"
    assert {row.client for row in rows.values()} == {""}


def test_a_failing_write_is_logged_and_nothing_else(
    ledger: audit.Ledger, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    def broken(*_: object) -> None:
        raise OSError("disk full")

    record(ledger)
    with monkeypatch.context() as patch:
        patch.setattr(audit, "_write", broken)
        ledger.flush()
    assert "a batch of 1 rows was lost" in caplog.text

    record(ledger)
    ledger.flush()
    assert AuditEntry.objects.count() == 1


def test_a_burst_is_written_whole(ledger: audit.Ledger):
    for _ in range(audit.CHUNK * 2 + 1):
        record(ledger)
    ledger.flush()

    assert AuditEntry.objects.count() == audit.CHUNK * 2 + 1
    assert ClientUse.objects.get().last_peer == "127.0.0.1"


def test_old_rows_are_forgotten(ledger: audit.Ledger):
    with time_machine.travel(datetime.now(UTC) - timedelta(days=31)):
        record(ledger)
    record(ledger)
    ledger.flush()

    assert audit.prune(days=30) == 1
    assert AuditEntry.objects.count() == 1


def test_clients_are_described_without_a_secret(ledger: audit.Ledger):
    found = load(
        block(
            authorizationServers=["https://a.example"],
            clients={
                "ci": client(allow=["*"], deny=["set_trigger"], projects=["alpha"]),
                "gone": client("env:GONE"),
                "bad": {"auth": {"ref": TOKEN}},
            },
        )
    )
    record(ledger)
    record(ledger, outcome="denied")
    ledger.flush()

    shown = describe.clients(REGISTRY, found)

    assert (shown["enabled"], shown["discovery"], shown["instanceId"]) == (True, True, "home")
    assert shown["trustedProxies"] == ["loopback", "linklocal", "uniquelocal"]
    ci, gone, bad = shown["clients"]
    assert "set_trigger" not in ci["operations"]
    assert ci["coarseScopes"] == ["svc:read", "svc:write"]
    assert (ci["ref"], ci["projects"], ci["codeExecution"]) == ("env:CI", ["alpha"], True)
    assert (ci["calls24h"], ci["failures24h"], ci["lastPeer"]) == (2, 1, "127.0.0.1")
    assert "scope grants code execution" in ci["warnings"][0]
    assert (gone["status"], gone["reason"], gone["ref"]) == (
        "dropped", "environment variable GONE is unset or blank", "env:GONE",
    )  # fmt: skip
    assert (bad["ref"], bad["reason"]) == (None, "auth.ref: must have the form env:NAME")
    assert TOKEN not in str(shown)
    assert list(ci) == [key for key in gone if key != "reason"]


def test_an_unconfigured_surface_is_described_too():
    shown = describe.clients(REGISTRY, load({}))

    assert (shown["enabled"], shown["publicUrl"], shown["clients"]) == (False, None, [])
