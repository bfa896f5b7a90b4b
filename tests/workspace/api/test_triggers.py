"""Triggers and runs over REST."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

import pytest

from config.logs import timestamp
from workspace.models import Run, TriggerState
from workspace.triggers.schedule import alive

BASE = "/api/projects/alpha/triggers"
HOURLY = {
    "trigger": {"type": "schedule", "interval": "1h"},
    "run": {"prompt": '#!runbook\n```Glob\n{"pattern": "*"}\n```\n'},
}


@pytest.fixture
def scheduler(monkeypatch):
    monkeypatch.setattr(alive, "scheduler_alive", lambda: True)


def test_a_new_trigger_is_stored_disabled_and_never_armed(api, alpha):
    answer = api.put(f"{BASE}/nightly", HOURLY)

    assert answer.status_code == 200
    body = answer.json()
    assert body["created"] is True
    trigger = body["trigger"]
    assert trigger["enabled"] is False
    assert trigger["agentName"] == "trigger-alpha-nightly"
    assert trigger["run"] == HOURLY["run"] | {"session": "new", "tools": []}
    assert trigger["runtime"]["nextRunAt"] is None
    assert "nightly:" in (alpha / "project.yaml").read_text()


def test_the_listing_names_the_prompt_files_and_none_from_elsewhere(api, alpha, tmp_path):
    folder = alpha / ".svc" / "triggers"
    (folder / "weekly").mkdir(parents=True)
    for name in ("daily.md", "weekly/report.md", "notes.txt"):
        (folder / name).write_text("Look around.")
    (tmp_path / "secret.md").write_text("x")
    (folder / "out.md").symlink_to(tmp_path / "secret.md")

    assert api.get(BASE).json()["promptFiles"] == ["daily.md", "weekly/report.md"]


def test_enabling_answers_with_the_next_three_times(api, alpha):
    before = datetime.now(UTC)

    runtime = api.put(f"{BASE}/nightly", HOURLY | {"enabled": True}).json()["trigger"]["runtime"]

    assert runtime["nextRunAt"] == runtime["nextRuns"][0]
    assert len(runtime["nextRuns"]) == 3
    first = datetime.fromisoformat(runtime["nextRunAt"])
    assert timedelta(minutes=59) < first - before < timedelta(minutes=61)
    assert Run.objects.count() == 0


def test_the_list_carries_the_pickers_catalogue(api, alpha):
    api.put(f"{BASE}/nightly", HOURLY)

    body = api.get(BASE).json()

    assert [trigger["name"] for trigger in body["triggers"]] == ["nightly"]
    assert (body["legacy"], body["invalid"]) == ([], [])
    assert len(body["grantableTools"]) == 17
    assert body["grantableTools"][0]["name"] == "Read"
    assert body["events"] == [
        *("onArchive", "afterTurn", "onThread", "onCommits"),
        *("onAppDown", "onAppUp", "onRunFailed"),
    ]
    assert [kind["name"] for kind in body["eventKinds"]] == body["events"]
    assert all(kind["description"] for kind in body["eventKinds"])
    assert body["eventKinds"][4]["example"]["app"] == "shop"
    assert body["triggerTypes"] == ["schedule", "event", "webhook"]
    assert body["permissionModes"] == ["default", "acceptEdits", "bypassPermissions", "plan"]
    assert body["networks"] == ["off", "guarded", "host"]
    assert body["timezone"]


def test_every_mistake_of_a_trigger_is_named_and_nothing_is_written(api, alpha):
    before = (alpha / "project.yaml").read_bytes()
    wrong = {"trigger": {"type": "schedule", "cron": "75 0 * * *"},
             "run": {"prompt": "", "session": "same"}, "enabled": True}  # fmt: skip

    answer = api.put(f"{BASE}/nightly", wrong)

    assert answer.status_code == 400
    fields = [problem["field"] for problem in answer.json()["errors"]]
    assert fields == ["trigger.cron", "run.prompt", "run.session"]
    assert answer.json()["error"].endswith("(and 2 more)")
    assert (alpha / "project.yaml").read_bytes() == before


def test_a_body_that_only_enables_is_no_full_record(api, alpha):
    api.put(f"{BASE}/nightly", HOURLY)

    assert api.put(f"{BASE}/nightly", {"enabled": True}).status_code == 400


def test_a_trigger_read_can_be_sent_back_without_a_warning(api, alpha):
    api.put(f"{BASE}/nightly", HOURLY | {"enabled": True})
    trigger = api.get(f"{BASE}/nightly").json()["trigger"]

    answer = api.put(f"{BASE}/nightly", trigger).json()

    assert answer["created"] is False
    assert "warnings" not in answer
    assert answer["trigger"] == trigger


def test_unknown_keys_are_warned_about_and_not_stored(api, alpha):
    answer = api.put(f"{BASE}/nightly", HOURLY | {"bogus": 1}).json()

    assert any("bogus" in warning for warning in answer["warnings"])
    assert "bogus" not in (alpha / "project.yaml").read_text()


def test_a_trigger_changed_meanwhile_is_not_overwritten(api, alpha):
    api.put(f"{BASE}/nightly", HOURLY)
    tag = api.get(f"{BASE}/nightly").headers["ETag"]
    other = HOURLY | {"trigger": {"type": "schedule", "interval": "2h"}}
    api.put(f"{BASE}/nightly", other)

    put = api.put(f"{BASE}/nightly", HOURLY, **{"If-Match": tag})
    delete = api.delete(f"{BASE}/nightly", **{"If-Match": tag})

    assert (put.status_code, delete.status_code) == (412, 412)
    assert api.get(f"{BASE}/nightly").json()["trigger"]["trigger"]["interval"] == "2h"


def test_a_trigger_that_is_meant_to_be_new_replaces_none(api, alpha):
    fresh = {"If-None-Match": "*"}
    first = api.put(f"{BASE}/nightly", HOURLY, **fresh)
    other = HOURLY | {"trigger": {"type": "schedule", "interval": "2h"}}

    second = api.put(f"{BASE}/nightly", other, **fresh)

    assert first.json()["created"]
    assert (second.status_code, second.json()["code"]) == (409, "exists")
    assert api.get(f"{BASE}/nightly").json()["trigger"]["trigger"]["interval"] == "1h"


def test_deleting_what_is_absent_is_no_error(api, alpha):
    api.put(f"{BASE}/nightly", HOURLY)

    first, second = api.delete(f"{BASE}/nightly"), api.delete(f"{BASE}/nightly")

    assert first.json() == {"ok": True, "name": "nightly", "removed": True}
    assert (second.status_code, second.json()["removed"]) == (200, False)
    assert api.get(f"{BASE}/nightly").json()["error"] == "No such trigger: nightly"


def test_runtime_is_matched_before_a_trigger_of_that_name(
    api, alpha, django_assert_max_num_queries
):
    api.put(f"{BASE}/nightly", HOURLY | {"enabled": True})

    with django_assert_max_num_queries(6):
        body = api.get(f"{BASE}/runtime").json()

    (entry,) = body["runtime"]
    assert entry["name"] == "nightly"
    assert entry["scheduleStatus"] == "idle"
    assert len(entry["nextRuns"]) == 3


def test_an_invalid_entry_is_shown_with_its_line_and_left_alone(api, alpha):
    text = "name: Alpha\ntriggers:\n  broken:\n    trigger: {type: schedule, interval: soon}\n"
    (alpha / "project.yaml").write_text(text)

    listed = api.get(BASE).json()
    missing = api.get(f"{BASE}/broken")
    api.put(f"{BASE}/nightly", HOURLY)

    (entry,) = listed["invalid"]
    assert (entry["name"], entry["line"]) == ("broken", 3)
    assert missing.status_code == 404
    assert "line 3 is invalid" in missing.json()["error"]
    assert text in (alpha / "project.yaml").read_text()


def test_a_legacy_schedule_is_listed_refused_and_converted(api, alpha):
    (alpha / "project.yaml").write_text(
        "name: Alpha\nschedules:\n  old: {type: interval, interval: 1h, prompt: hi}\n"
    )

    listed = api.get(BASE).json()["legacy"]
    refused = api.put(f"{BASE}/old", HOURLY)
    converted = api.post("/api/projects/alpha/schedules/old/convert")

    assert [(one["name"], one["legacy"]) for one in listed] == [("old", True)]
    assert (refused.status_code, refused.json()["code"]) == (409, "legacy")
    assert converted.status_code == 200
    assert "legacy" not in converted.json()["trigger"]
    assert [one["name"] for one in api.get(BASE).json()["triggers"]] == ["old"]


def test_running_starts_a_chat_even_when_disabled(api, alpha, scheduler):
    api.put(f"{BASE}/nightly", HOURLY)

    answer = api.post(f"{BASE}/nightly/run")

    assert answer.status_code == 202
    body = answer.json()
    assert (body["ok"], body["name"]) == (True, "nightly")
    run = api.get(f"/api/runs/{body['runId']}").json()["run"]
    assert (run["cause"], run["actor"]) == ("manual", {"kind": "user", "id": "anonymous"})
    chat = api.get(f"/api/projects/alpha/chats/{body['sessionId']}").json()["chat"]
    assert chat["provenance"]["origin"] == "scheduled"
    assert chat["trigger"]["name"] == "nightly"
    assert chat["trigger"]["runId"] == body["runId"]
    assert chat["trigger"]["maxTurns"] == 30


def test_running_without_a_scheduler_anywhere_is_503(api, alpha):
    api.put(f"{BASE}/nightly", HOURLY)

    answer = api.post(f"{BASE}/nightly/run")

    assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")
    assert Run.objects.count() == 0


def test_a_firing_that_starts_no_chat_is_502_with_its_run(api, alpha, scheduler):
    gone = HOURLY | {"run": {"promptFile": "gone.md"}}
    saved = api.put(f"{BASE}/nightly", gone).json()

    answer = api.post(f"{BASE}/nightly/run")

    assert saved["warnings"]
    assert answer.status_code == 502
    body = answer.json()
    assert body["code"] == "trigger_failed"
    assert body["error"].startswith("Trigger started no chat: ")
    assert str(alpha) not in body["error"]
    assert Run.objects.get().id == body["runId"]
    assert Run.objects.get().status == "failed"


@pytest.mark.parametrize(
    "when", [{"type": "webhook", "path": "/x"}, {"type": "event", "on": "afterTurn"}]
)
def test_webhooks_and_the_curator_are_never_run(api, alpha, scheduler, when):
    api.put(f"{BASE}/hook", {"trigger": when, "run": {"prompt": "hi"}, "enabled": True})

    answer = api.post(f"{BASE}/hook/run")

    assert (answer.status_code, answer.json()["code"]) == (409, "not_runnable")
    assert Run.objects.count() == 0


def test_running_an_unknown_trigger_is_404(api, alpha, scheduler):
    answer = api.post(f"{BASE}/nope/run")

    assert (answer.status_code, answer.json()["error"]) == (404, "No such trigger: nope")


@pytest.mark.parametrize("name", ["a.b_c-1", "x" * 64, "7"])
def test_every_name_that_may_be_saved_may_be_run(api, alpha, scheduler, name):
    assert api.put(f"{BASE}/{name}", HOURLY).status_code == 200

    answer = api.post(f"{BASE}/{name}/run")

    assert (answer.status_code, answer.json()["name"]) == (202, name)


@pytest.mark.parametrize("name", ["runtime", "bad name!", "x" * 65, "-rf", "%2e%2e"])
def test_names_that_cannot_be_are_refused(api, alpha, name):
    assert api.put(f"{BASE}/{name}", HOURLY).status_code in (400, 405)
    assert TriggerState.objects.count() == 0


def test_a_schedule_is_previewed_before_it_is_saved(api):
    good = api.get("/api/triggers/preview?interval=30m").json()
    cron = api.get("/api/triggers/preview?cron=0+9+*+*+1-5").json()
    bad = api.get("/api/triggers/preview?cron=0+0+30+2+*")
    neither = api.get("/api/triggers/preview")

    assert len(good["next"]) == len(cron["next"]) == 3
    assert bad.status_code == neither.status_code == 400
    assert "never occurs" in bad.json()["error"]


def test_a_preview_is_in_the_zone_that_is_asked_for_and_says_what_it_means(api):
    nine = api.get("/api/triggers/preview?cron=0+9+*+*+*&timezone=Asia/Tokyo").json()
    bad = api.get("/api/triggers/preview?cron=0+9+*+*+*&timezone=Asia/Tokio")
    odd = api.get("/api/triggers/preview?cron=*/60+*+*+*+*").json()
    prefixed = api.get("/api/triggers/preview?cron=TZ%3DEurope/Berlin+0+9+*+*+*")

    assert nine["timezone"] == "Asia/Tokyo"
    assert {time[11:16] for time in nine["next"]} == {"00:00"}
    assert "warnings" not in nine
    assert (bad.status_code, bad.json()["error"]) == (
        400,
        'trigger.timezone: "Asia/Tokio" is not the name of a time zone '
        '(did you mean "Asia/Tokyo"?), e.g. "Europe/Berlin"',
    )
    assert odd["warnings"] == ['trigger.cron: "*/60" (minute) is 0 alone: no further step fits in']
    assert "leave it out and give timezone: Europe/Berlin" in prefixed.json()["error"]


def make_runs(count: int) -> list[str]:
    now = datetime.now(UTC)
    runs = [
        Run(id=f"run_{n:026d}", project="alpha", trigger="t", trigger_type="schedule",
            kind="trigger", cause="interval", queued_at=now,
            status="failed" if n % 2 else "completed", finished_at=now)
        for n in range(count)
    ]  # fmt: skip
    Run.objects.bulk_create(runs)
    return [run.id for run in reversed(runs)]


def test_runs_are_found_by_words_and_by_time(api, alpha):
    newest, middle, oldest = make_runs(3)
    Run.objects.filter(id=oldest).update(
        reason="Turn limit of 40 reached", queued_at=datetime(2026, 3, 1, 12, tzinfo=UTC)
    )
    Run.objects.filter(id=middle).update(summary="100% of the limit_x")

    def found(**asked: str) -> list[str]:
        return [run["id"] for run in api.get(f"/api/runs?{urlencode(asked)}").json()["runs"]]

    assert found(q="TURN limit") == [oldest]
    assert found(q="limit") == [middle, oldest]
    assert found(q="100%") == [middle]
    assert found(q="l_mit") == found(q="'; drop") == []
    assert found(until="2026-03-02T00:00:00Z") == [oldest]
    assert found(since="2026-03-02T00:00:00Z") == [newest, middle]
    refused = api.get("/api/runs?since=yesterday")
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (400, "since")


def test_runs_are_paged_newest_first(api, alpha):
    wanted = make_runs(5)

    first = api.get("/api/projects/alpha/runs?limit=3").json()
    second = api.get(f"/api/runs?project=alpha&limit=3&before={first['next']}").json()

    assert [run["id"] for run in first["runs"] + second["runs"]] == wanted
    assert second["next"] is None
    assert first["runs"][0]["queuedAt"] == timestamp(Run.objects.get(id=wanted[0]).queued_at)


@pytest.mark.parametrize("before", ["x", "run_nope", "9", "msg_01ARZ3NDEKTSV4RRFFQ69G5FAV", "~"])
@pytest.mark.parametrize("path", ["/api/runs", "/api/projects/alpha/runs"])
def test_a_page_of_runs_begins_behind_a_run_alone(api, alpha, path, before):
    refused = api.get(f"{path}?before={before}")

    assert refused.status_code == 400
    assert refused.json()["error"] == "before: must be the `next` of the page before"
    assert api.get(f"{path}?before=").status_code == 200


def test_runs_are_filtered(api, alpha):
    make_runs(4)

    failed = api.get("/api/runs?status=failed&trigger=t&cause=interval").json()["runs"]

    assert [run["status"] for run in failed] == ["failed", "failed"]
    assert api.get("/api/runs?project=beta").json()["runs"] == []
    assert api.get("/api/runs?status=bogus").status_code == 400


def test_a_run_that_ended_is_not_cancelled(api, alpha):
    (run_id,) = make_runs(1)

    assert api.post(f"/api/runs/{run_id}/cancel").json() == {"ok": True, "cancelled": False}
    assert api.get("/api/runs/run_nope").status_code == 404
    assert api.post("/api/runs/run_nope/cancel").status_code == 404


def test_a_queued_run_is_cancelled_with_its_message(api, alpha, scheduler):
    api.put(f"{BASE}/nightly", HOURLY)
    started = api.post(f"{BASE}/nightly/run").json()

    answer = api.post(f"/api/runs/{started['runId']}/cancel")

    assert answer.json() == {"ok": True, "cancelled": True}
    assert api.get(f"/api/runs/{started['runId']}").json()["run"]["status"] == "cancelled"
    assert api.get(f"/api/projects/alpha/chats/{started['sessionId']}").json()["queue"] == []


def test_the_network_of_a_trigger_is_stored_and_no_unknown_key(api, alpha):
    body = HOURLY | {"run": HOURLY["run"] | {"network": "guarded"}}

    answer = api.put(f"{BASE}/nightly", body).json()

    assert "warnings" not in answer
    assert answer["trigger"]["run"]["network"] == "guarded"
    assert "network: guarded" in (alpha / "project.yaml").read_text()


def test_a_name_that_is_taken_by_a_route_is_refused_with_the_reason(api, alpha):
    answer = api.put(f"{BASE}/runtime", HOURLY)

    assert answer.status_code == 400
    assert '"runtime" is reserved' in answer.json()["error"]
    assert api.delete(f"{BASE}/runtime").status_code == 405
