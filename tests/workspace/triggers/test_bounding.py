"""What a client may store as a trigger, what that remembers, and how its firings are held."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from config.errors import SvcError
from config.mcp import turn_tools
from tests.workspace.access.world import configure
from tests.workspace.chats.world import agent as turn_of
from tests.workspace.triggers.world import USER, World, hook
from workspace.access.policy import Bounds, Scope
from workspace.access.principals import Agent, Client, Helper
from workspace.chats import actions
from workspace.chats import files as chat_files
from workspace.models import Run, Turn
from workspace.triggers import commands, events, firing, render

pytestmark = pytest.mark.usefixtures("serving")

CI = Client("ci", Scope(("alpha",), ("*",), max_spawn_depth=3))
OPS = Client("ops", Scope(allow=("*",), permission_mode="default"))


@pytest.fixture(autouse=True)
def configured(monkeypatch: pytest.MonkeyPatch) -> None:
    configure(monkeypatch, ci=CI.scope, ops=OPS.scope)


def entry(world: World, name: str = "t") -> dict[str, Any]:
    """The trigger as its file says it."""
    found: dict[str, Any] = yaml.safe_load(world.text())["triggers"][name]
    return found


def store(world: World, principal: Any = CI, name: str = "t", **words: Any) -> dict[str, Any]:
    commands.set_trigger(world.project(), name, words, principal=principal)
    return entry(world, name)


def refused(world: World, principal: Any = CI, **words: Any) -> str:
    before = world.text()
    with pytest.raises(SvcError) as error:
        store(world, principal, **words)
    assert world.text() == before
    return error.value.text


def write(world: World, run: str, *, enabled: str = "true", top: str = "") -> None:
    """A trigger as a person writes it by hand."""
    when = "{type: schedule, interval: 1d}"
    body = f"trigger: {when}\n    run: {{prompt: hello{run}}}\n    enabled: {enabled}"
    world.write(f"name: Alpha\n{top}triggers:\n  t:\n    {body}\n")


def by_client(limit: int = 2, *clients: Client) -> Agent:
    """A turn that these clients caused."""
    scopes = {one.client: one.scope for one in clients or (CI,)}
    caller = turn_of("c1", limit=limit, client=next(iter(scopes)))
    return dataclasses.replace(caller, bounds=Bounds(scopes))


def fired(world: World, name: str = "t", principal: Any = USER) -> Turn:
    started = commands.run(world.project(), name, principal=principal)
    return Turn.objects.get(run=started.run)


def by_clock(world: World, name: str = "t") -> Run:
    """One firing that no person asked for."""
    world.clock.moment = datetime.now(UTC)
    ticker = world.ticker()
    world.clock.step(hours=1)
    ticker.step()
    run = Run.objects.exclude(scheduled_for=None).get(trigger=name)
    return firing.start(run.id).run


def test_nothing_is_written_that_the_client_did_not_ask_for(world):
    write(world, "", enabled="false")

    assert store(world, enabled=True)["run"] == {"prompt": "hello"}
    assert store(world, name="new", interval="1h", prompt="x")["run"] == {"prompt": "x"}
    assert store(world, name="new", max_spawn_depth=2)["run"] == {"prompt": "x", "maxSpawnDepth": 2}
    assert store(world, name="new", max_spawn_depth=None)["run"] == {"prompt": "x"}


def test_a_depth_above_the_bound_is_refused_when_it_is_named_and_left_alone_when_it_is_not(world):
    write(world, ", maxSpawnDepth: 9")

    assert refused(world, max_spawn_depth=4) == (
        "max_spawn_depth: 4 is above this client's limit 3, e.g. 3"
    )
    assert store(world, prompt="other")["run"] == {"prompt": "other", "maxSpawnDepth": 9}


@pytest.mark.parametrize(
    ("asked", "project", "limit"), [("", 1, 1), ("", 9, 3), (", maxSpawnDepth: 2", 9, 2),
                                    (", maxSpawnDepth: 9", 1, 3), (", maxSpawnDepth: 0", 9, 0)],
)  # fmt: skip
def test_the_depth_of_what_a_client_starts_is_the_least_of_its_bound_and_what_would_hold(
    world, asked: str, project: int, limit: int
):
    write(world, asked, top=f"maxSpawnDepth: {project}\n")

    turn = fired(world, principal=CI)

    assert turn.spawn_limit == limit
    assert chat_files.read(world.project(), turn.chat).spawn_limit == limit


def test_a_mode_above_the_highest_is_refused_by_name_with_the_fix(world):
    told = (
        'permission_mode: "bypassPermissions" is above acceptEdits, the highest mode of client ci '
        '(its scope.permissionMode), e.g. "acceptEdits"'
    )

    assert refused(world, interval="1h", prompt="x", permission_mode="bypassPermissions") == told
    assert (
        refused(world, by_client(), interval="1h", prompt="x", permission_mode="bypassPermissions")
        == told
    )
    for mode in ("plan", "default", "acceptEdits"):
        stored = store(world, interval="1h", prompt="x", permission_mode=mode)
        assert stored["run"]["permissionMode"] == mode
    assert "is above default" in refused(world, OPS, permission_mode="acceptEdits")


def test_another_prompt_does_not_take_over_the_higher_mode_that_a_person_stored(world):
    write(world, ", permissionMode: bypassPermissions")

    assert "is above acceptEdits" in refused(world, prompt="other")
    assert store(world, enabled=False)["run"]["permissionMode"] == "bypassPermissions"
    assert store(world, prompt="other", permission_mode=None)["run"] == {"prompt": "other"}


def test_a_client_may_run_what_a_person_stored_with_a_higher_mode(world):
    write(world, ", permissionMode: bypassPermissions")

    assert fired(world, principal=CI).mode == "bypassPermissions"


@pytest.mark.parametrize(
    ("name", "covered"),
    [("mcp__svc_apps__restart_app", "restart_app"), ("mcp__svc_apps__s*", "start_app, stop_app"),
     *[(name, "start_app, stop_app, restart_app")
       for name in ("mcp__svc_apps", "mcp__svc_apps__*", "mcp__svc_*", "mcp__s*")]],
)  # fmt: skip
def test_a_client_grants_nothing_that_acts_outside_of_the_sandbox(world, name: str, covered: str):
    told = (
        f'tools: "{name}" would act outside of the sandbox ({covered}), '
        "which the scope of client ci does not allow by name (its scope.allow)"
    )

    for principal in (CI, by_client()):
        assert refused(world, principal, interval="1h", prompt="x", tools=["Bash", name]) == told
    reading = ["Bash", "mcp__svc_apps__find_app", "mcp__svc_review__*"]
    assert store(world, interval="1h", prompt="x", tools=reading)["run"]["tools"] == reading
    assert store(world, turn_of("c1"), name="own", cron="@daily", prompt="x", tools=[name])


def test_another_prompt_does_not_take_over_the_tools_outside_that_a_person_listed(world):
    write(world, ", tools: [mcp__svc_apps__restart_app]")

    assert "act outside of the sandbox" in refused(world, prompt="other")
    assert store(world, enabled=False)["run"]["tools"] == ["mcp__svc_apps__restart_app"]
    assert store(world, prompt="other", tools=["Read"])["run"]["tools"] == ["Read"]


def outside(*clients: Client, tools: tuple[str, ...] | None = ("mcp__svc_apps__*",)) -> list[str]:
    """What acts outside of the sandbox in a turn that these clients caused."""
    caller = by_client(2, *clients) if clients else turn_of("c1")
    turn = dataclasses.replace(caller, tools=tools)
    helper = Helper(turn, "apps", "runbook", Path("/"), Path("/"))
    return [one.name for one in turn_tools.acting().values() if helper.grants(one)]


def test_a_turn_of_a_client_has_no_tool_that_acts_outside_of_the_sandbox_whoever_listed_it():
    assert outside() == outside(tools=None) == ["start_app", "stop_app", "restart_app"]
    assert outside(CI) == outside(CI, tools=None) == []


def test_a_scope_that_names_such_a_tool_allows_it_for_every_client_behind_a_turn(world):
    keeper = Client("keeper", Scope(allow=("set_trigger", "restart_app")))
    denied = Client("denied", Scope(allow=("restart_app",), deny=("re*",)))

    tools = ["mcp__svc_apps__restart_app"]
    assert store(world, keeper, interval="1h", prompt="x", tools=tools)["run"]["tools"] == tools
    assert outside(keeper) == ["restart_app"]
    assert outside(keeper, CI) == outside(denied) == []


def test_a_trigger_remembers_the_clients_that_wrote_it_or_switched_it_on(world):
    write(world, "", enabled="false")

    assert "clients" not in store(world, enabled=False)
    assert store(world, enabled=True)["clients"] == ["ci"]
    assert store(world, OPS, enabled=False)["clients"] == ["ci"]
    assert store(world, OPS, prompt="y")["clients"] == ["ci", "ops"]
    assert store(world, by_client(3), name="of-turn", cron="@daily", prompt="x")["clients"] == [
        "ci"
    ]
    assert "clients" not in store(world, turn_of("c1"), name="own", cron="@daily", prompt="x")


def test_a_person_who_saves_it_makes_it_their_own_and_who_only_switches_keeps_it(world):
    store(world, interval="1h", prompt="x")
    shown = render.trigger(commands.get(world.project(), "t"))
    record = {key: shown[key] for key in ("trigger", "run", "enabled", "clients")}

    world.put("t", record | {"enabled": True})
    assert entry(world)["clients"] == ["ci"]

    del record["clients"]
    world.put("t", record)
    assert "clients" not in entry(world)


@pytest.mark.parametrize("value", ["ci", "7", "[7]", "{ci: true}", '[""]'])
def test_a_trigger_whose_clients_cannot_be_read_is_never_armed(world, value: str):
    write(world, "")
    world.write(world.text() + f"    clients: {value}\n")

    _, entries = commands.list_triggers(world.project())

    assert [(one.name, one.error) for one in entries.invalid] == [
        ("t", 'clients: must be a list of names of management clients, e.g. ["ci"]')
    ]


def test_what_the_clock_fires_stays_with_the_client_that_stored_it(world):
    world.write("name: Alpha\npermissionMode: bypassPermissions\nmaxSpawnDepth: 9\n")
    store(world, interval="1h", prompt="x", enabled=True)

    run = by_clock(world)

    turn = Turn.objects.get(run=run)
    assert (run.client, run.clients, turn.client, turn.clients) == ("ci", ["ci"], "ci", ["ci"])
    assert (turn.mode, turn.spawn_limit) == ("acceptEdits", 3)


def test_what_a_client_stored_is_held_whoever_runs_it(world):
    store(world, OPS, interval="1h", prompt="x")

    assert fired(world).clients == ["ops"]
    turn = fired(world, principal=CI)
    assert (turn.client, turn.clients, turn.mode) == ("ci", ["ci", "ops"], "default")


def test_a_trigger_of_a_client_that_is_gone_or_left_the_project_starts_nothing(world, monkeypatch):
    store(world, interval="1h", prompt="x", enabled=True)
    told = "client ci stored it and may not act in this project any more; save it as yours"

    for scopes in ({}, {"ci": Scope(("beta",), ("*",))}):
        configure(monkeypatch, **scopes)
        with pytest.raises(commands.NotStarted) as error:
            commands.run(world.project(), "t", principal=USER)
        assert error.value.reason == told
        assert f"clients: {told}" in commands.get(world.project(), "t").warnings
    assert by_clock(world, "t").status == "failed"
    assert not Turn.objects.exists()


def test_a_hook_of_an_archive_by_a_turn_of_a_client_is_held_as_the_turn_is(world):
    world.write("name: Alpha\nmaxSpawnDepth: 9\n")
    world.put("a", hook())
    chat = actions.create(principal=USER, project=world.project(), name="Old").chat.id

    actions.archive(
        principal=by_client(2, CI, OPS), project=world.project(), session_id=chat, archived=True,
        on_archive=events.chat_archived,
    )  # fmt: skip

    (run,) = world.runs("a")
    turn = Turn.objects.get(run=firing.start(run.id).run)
    assert (turn.client, turn.clients, turn.spawn_limit) == ("ci", ["ci", "ops"], 1)


def test_a_turn_leaves_no_trigger_that_spawns_deeper_than_it_could_itself(world):
    world.write("name: Alpha\nmaxSpawnDepth: 2\n")

    assert (
        "maxSpawnDepth"
        not in store(world, turn_of("c1", limit=3), name="a", cron="@daily", prompt="x")["run"]
    )
    shallow = turn_of("c1", limit=1)
    assert store(world, shallow, interval="1h", prompt="x")["run"]["maxSpawnDepth"] == 0
    assert refused(world, shallow, max_spawn_depth=1) == (
        "max_spawn_depth: 1 is above this turn's limit 0, e.g. 0"
    )
