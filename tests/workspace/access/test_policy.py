"""Patterns, scopes and the gates of the in-process tools."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.errors import Denied
from tests.workspace.access.world import CATALOGUE, READERS, REGISTRY
from workspace.access.policy import Bounds, Gates, Scope, is_listed, matches
from workspace.access.principals import Agent, Client, System, User

SPAWNING = [name for name, (_, _, code) in CATALOGUE.items() if code]


def granted(principal: Any) -> list[str]:
    return [operation.name for operation in REGISTRY.visible_to(principal)]


def client(**scope: Any) -> Client:
    return Client("ci", Scope(**scope))


def agent(
    *,
    read: bool = True,
    write: bool = True,
    projects: bool = True,
    hooks: bool = True,
    own: dict[str, bool] | None = None,
    **changes: Any,
) -> Agent:
    values: dict[str, Any] = {
        "turn": "msg_1", "project": "alpha", "chat": "c1", "chat_name": "C", "depth": 0,
        "spawn_limit": 1, "client": "", "tools": None, "plan": False,
    }  # fmt: skip
    gates = Gates(read, write, projects, hooks, (own or {}).get)
    return Agent(**(values | changes), gates=gates)


@pytest.mark.parametrize(
    ("pattern", "word", "is_match"),
    [
        ("*", "anything", True),
        ("list_*", "list_chats", True),
        ("list_*", "list_", True),
        ("list_*", "read_chat", False),
        ("read_chat", "read_chat", True),
        ("read_cha", "read_chat", False),
        ("list_?", "list_x", False),
        ("[a]*", "a", False),
        ("re*d_chat", "read_chat", False),
        ("**", "x", False),
        ("*_chat", "read_chat", False),
        ("", "read_chat", False),
    ],
)
def test_a_pattern_is_a_word_a_prefix_or_everything(pattern: str, word: str, is_match: bool):
    assert matches([pattern], word) is is_match


def test_the_default_scope_reads_only():
    assert granted(client()) == READERS


def test_malformed_patterns_grant_nothing():
    assert granted(client(allow=("list_?", "[a]*", "re*d_chat"))) == []
    assert granted(client(allow=())) == []


def test_everything_allowed_is_the_catalogue_and_no_more():
    assert granted(client(allow=("*",))) == list(CATALOGUE)


def test_deny_beats_allow_on_both_dimensions():
    scope = Scope(projects=("*",), allow=("*",), deny=("list_*",), deny_projects=("secret*",))

    assert not scope.permits("list_chats")
    assert scope.permits("read_chat")
    assert scope.reaches("alpha")
    assert not scope.reaches("secret-1")


def test_batch_forks_need_forks():
    assert granted(client(allow=("fork_chat_batch",))) == []
    assert granted(client(allow=("fork_chat_batch", "fork_chat"))) == [
        "fork_chat", "fork_chat_batch",
    ]  # fmt: skip


NAMES = st.sampled_from(["*", "list_*", "read_chat", "create_*", "fork_chat_batch", "a*b", "?"])
LISTS = st.lists(NAMES, max_size=3).map(tuple)


@given(allow=LISTS, deny=LISTS)
def test_what_is_denied_is_never_granted(allow: tuple[str, ...], deny: tuple[str, ...]):
    for name in granted(client(allow=allow, deny=deny)):
        assert matches(allow, name)
        assert not matches(deny, name)


def test_a_project_out_of_scope_is_refused_whether_or_not_it_exists():
    scoped = client(projects=("alpha",), allow=("*",))
    operation = REGISTRY.get("read_chat")
    assert operation is not None

    scoped.check(operation, {"project": "alpha"})
    scoped.check(operation, {})
    for slug in ("beta", "nope"):
        with pytest.raises(Denied) as caught:
            scoped.check(operation, {"project": slug})
        assert caught.value.text == (
            f"not permitted: operation read_chat is outside this client's scope (project {slug})"
        )
    with pytest.raises(Denied):
        scoped.check_project("create_project", "beta")
    assert [slug for slug in ("alpha", "beta") if scoped.reaches(slug)] == ["alpha"]


def test_an_operation_out_of_scope_is_refused_in_the_layer_too():
    with pytest.raises(Denied) as caught:
        REGISTRY.run("create_chat", client(), project="alpha")

    assert caught.value.text == (
        "not permitted: operation create_chat is outside this client's scope"
    )


@pytest.mark.parametrize("principal", [User(), System()])
def test_people_and_the_service_may_do_everything(principal: Any):
    assert granted(principal) == list(CATALOGUE)
    assert principal.reaches("any")
    assert REGISTRY.run("run_trigger", principal, project="any") == {"project": "any"}
    assert (principal.spawn_cap, principal.client, dict(principal.defaults)) == (None, "", {})


@pytest.mark.parametrize(
    ("switches", "expected"),
    [
        ({"read": False}, set()),
        ({"write": False}, {"list_projects", "list_chats", "read_chat"}),
        ({"projects": False}, set(CATALOGUE) - {"create_project"}),
        ({"hooks": False}, {name for name in CATALOGUE if CATALOGUE[name][0] != "trigger"}),
        ({"write": False, "hooks": True}, {"list_projects", "list_chats", "read_chat"}),
        ({"hooks": False, "own": {"alpha": True}}, set(CATALOGUE)),
        (
            {"hooks": True, "own": {"alpha": False}},
            {name for name in CATALOGUE if CATALOGUE[name][0] != "trigger"},
        ),
        ({"spawn_limit": 0}, set(CATALOGUE) - set(SPAWNING)),
        ({"plan": True}, set(READERS)),
        ({"tools": ()}, set()),
        ({"tools": ("Read", "mcp__svc_manage__read_chat")}, {"read_chat"}),
        ({"tools": ("mcp__svc_manage__list_*",)}, {n for n in READERS if n != "read_chat"}),
        ({"tools": ("mcp__svc_manage__*",)}, set(CATALOGUE)),
        ({"tools": ("mcp__svc_manage",)}, set(CATALOGUE)),
        ({"tools": ("mcp__other__*",)}, set()),
    ],
)
def test_a_turn_sees_what_its_gates_leave(switches: dict[str, Any], expected: set[str]):
    if "tools" in switches and "fork_chat_batch" in expected:
        expected = set(CATALOGUE)

    assert set(granted(agent(**switches))) == expected


def test_a_turn_may_not_touch_the_triggers_of_a_project_that_shut_them_out():
    caller = agent(own={"beta": False})

    assert REGISTRY.run("list_triggers", caller, project="alpha")
    with pytest.raises(Denied) as caught:
        REGISTRY.run("list_triggers", caller, project="beta")
    assert "(project beta)" in caught.value.text


def test_an_open_project_opens_only_itself():
    caller = agent(hooks=False, own={"alpha": True})

    assert REGISTRY.run("list_triggers", caller, project="alpha")
    with pytest.raises(Denied):
        REGISTRY.run("list_triggers", caller, project="beta")


def test_a_turn_passes_on_one_level_less_than_it_has():
    assert [agent(spawn_limit=limit).spawn_cap for limit in (0, 1, 3)] == [0, 0, 2]
    assert client(max_spawn_depth=2).spawn_cap == 2


def test_a_turn_of_a_client_may_do_what_its_gates_and_the_scope_both_allow():
    narrow = Scope(("alpha",), ("read_chat", "archive_chat", "list_chats", "set_trigger"))
    caller = agent(hooks=False, bounds=Bounds({"ci": narrow}))

    assert granted(caller) == ["list_chats", "read_chat", "archive_chat"]
    assert REGISTRY.run("read_chat", caller, project="alpha")
    assert REGISTRY.run("list_chats", caller) == {}  # the list itself is filtered
    for name, slug, where in (
        ("read_chat", "beta", " (project beta)"),
        ("create_chat", "alpha", ""),
    ):
        with pytest.raises(Denied) as caught:
            REGISTRY.run(name, caller, project=slug)
        assert caught.value.text == (
            f"not permitted: operation {name} is outside this client's scope{where}"
        )
    assert [caller.reaches(slug) for slug in ("alpha", "beta")] == [True, False]


def test_bounds_leave_the_least_of_every_scope():
    wide = Scope(allow=("*",), permission_mode="bypassPermissions")
    two = Bounds({"a": wide, "b": Scope(max_spawn_depth=2, permission_mode="default")})

    assert (Bounds().depth(7), Bounds({"a": wide}).depth(7), two.depth(7), two.depth(1)) == (
        7, 7, 2, 1,
    )  # fmt: skip
    assert (Bounds().mode, Bounds({"a": wide}).mode, two.mode) == (
        None, "bypassPermissions", "default",
    )  # fmt: skip
    assert (two.permits("read_chat"), two.permits("create_chat")) == (True, False)


def test_each_caller_is_named_in_records_as_the_contract_says():
    caller = agent(client="ci")

    assert User(username="ann").actor() == {"kind": "user", "id": "ann"}
    assert System().actor() == {"kind": "system"}
    assert client().sender() == {"kind": "client", "id": "ci"}
    assert caller.actor() == {"kind": "chat", "id": "c1"}
    assert caller.sender() == {
        "kind": "chat", "project": "alpha", "sessionId": "c1", "name": "C",
    }  # fmt: skip
    assert caller.defaults == {"project": "alpha", "session_id": "c1"}
    assert (caller.client, client().client) == ("ci", "ci")


def test_a_list_without_the_server_offers_none_of_its_tools():
    assert is_listed(None, "mcp__svc_manage__x")
    assert not is_listed(("mcp__svc_manag*e__x",), "mcp__svc_manage__x")
    assert not is_listed(("mcp__svc",), "mcp__svc_manage__x")
