"""Routes that belong to no project."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime

import pytest

from config import __version__
from config.network import NetworkSetting
from tests.workspace.api.conftest import Api
from workspace.access.principals import User
from workspace.engines import select
from workspace.engines.sandbox import Sandbox
from workspace.models import AuditEntry


def test_health_says_which_version_answers(api):
    answer = api.get("/api/health")

    assert answer.json() == {"ok": True, "version": __version__}


def test_me_in_mode_none_is_anonymous(api):
    assert api.get("/api/me").json() == {"username": "anonymous", "anonymous": True}


def test_me_behind_a_proxy_is_who_the_proxy_named(db):
    user = User(username="kim", email="kim@example.com", groups=("dev",), anonymous=False)

    assert Api(user).get("/api/me").json() == {
        "username": "kim",
        "email": "kim@example.com",
        "groups": ["dev"],
    }


def test_engines_are_always_the_four(api):
    body = api.get("/api/engines").json()

    assert [one["name"] for one in body["engines"]] == ["runbook", "claude", "builtin", "acp"]
    assert body["engines"][0]["available"] is True
    assert {"mode", "requested", "reason", "network", "warnings"} == set(body["sandbox"])
    assert body["sandbox"]["network"] == "guarded"


def test_the_sandbox_is_told_with_what_it_does_not_hold(api, alpha, settings, monkeypatch):
    monkeypatch.setattr(select, "confinement", lambda: Sandbox("off", "auto", "why"))
    settings.SVC = dataclasses.replace(settings.SVC, network=NetworkSetting("host"))

    told = api.get("/api/engines").json()["sandbox"]

    assert told["network"] == "host"
    assert told["warnings"] == [
        "Commands of agents run without a sandbox (why): a command of a turn can do all that its "
        "user can, through this service as well.",
        "Commands of agents in alpha and every new project use this machine's own network "
        "(network: host): they can reach this service and everything that listens here.",
    ]


def test_models_name_the_engine_that_runs_them(api, alpha):
    body = api.get("/api/models?project=alpha").json()

    assert {"id": "runbook", "label": "Runbook", "engine": "runbook", "contextLimit": None} in body[
        "models"
    ]
    assert api.get("/api/models?project=nope").status_code == 404


def test_clients_of_an_unconfigured_instance(api):
    body = api.get("/api/clients").json()

    assert body["enabled"] is False
    assert body["clients"] == []


def note(n: int, **values: object) -> None:
    fields = {"client": "ci", "operation": "list_chats", "outcome": "ok", "peer": "127.0.0.1",
              "request_id": f"r{n}", "time": datetime(2026, 1, n + 1, tzinfo=UTC)}  # fmt: skip
    AuditEntry.objects.create(**(fields | values))


def test_the_audit_is_paged_newest_first(api):
    for n in range(5):
        note(n)

    first = api.get("/api/audit?limit=3").json()
    second = api.get(f"/api/audit?limit=3&before={first['next']}").json()

    seen = [entry["requestId"] for entry in first["entries"] + second["entries"]]
    assert seen == ["r4", "r3", "r2", "r1", "r0"]
    assert second["next"] is None
    assert first["entries"][0]["time"] == "2026-01-05T00:00:00.000Z"


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("client=other", ["r1"]),
        ("operation=run_trigger", ["r2"]),
        ("project=alpha", ["r3"]),
        ("outcome=denied", ["r4"]),
        ("since=2026-01-04T00:00:00Z", ["r4", "r3"]),
        ("until=2026-01-01T00:00:00Z", ["r0"]),
    ],
)
def test_the_audit_is_filtered(api, query, found):
    note(0)
    note(1, client="other")
    note(2, operation="run_trigger")
    note(3, project="alpha")
    note(4, outcome="denied")

    entries = api.get(f"/api/audit?{query}").json()["entries"]

    assert [entry["requestId"] for entry in entries] == found


@pytest.mark.parametrize("query", ["since=soon", "before=x", "before=-1", "limit=9999", "before="
                                   + "9" * 30])  # fmt: skip
def test_an_audit_query_outside_its_set_is_refused(api, query):
    assert api.get(f"/api/audit?{query}").status_code == 400


def test_the_demo_project_is_made_once(api):
    first, second = api.post("/api/demo"), api.post("/api/demo")

    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json()["project"]["slug"] == "demo"
    assert [one["slug"] for one in api.get("/api/projects").json()["projects"]] == ["demo"]
    (trigger,) = api.get("/api/projects/demo/triggers").json()["triggers"]
    assert trigger["enabled"] is False
