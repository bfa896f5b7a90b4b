"""The noun: put, set_trigger, remove, convert, and what they answer."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from config.errors import Conflict, Invalid, NotFound, Stale, SvcError
from tests.workspace.access.world import configure
from tests.workspace.triggers.world import World, hook, schedule
from workspace.access.policy import Scope
from workspace.engines import select
from workspace.engines.base import Probe
from workspace.models import Run, Turn
from workspace.triggers import commands, firing, render, runs
from workspace.triggers.entries import files


def patch(world, name="t", **words: Any) -> dict[str, Any]:
    return render.flat(commands.set_trigger(world.project(), name, words).seen)


def refused(world, name="t", **words: Any) -> str:
    with pytest.raises(SvcError) as error:
        commands.set_trigger(world.project(), name, words)
    return error.value.text


def test_put_creates_disarmed_when_enabled_is_not_said(world):
    body = schedule(interval="1h")
    del body["enabled"]

    saved = world.put("t", body)

    assert saved.created
    assert render.trigger(saved.seen)["enabled"] is False
    assert render.trigger(saved.seen)["runtime"]["nextRunAt"] is None


def test_the_reply_that_arms_already_says_the_next_three_times(world):
    view = render.trigger(world.put("t", schedule(interval="1h")).seen)

    assert view["runtime"]["nextRunAt"] == view["runtime"]["nextRuns"][0]
    assert len(view["runtime"]["nextRuns"]) == 3
    assert view["runtime"]["scheduleStatus"] == "idle"


def test_the_rest_shape_fills_defaults_and_omits_absent_optionals(world):
    view = render.trigger(world.put("t", schedule(cron="0 9 * * *", enabled=False)).seen)

    assert view["trigger"] == {"type": "schedule", "cron": "0 9 * * *"}
    assert view["run"] == {"prompt": "Say hi", "session": "new", "tools": []}
    assert (view["agentName"], "legacy" in view) == ("trigger-alpha-t", False)


def test_the_flat_shape_has_every_key_in_order_nulls_included(world):
    flat = patch(world, cron="0 9 * * *", prompt="hi")

    assert list(flat) == [
        "name", "agentName", "type", "cron", "interval", "event", "path", "prompt", "promptFile",
        "session", "tools", "maxSpawnDepth", "permissionMode", "model", "maxTurns", "enabled",
        "status", "lastRunAt", "nextRunAt", "lastError", "overlap", "catchUp", "onAsk", "network",
        "debounce", "match", "timezone", "nextRuns", "nextRunsTimezone", "lastRun", "warnings",
    ]  # fmt: skip
    assert (flat["status"], flat["nextRuns"], flat["event"]) == ("disabled", [], None)


def test_an_enabled_only_put_is_refused(world):
    world.put("t", schedule(interval="1h"))

    with pytest.raises(Invalid):
        world.put("t", {"enabled": False})


def test_read_only_keys_sent_back_are_ignored_silently(world):
    view = render.trigger(world.put("t", schedule(interval="1h", tools=["Read"])).seen)

    again = world.put("t", view)

    assert not again.created
    assert again.seen.warnings == []


def test_a_trigger_changed_meanwhile_is_stale_but_not_by_another_trigger(world):
    tag = world.put("t", schedule(interval="1h")).seen.trigger.etag
    world.put("other", schedule(interval="1h"))

    commands.put(world.project(), "t", schedule(interval="2h"), if_match=tag)
    with pytest.raises(Stale):
        commands.put(world.project(), "t", schedule(interval="3h"), if_match=tag)
    with pytest.raises(Stale):
        commands.remove(world.project(), "t", if_match=tag)


def test_removing_twice_says_so_and_is_no_error(world):
    world.put("t", schedule(interval="1h"))

    assert commands.remove(world.project(), "t")
    assert not commands.remove(world.project(), "t")
    with pytest.raises(NotFound) as error:
        commands.get(world.project(), "t")
    assert error.value.text == "No such trigger: t"


def test_cron_alone_makes_a_schedule_and_replaces_an_interval(world):
    assert patch(world, cron="0 9 * * *", prompt="hi")["type"] == "schedule"

    flat = patch(world, interval="30m")

    assert (flat["cron"], flat["interval"]) == (None, "30m")


def test_a_when_of_another_type_needs_the_type(world):
    world.put("tidy", hook())

    assert refused(world, "tidy", cron="0 9 * * *") == (
        '`cron` given, but "tidy" is an event trigger; pass type "schedule" to change it.'
    )
    assert patch(world, "tidy", type="schedule", cron="0 9 * * *")["prompt"] == "Look at it"


def test_the_present_type_with_no_field_of_it_changes_nothing(world):
    world.put("t", schedule(cron="0 9 * * *"))
    before = world.text()

    patch(world, type="schedule")

    assert world.text() == before


def test_prompt_and_prompt_file_clear_each_other_and_exclude_each_other(world):
    patch(world, interval="1h", prompt="hi")

    assert patch(world, prompt_file="a.md")["prompt"] is None
    assert patch(world, prompt="hi")["promptFile"] is None
    assert refused(world, prompt="hi", prompt_file="a.md") == (
        'prompt: give exactly one of prompt and prompt_file, e.g. prompt_file "daily.md"'
    )


def test_null_clears_what_may_be_cleared_and_an_empty_list_empties_the_tools(world):
    patch(
        world, interval="1h", prompt="hi", model="runbook", permission_mode="plan", max_turns=3,
        max_spawn_depth=0, overlap="queue", catch_up="skip", network="off", tools=["Read"],
    )  # fmt: skip

    cleared = patch(
        world, model=None, permission_mode=None, max_turns=None, max_spawn_depth=None,
        overlap=None, catch_up=None, network=None, tools=[],
    )  # fmt: skip

    keys = ("model", "permissionMode", "maxTurns", "maxSpawnDepth", "overlap", "catchUp", "network")
    assert [cleared[key] for key in keys] == [None] * 7
    assert cleared["tools"] == []


def test_a_toggle_keeps_everything_else_and_needs_a_trigger(world):
    world.put("t", schedule(interval="1h", tools=["Read"]))

    flat = patch(world, enabled=False)

    assert (flat["enabled"], flat["interval"], flat["tools"]) == (False, "1h", ["Read"])
    assert refused(world, "x", enabled=True) == "No such trigger: x"


def test_an_edit_keeps_the_armed_state(world):
    world.put("t", schedule(interval="1h"))

    assert patch(world, prompt="other")["enabled"] is True


def test_mistakes_are_told_in_argument_names(world):
    assert refused(world, cron="0 0 3 * * *", prompt="x").startswith("cron: ")
    assert refused(world, type="event", event="onDelete", prompt="x") == (
        'event: "onDelete" is not one of onArchive, afterTurn, onThread, onCommits, onAppDown, '
        "onAppUp, onRunFailed"
    )
    assert refused(world, interval="1h", prompt_file="../x.md").startswith("prompt_file: ")
    assert refused(world, interval="1h", prompt="x", max_turns=0).startswith("max_turns: ")


def test_a_legacy_schedule_is_not_edited_before_it_is_converted(world):
    world.write("schedules:\n  old: {type: interval, interval: 1h, prompt: x, enabled: true}\n")

    with pytest.raises(Conflict) as error:
        world.put("old", schedule(interval="1h"))

    assert (error.value.code, error.value.text) == (
        "legacy", '"old" is a legacy schedule; convert it first',
    )  # fmt: skip
    assert refused(world, "old", enabled=False) == error.value.text


def test_convert_moves_the_entry_its_prompt_file_and_keeps_the_grid(world):
    world.write(
        "schedules:\n  old: {type: interval, interval: 1h, promptFile: a.md, enabled: true}\n"
    )
    folder = world.folder / "alpha" / ".svc" / "schedules"
    folder.mkdir(parents=True)
    (folder / "a.md").write_text("From the file")
    world.arm()
    armed = world.state("old")

    view = render.trigger(commands.convert(world.project(), "old"))

    assert view["trigger"] == {"type": "schedule", "interval": "1h"}
    assert (folder.parent / "triggers" / "a.md").read_text() == "From the file"
    assert "schedules" not in world.text()  # nothing more was in it
    after = world.state("old")
    assert (after.armed_at, after.next_at, after.legacy) == (armed.armed_at, armed.next_at, False)


def test_convert_names_what_is_missing_or_in_the_way(world):
    world.put("t", schedule(interval="1h"))

    with pytest.raises(Conflict) as error:
        commands.convert(world.project(), "t")
    with pytest.raises(NotFound):
        commands.convert(world.project(), "nope")

    assert error.value.code == "exists"


def test_deleting_a_legacy_schedule_removes_it_by_name(world):
    world.write("schedules:\n  old: {type: interval, interval: 1h, prompt: x, enabled: true}\n")

    assert commands.remove(world.project(), "old")
    assert render.runtimes(world.project(), None) == []


def test_runtime_lists_every_usable_trigger_from_the_database_alone(world, settings):
    world.put("b", schedule(interval="1h"))
    world.put("a", hook())
    world.write(
        world.text() + "  bad: 1\nschedules:\n  old: {type: cron, cron: '@daily', prompt: x}\n"
    )
    world.arm()
    project = world.project()
    settings.PROJECTS_DIR = None  # whoever reads a file now fails

    found = render.runtimes(project, None)

    assert [(entry["name"], entry["type"], entry["scheduleStatus"]) for entry in found] == [
        ("a", "event", None), ("b", "schedule", "idle"), ("old", "schedule", "disabled"),
    ]  # fmt: skip
    assert found[2]["legacy"] is True


def test_a_prompt_file_that_is_not_there_yet_is_a_warning(world):
    saved = world.put("t", schedule(interval="1h", promptFile="later.md"))

    assert saved.seen.warnings == ["run.promptFile: .svc/triggers/later.md is not there yet"]


def test_a_model_that_cannot_run_here_is_a_warning(world):
    saved = world.put("t", schedule(interval="1h", model="claude:opus"))

    assert saved.seen.warnings[0].startswith('run.model: "claude:opus" cannot run now: ')


@pytest.mark.parametrize(
    ("beside", "prefix"),
    [({}, 'run.model: "acp:nope" cannot run now'), ({"good": {"command": ["sh"]}}, "run")],
)
def test_an_agent_that_cannot_run_here_is_a_warning_with_its_own_reason(
    world, settings, beside, prefix
):
    pytest.importorskip("acp", reason="agent-client-protocol is not installed (make engine-acp)")
    agents = {"nope": {"command": ["nosuchagent"]}, "bad": {}, **beside}
    settings.SVC = dataclasses.replace(settings.SVC, engines={"acp": {"agents": agents}})
    select.probe_again()

    body = schedule(interval="1h", model="acp:nope", permissionMode="bypassPermissions")
    saved = world.put("t", body)

    told = "the command of the ACP agent nope is not found: nosuchagent"
    assert f"{prefix}: {told}" in saved.seen.warnings
    select.probe_again()


def runbook(*tools: str) -> str:
    steps = {"Bash": "```Bash\ntrue\n```", "Read": "```Read file_path=a\n```"}
    return "\n".join(["#!runbook", *(steps[tool] for tool in tools)])


ASKED = "run.tools: no one attends its turns, so permission mode {} denies {}; {}{}"
NAME = 'name the tools it may use, e.g. ["Read", "Glob", "Grep", "Edit", "Write", "Bash"]'
ANSWER = ", or ask a person (run.onAsk: wait)"
BYPASS = f"{ANSWER}, or choose bypassPermissions"


@pytest.mark.parametrize(
    ("run", "warning"),
    [
        ({}, ASKED.format("acceptEdits", "Bash, WebFetch, WebSearch", NAME, BYPASS)),
        ({"prompt": runbook("Read", "Bash")},
         ASKED.format("acceptEdits", "Bash",
                      'name the tools it may use, e.g. ["Read", "Bash"]', BYPASS)),
        ({"permissionMode": "default"},
         ASKED.format("default", "Edit, Write, NotebookEdit, Bash, WebFetch, WebSearch",
                      NAME, BYPASS)),
        ({"prompt": runbook("Read")}, None),
        ({"tools": ["Bash"]}, None),
        ({"onAsk": "wait"}, None),
        ({"permissionMode": "bypassPermissions"}, None),
        ({"permissionMode": "plan"}, None),
    ],
)  # fmt: skip
def test_a_schedule_that_is_denied_what_nobody_can_be_asked_says_so_at_save(world, run, warning):
    body = schedule(interval="1h")
    body["run"] |= run

    put = world.put("t", body)
    flat = patch(world, "t", enabled=False)

    for found in (put.seen.warnings, flat["warnings"]):
        assert [one for one in found if one.startswith("run.tools:")] == [*filter(None, [warning])]


def test_a_client_is_not_told_of_a_mode_that_it_may_not_choose(world, monkeypatch):
    configure(monkeypatch, ci=Scope(("alpha",), ("*",)))
    world.write("name: Alpha\ntriggers:\n  t:\n    trigger: {type: schedule, interval: 1d}\n"
                "    run: {prompt: x}\n    clients: [ci]\n")  # fmt: skip

    [warning] = commands.get(world.project(), "t").warnings

    assert warning == ASKED.format("acceptEdits", "Bash, WebFetch, WebSearch", NAME, ANSWER)


def test_only_one_curator_entry_is_used_and_the_other_says_so(world):
    body = {
        "trigger": {"type": "event", "on": "afterTurn"},
        "run": {"prompt": "x"},
        "enabled": True,
    }
    world.put("first", body)

    second = world.put("second", body)
    named = world.put("curate-overview", body)

    other = "trigger.on: only one afterTurn trigger is used: first"
    assert second.seen.warnings == [other]
    assert named.seen.warnings == []


def test_runs_of_a_removed_trigger_stay_and_queued_ones_are_cancelled(world, serving):
    world.put("t", schedule(interval="1h", enabled=False))
    queued = [_fire(world), firing.start(_fire(world).id).run]

    commands.remove(world.project(), "t")

    for ended in (runs.get(run.id) for run in queued):
        assert (ended.status, ended.reason) == ("cancelled", "its trigger was removed")
    assert Turn.objects.get().state == "deleted"


def test_removing_a_trigger_leaves_the_turn_alone_that_began_meanwhile(world, serving):
    world.put("t", schedule(interval="1h", enabled=False))
    run = firing.start(_fire(world).id).run
    Turn.objects.update(state="running")  # claimed; its run has not been told yet

    commands.remove(world.project(), "t")

    assert runs.get(run.id).status == "queued"
    assert (Turn.objects.get().state, Turn.objects.get().stop) == ("running", "")


def _fire(world: World) -> Run:
    trigger = files.read(world.project()).triggers["t"]
    return firing.fire(
        project=world.project(), trigger=trigger, cause="manual", actor={"kind": "system"}
    )


class Unasked:
    """An engine whose agents may act without asking."""

    name = "acp"
    looped = True

    def probe(self, cfg):
        return Probe(True, models=("acp:loose",))

    def default_model(self, cfg):
        return "loose"

    def preflight(self, job):
        return None


@pytest.fixture
def loose(monkeypatch):
    monkeypatch.setitem(select.ENGINES, "acp", Unasked())
    select.probe_again()
    yield
    select.probe_again()


UNASKED = (
    "an ACP agent may act without asking and no one attends this turn: "
    'it needs bypassPermissions, or another engine, e.g. "bypassPermissions"'
)


def test_a_trigger_that_would_let_an_agent_act_unasked_is_not_saved(world, loose):
    body = schedule(interval="1h", model="acp:loose", enabled=False)
    with pytest.raises(Invalid) as put:
        world.put("t", body)
    flat = refused(world, interval="1h", prompt="x", model="acp:loose")
    listed = refused(world, interval="1h", prompt="x", model="acp:loose", tools=["Read"])

    assert put.value.text == f"run.permissionMode: {UNASKED}"
    assert flat == f"permission_mode: {UNASKED}"
    assert listed == 'tools: the engine "acp" cannot enforce a tool list, e.g. model "claude"'
    assert files.read(world.project()).usable == []


def test_the_engine_of_the_project_is_asked_before_the_model_of_the_instance(
    world, loose, settings
):
    settings.SVC = dataclasses.replace(settings.SVC, model="runbook")
    world.write("name: Alpha\nengine: acp\n")

    with pytest.raises(Invalid) as put:
        world.put("t", schedule(interval="1h", enabled=False))

    assert put.value.text == f"run.permissionMode: {UNASKED}"


def test_in_bypass_it_is_saved_and_so_is_a_runbook(world, loose):
    patch(world, "a", interval="1h", prompt="x", model="acp:loose",
          permission_mode="bypassPermissions")  # fmt: skip
    patch(world, "b", interval="1h", prompt="#!runbook\n```Bash\ntrue\n```\n", model="acp:loose")
    patch(world, "c", interval="1h", prompt_file="later.md", model="acp:loose")

    assert [one.name for one in files.read(world.project()).usable] == ["a", "b", "c"]


def test_what_is_in_the_file_by_then_warns_and_can_be_switched_off(world, monkeypatch, request):
    patch(world, interval="1h", prompt="x", model="acp:loose", enabled=True)
    request.getfixturevalue("loose")
    seen = commands.get(world.project(), "t")

    text = UNASKED.partition(", e.g.")[0]
    assert f"run.permissionMode: {text}" in seen.warnings
    assert patch(world, enabled=False)["enabled"] is False
    assert refused(world, enabled=True) == f"permission_mode: {UNASKED}"
