"""What home shows, in one answer that says what the routes of each say."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from workspace.models import Run, Turn

HOURLY = {"type": "schedule", "interval": "1h"}


def trigger(api: Any, slug: str, name: str, **when: Any) -> None:
    body = {"trigger": HOURLY | when, "run": {"prompt": "x"}, "enabled": True}
    assert api.put(f"/api/projects/{slug}/triggers/{name}", body).status_code == 200


def test_it_says_what_each_route_says(api, alpha, chat):
    api.post("/api/projects", {"name": "Beta", "slug": "beta"})
    api.delete("/api/projects/beta")
    trigger(api, "alpha", "often")

    now = api.get("/api/now").json()

    listed = api.get("/api/projects").json()
    assert (now["projects"], now["elsewhere"]) == (listed["projects"], listed["elsewhere"])
    assert now["deleted"] == api.get("/api/trash").json()["projects"]
    assert [one["slug"] for one in now["deleted"]] == ["beta"]
    assert now["asks"] == api.get("/api/asks").json()["asks"]
    assert now["failed"] == {"runs": [], "next": None}
    assert (now["busy"], now["paused"]) == ([], None)
    shown = api.get("/api/projects/alpha/triggers").json()["triggers"]
    assert now["next"] == [{"project": "alpha", "trigger": shown[0]}]


def test_of_runs_those_that_failed_in_the_last_day(api, alpha):
    queued = datetime.now(UTC)
    for n, (status, days) in enumerate((("failed", 0), ("failed", 2), ("completed", 0))):
        Run.objects.create(
            id=f"run_{n}", project="alpha", trigger="t", trigger_type="schedule",
            cause="manual", actor={}, queued_at=queued - timedelta(days=days), status=status,
        )  # fmt: skip

    failed = api.get("/api/now").json()["failed"]

    assert [one["id"] for one in failed["runs"]] == ["run_0"]


def test_of_chats_those_that_run_and_then_those_that_wait(api, alpha, chat):
    other = api.post("/api/projects/alpha/chats", {"name": "Second"}).json()["chat"]["sessionId"]
    api.post("/api/projects/alpha/chats", {"name": "Idle"})
    api.post(f"{chat}/messages", {"prompt": "Hi"})
    api.post(f"/api/projects/alpha/chats/{other}/messages", {"prompt": "Hi"})
    Turn.objects.filter(chat=chat[-36:]).update(state="running")

    busy = api.get("/api/now").json()["busy"]

    assert [(one["name"], one["running"], one["queued"]) for one in busy] == [
        ("First", True, 0), ("Second", False, 1),
    ]  # fmt: skip


def test_of_triggers_those_that_fire_next_where_nothing_holds_them(api, alpha):
    for slug in ("beta", "gamma"):
        api.post("/api/projects", {"name": slug, "slug": slug})
    for n in range(7):
        trigger(api, "alpha", f"t{n}", interval=f"{n + 2}h")
    trigger(api, "beta", "soonest", interval="5m")
    trigger(api, "gamma", "held", interval="5m")
    api.post("/api/projects/gamma/pause")

    fires = api.get("/api/now").json()["next"]

    names = [(one["project"], one["trigger"]["name"]) for one in fires]
    assert names == [("beta", "soonest"), *(("alpha", f"t{n}") for n in range(5))]
    api.post("/api/pause")
    assert api.get("/api/now").json()["next"] == []
