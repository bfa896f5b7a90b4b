"""Lists do not read more because more has happened: the work of each is counted, not timed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from config.web import admin
from tests.promises.rings import ring
from tests.workspace import filling
from tests.workspace.api.conftest import Api, projects_dir
from workspace.access.principals import User
from workspace.models import AuditEntry, Chat, Run, TriggerState, Turn
from workspace.triggers import runs

__all__ = ("projects_dir",)  # a fixture

FEW, MANY = ring(fast=1000, slow=4000), ring(fast=4000, slow=16_000)
CHAT = filling.chat(1)
LONG_AGO = (datetime.now(UTC) - timedelta(days=20)).strftime("%Y-%m-%dT%H:%M:%SZ")
AN_HOUR_LATER = (datetime.now(UTC) - timedelta(days=19, hours=23)).strftime("%Y-%m-%dT%H:%M:%SZ")
NOW = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
FILTERS = {
    "/api/runs": (
        "status=failed", "status=running", "cause=manual", "client=rare", "client=nobody",
        "trigger=t05", "trigger=none", "project=rare", "project=p1&status=failed", "q=nowhere",
        f"until={LONG_AGO}", f"since={NOW}", f"since={LONG_AGO}&until={AN_HOUR_LATER}",
    ),
    "/api/audit": (
        "client=rare", "client=nobody", "operation=operation_3", "operation=none", "project=rare",
        "project=none", "outcome=not_found", "outcome=none", "before=500", f"until={LONG_AGO}",
        f"since={NOW}", f"since={LONG_AGO}&until={AN_HOUR_LATER}",
    ),
    "/admin/workspace/run/": ("q=nowhere", "status=failed", "project=rare", "p=20"),
    "/admin/workspace/turn/": ("q=nowhere", "state=failed"),
    "/admin/workspace/auditentry/": ("q=nowhere", "client=rare", "p=20"),
}  # fmt: skip
PATHS = [
    "/api/projects", "/api/projects/p1", "/api/projects/p1/runs", "/api/projects/p1/triggers",
    "/api/projects/p1/triggers/runtime", "/api/projects/p1/chats",
    f"/api/projects/p1/chats/{CHAT}", "/api/clients", "/api/badges", "/api/places?q=p1",
    "/api/unread", "/api/pause", "/api/now",
    *FILTERS,
    *(f"{path}?{query}" for path, queries in FILTERS.items() for query in queries),
]  # fmt: skip


class Steps:
    """How many instructions of SQLite's machine have run, in hundreds."""

    def __init__(self) -> None:
        self.count = 0
        connection.ensure_connection()
        connection.connection.set_progress_handler(self._one_more, 100)

    def _one_more(self) -> int:
        self.count += 1
        return 0


@pytest.fixture
def steps(db: None) -> Iterator[Steps]:
    if connection.vendor != "sqlite":
        pytest.skip("only SQLite counts its steps; `python -m bench stores` measures both")
    yield Steps()
    connection.connection.set_progress_handler(None, 0)


@pytest.fixture
def api(steps: Steps, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Api:
    """A project with triggers and a chat they write to; the bounds of a look below FEW."""
    monkeypatch.setattr(runs, "LOOKED", FEW // 4)
    monkeypatch.setattr(admin, "MOST", FEW // 4)
    monkeypatch.setattr(admin, "LOOKED", FEW // 4)
    folder = request.getfixturevalue("projects_dir") / "p1" / ".chats"
    folder.mkdir(parents=True)
    entry = "{trigger: {type: schedule, interval: 1h}, run: {prompt: x}, enabled: true}"
    triggers = "".join(f"  t{n:02}: {entry}\n" for n in range(filling.TRIGGERS))
    (folder.parent / "project.yaml").write_text(f"name: P\ntriggers:\n{triggers}")
    (folder / f"{CHAT}.yaml").write_text("v: 1\nname: C\norigin: scheduled\ntrigger: t05\n")
    for n in range(filling.TRIGGERS):
        TriggerState.objects.create(project="p1", name=f"t{n:02}", type="schedule", enabled=True)
    return Api(User(username="kim", anonymous=False))


def worked(api: Api, steps: Steps, rows: int) -> dict[str, int]:
    """Steps of every list beside so many runs, turns and audit rows."""
    for table in (Turn, Run, AuditEntry):
        table.objects.all().delete()
    filling.rows(rows, rows)
    Turn.objects.filter(project="p1").update(chat=CHAT)  # goes on for years
    found = {}
    for path in PATHS:
        kind = "text/html" if path.startswith("/admin") else "application/json"
        api.get(path, Accept=kind)  # the first look brings the index of chats up to date
        before = steps.count
        answer = api.get(path, Accept=kind)
        found[path] = (steps.count - before) * 100
        assert answer.status_code in (200, 302), path
    return found


@pytest.mark.timeout(120)
def test_no_list_reads_the_rows_that_it_does_not_show(api: Api, steps: Steps):
    few = worked(api, steps, FEW)
    many = worked(api, steps, MANY)

    assert Chat.objects.get().trigger == "t05"
    added = {path: many[path] - few[path] for path in PATHS}
    assert {path: more for path, more in added.items() if more > MANY - FEW} == {}
