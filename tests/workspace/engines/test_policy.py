"""The gate: every mode against every class of tool, paths, spawning, and what never happens."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.promises.rings import ring
from tests.workspace.chats.turns.world import World
from workspace.engines import catalogue, policy
from workspace.engines.mcp import own_tools
from workspace.engines.policy import ALLOW, Ask, Gate

ARGS: dict[str, dict[str, Any]] = {
    "Read": {"file_path": "a"},
    "Glob": {"pattern": "*"},
    "Grep": {"pattern": "x"},
    "Edit": {"file_path": "a", "old_string": "x", "new_string": "y"},
    "Write": {"file_path": "a", "content": ""},
    "NotebookEdit": {"notebook_path": "a", "new_source": ""},
    "Bash": {"command": "true"},
    "WebFetch": {"url": "https://example.com"},
    "WebSearch": {"query": "x"},
    "Task": {"description": "d", "prompt": "p"},
    "TodoWrite": {"todos": []},
    "mcp__svc_manage__read_chat": {"session_id": "x"},
    "mcp__svc_manage__create_chat": {"prompt": "x"},
}
OPS: dict[str, Any] = {"read_chat": {}, "create_chat": {}, "archive_chat": {}}


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def gate(world: World, **fields: Any) -> Gate:
    standard = {"mode": "default", "may_spawn": True, "svc": {"url": "", "token": "", "ops": OPS}}
    return Gate(world.job("x", **(standard | fields)))


def verdict(found: str | Ask) -> str:
    if isinstance(found, Ask):
        return "ask"
    return "allow" if found == ALLOW else "deny"


# Class of the tool -> what each mode says when no person attends and no list names it.
TABLE = {
    "default": {"R": "allow", "E": "deny", "X": "deny", "N": "deny", "S": "deny", "P": "allow"},
    "acceptEdits": {
        "R": "allow",
        "E": "allow",
        "X": "deny",
        "N": "deny",
        "S": "deny",
        "P": "allow",
    },
    "bypassPermissions": dict.fromkeys("REXNSP", "allow"),
    "plan": {"R": "allow", "E": "deny", "X": "deny", "N": "deny", "S": "deny", "P": "allow"},
}

CASES = list(itertools.product(TABLE, ARGS))


@pytest.mark.parametrize(("mode", "tool"), CASES)
def test_the_table_of_modes_and_classes(world, mode, tool):
    expected = TABLE[mode][catalogue.kind(tool) or ""]
    if tool == "Task" and mode != "plan":
        expected = "allow"
    alone, attended = gate(world, mode=mode), gate(world, mode=mode, attended=True)

    assert verdict(alone.decide(tool, ARGS[tool])) == expected
    asks = expected == "deny" and (mode != "plan" or catalogue.kind(tool) == "N")
    assert verdict(attended.decide(tool, ARGS[tool])) == ("ask" if asks else expected)


@pytest.mark.parametrize(("mode", "tool"), CASES)
def test_listing_a_tool_approves_it_in_every_mode_but_plan(world, mode, tool):
    found = verdict(gate(world, mode=mode, tools=[tool]).decide(tool, ARGS[tool]))
    plan_allows = catalogue.kind(tool) in ("R", "P", "N")
    assert found == ("allow" if mode != "plan" or plan_allows else "deny")


@pytest.mark.parametrize(("mode", "tool"), CASES)
def test_what_is_not_listed_does_not_exist_in_any_mode(world, mode, tool):
    others = [name for name in ARGS if name != tool]
    for tools in ([], others):
        found = gate(world, mode=mode, tools=tools, attended=True).decide(tool, ARGS[tool])
        assert found == f"No such tool available: {tool}"


@pytest.mark.parametrize(
    ("entry", "granted"),
    [
        ("mcp__svc_manage__*", True),
        ("mcp__svc_manage", True),
        ("mcp__svc_manage__read*", True),
        ("mcp__svc_manage__read_chat", True),
        ("mcp__*", True),
        ("mcp__svc_manage__create*", False),
        ("mcp__*__read_chat", False),
        ("*", False),
        ("read_chat", False),
        ("mcp__other", False),
    ],
)
def test_patterns_of_service_tools(entry, granted):
    assert policy.is_granted("mcp__svc_manage__read_chat", [entry]) is granted


def test_a_star_grants_nothing_outside_of_service_tools():
    assert not policy.is_granted("Bash", ["B*", "*", "mcp__*"])


def test_an_operation_the_service_did_not_offer_does_not_exist(world):
    tool = "mcp__svc_manage__run_trigger"
    assert (
        gate(world, mode="bypassPermissions").decide(tool, {}) == f"No such tool available: {tool}"
    )
    tool = "mcp__svc_manage__read_chat"
    assert "No such tool" in str(gate(world, svc=None).decide(tool, {}))


def test_a_turn_that_may_not_spawn_has_no_way_to(world):
    denied = gate(world, may_spawn=False, mode="bypassPermissions")
    for tool in ("Task", "mcp__svc_manage__create_chat"):
        assert denied.decide(tool, ARGS[tool]) == f"No such tool available: {tool}"
    assert denied.decide("mcp__svc_manage__read_chat", {}) == ALLOW
    assert denied.decide("mcp__svc_manage__archive_chat", {}) == ALLOW


def test_the_denial_says_what_is_missing(world):
    assert gate(world).decide("Bash", ARGS["Bash"]) == (
        "Bash needs approval and nobody is attending this turn (permission mode default)"
    )
    assert gate(world, mode="plan").decide("Write", ARGS["Write"]) == (
        "Write is not permitted in plan mode"
    )


def test_an_unknown_mode_or_tool_is_refused(world):
    assert verdict(gate(world, mode="yolo", tools=["Read"]).decide("Read", ARGS["Read"])) == "deny"
    assert (
        verdict(gate(world, tools=["Unheard"], mode="bypassPermissions").decide("Unheard", {}))
        == "deny"
    )


@pytest.mark.parametrize("mode", TABLE)
def test_commands_in_the_background_are_denied_everywhere(world, mode):
    args = {"command": "true", "run_in_background": True}
    assert verdict(gate(world, mode=mode, tools=["Bash"]).decide("Bash", args)) == "deny"


@pytest.mark.parametrize(
    "path",
    ["../x", "../../../etc/passwd", "/etc/passwd", "a/../../x", "out/secret", "~/x/../../.."],
)
def test_paths_outside_are_denied_except_in_bypass(world, path):
    (world.project / "out").symlink_to("/etc")
    for tool, key in (("Read", "file_path"), ("Write", "file_path"), ("Glob", "path")):
        args = ARGS[tool] | {key: path}
        if path.startswith("~"):
            continue
        assert (
            gate(world, tools=[tool]).decide(tool, args) == f"path is outside the project: {path}"
        )
        assert gate(world, mode="bypassPermissions").decide(tool, args) == ALLOW


def test_the_scratch_directory_of_the_turn_is_inside(world):
    job = world.job("x", mode="acceptEdits")
    args = {"file_path": f"{job.run_dir}/tmp/x", "content": ""}
    assert Gate(job).decide("Write", args) == ALLOW


@pytest.mark.parametrize(
    "path", [".chats/x.jsonl", "a/../.chats/x", ".CHATS/x", "deep/.chats/y", "link/x.jsonl"]
)
@pytest.mark.parametrize("mode", TABLE)
def test_transcripts_are_protected_in_every_mode(world, mode, path):
    (world.project / "link").symlink_to(".chats")
    args = {"file_path": path, "content": ""}
    found = gate(world, mode=mode, tools=["Write"]).decide("Write", args)
    assert found == f"protected path: {path}"


@pytest.mark.parametrize(
    "path",
    [".git/hooks/x", ".svc/triggers/a.md", ".claude/settings.json", "sub/.git"],
)
def test_what_arms_hooks_and_triggers_is_protected_without_bypass(world, path):
    args = {"file_path": path, "content": ""}
    assert gate(world, mode="acceptEdits").decide("Write", args) == f"protected path: {path}"
    assert gate(world, tools=["Write"]).decide("Write", args) == f"protected path: {path}"
    assert gate(world, mode="bypassPermissions").decide("Write", args) == ALLOW
    assert gate(world).decide("Read", {"file_path": path}) == ALLOW


@pytest.mark.parametrize("mode", ["default", "acceptEdits", "bypassPermissions", "plan"])
@pytest.mark.parametrize("name", ["project.yaml", "PROJECT.yaml", "./x/../project.yaml"])
def test_no_mode_lets_a_turn_say_where_the_next_one_works(world, mode, name):
    args = {"file_path": name, "content": ""}
    assert gate(world, mode=mode).decide("Write", args) == f"protected path: {name}"


def test_in_a_directory_of_the_users_a_project_yaml_is_theirs(world, tmp_path):
    theirs = Gate(world.job("x")._replace(cwd=str(tmp_path / "home")))
    assert theirs.decide("Write", {"file_path": "project.yaml", "content": ""}) == ALLOW


def test_a_file_of_that_name_deeper_down_is_an_ordinary_file(world):
    args = {"file_path": "examples/project.yaml", "content": ""}
    assert gate(world, mode="acceptEdits").decide("Write", args) == ALLOW


@settings(max_examples=ring(fast=40, slow=750), deadline=None)
@given(st.lists(st.sampled_from(["..", ".", "a", "link", "/", "", "etc", ".chats"]), max_size=8))
def test_no_spelling_of_a_path_leads_out(tmp_path_factory, parts):
    root = tmp_path_factory.mktemp("world")
    world = World(root)
    (world.project / "link").symlink_to("/")
    (world.project / "a").mkdir()
    path = "/".join(parts)
    found = gate(world, mode="acceptEdits").decide("Write", {"file_path": path, "content": ""})

    real = Path(world.project, path or ".").resolve()
    inside = real.is_relative_to(world.project) and ".chats" not in real.parts
    assert (found == ALLOW) is inside


PARTS = {
    "review": {
        "list_threads": {"kind": "R", "arguments": {}},
        "reply": {"kind": "P", "arguments": {"body": "text"}},
    },
    "apps": {"restart": {"kind": "X", "arguments": {}}},
}


@pytest.mark.parametrize(
    ("tools", "offered"),
    [
        (None, ["apps__restart", "review__list_threads", "review__reply"]),
        (["mcp__svc_review__*"], ["review__list_threads", "review__reply"]),
        (["mcp__svc_review"], ["review__list_threads", "review__reply"]),
        (["mcp__svc_review__reply"], ["review__reply"]),
        (["mcp__svc_manage__*"], []),
        ([], []),
    ],
)
def test_tools_of_the_parts_are_granted_like_others_and_only_as_the_job_has_them(
    world: World, tools: list[str] | None, offered: list[str]
):
    svc = {"url": "http://127.0.0.1:1/_svc/mcp", "token": "", "ops": {}, "parts": PARTS}
    found = gate(world, tools=tools, svc=svc)

    assert sorted(filter(found.offers, catalogue.part_tools(svc))) == [
        f"mcp__svc_{x}" for x in offered
    ]
    assert not found.offers("mcp__svc_review__delete_all")
    assert not found.offers("mcp__svc_other__reply")


def test_a_turn_reaches_the_addresses_of_the_parts_it_was_given_and_no_other():
    svc = {"url": "http://127.0.0.1:1/_svc/mcp", "token": "", "ops": {}, "parts": PARTS}

    assert own_tools.paths(svc) == {"/_svc/mcp", "/_svc/mcp/review", "/_svc/mcp/apps"}
    assert own_tools.paths({**svc, "parts": {}}) == {"/_svc/mcp"}
