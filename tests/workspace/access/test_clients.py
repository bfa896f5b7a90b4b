"""The managementApi block: what enables it, what it says, what it never says."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.workspace.access.world import OTHER, REGISTRY, TOKEN, URL, block, client, load, said
from workspace.access import clients
from workspace.access.policy import Scope

C = "managementApi.clients.ci"
UNBOUND = "has no svc_<instanceId>_ prefix, it is not bound to this instance"
UNCHECKED = 'names instance "home" but managementApi.instanceId is unset, binding not checked'


def test_nothing_configured_is_disabled_and_says_nothing_else():
    found = load({})

    assert not found.enabled
    assert said(found) == []


def test_a_client_with_its_token_enables_it():
    found = load(block())

    assert found.enabled
    assert [client.client_id for client in found.clients] == ["ci"]
    assert found.clients[0].scope == Scope(("*",), ("list_*", "read_chat"))
    assert said(found) == []


def test_the_boot_lines_name_clients_and_instance(caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.INFO)

    clients.log_boot(load(block()), REGISTRY)
    clients.log_boot(load({}), REGISTRY)

    assert [record.getMessage() for record in caplog.records] == [
        "management API: /mcp enabled, clients: ci; instanceId: home",
        "management API: /mcp disabled (no clients configured), it answers 404",
    ]
    assert caplog.records[0].clients == ["ci"]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        (None, "missing although clients are configured, e.g. https://svc.example.com"),
        ("  ", "missing although clients are configured, e.g. https://svc.example.com"),
        ("http://h.example", '"http://h.example" must be https unless its host is loopback'),
        ("svc.example.com", '"svc.example.com" is not an absolute http(s) URL'),
        ("ftp://h", '"ftp://h" is not an absolute http(s) URL'),
        ("https://", '"https://" is not an absolute http(s) URL'),
        ("https://h:x", '"https://h:x" is not an absolute http(s) URL'),
        ("https://h/?a=1", "must not carry a query string, a fragment or user information"),
        ("https://h/#a", "must not carry a query string, a fragment or user information"),
        ("https://u:p@h/", "must not carry a query string, a fragment or user information"),
        ('https://h/a"b', '"https://h/a"b" is not an absolute http(s) URL'),
        ("https://h\\x", '"https://h\\x" is not an absolute http(s) URL'),
        ("https://h/a\nX: y", '"https://h/a\nX: y" is not an absolute http(s) URL'),
    ],
)  # fmt: skip
def test_a_bad_public_url_disables_everything(url: str | None, reason: str):
    found = load(block(publicUrl=url))

    assert not found.enabled
    assert said(found) == [f"managementApi.publicUrl: {reason}; management API disabled"]


@pytest.mark.parametrize(
    "url", ["http://localhost:8000", "http://127.0.0.1", "http://[::1]:8000", "https://h/base/"]
)
def test_a_loopback_or_https_public_url_is_taken_without_its_slash(url: str):
    found = load(block(publicUrl=url))

    assert found.enabled
    assert found.public_url == url.rstrip("/")


@pytest.mark.parametrize("clients", [None, {"ci": client()}])
def test_a_public_url_that_cannot_be_one_is_shown_nowhere(clients: Any):
    assert load(block(publicUrl="https://u:hush@h", clients=clients)).public_url == ""


def test_an_instance_called_0_binds_its_tokens_too():
    found = load(block(instanceId=0))

    assert found.instance_id == "0"
    assert any('names instance "home" but this is "0"' in line for line in said(found))


def test_a_token_written_back_to_front_does_not_show_its_secret():
    secret = "0123456789abcdef" * 3
    found = load(block(), {"CI": f"svc_{secret}_home"})

    assert any("names instance" in line for line in said(found))
    assert secret not in " ".join(said(found))


@pytest.mark.parametrize("key", ["authorizationServers", "trustedProxies"])
@pytest.mark.parametrize("given", [{"secret": "hush"}, [{"token": "hush"}], [["hush"]]])
def test_nothing_of_a_list_that_is_none_is_repeated(key: str, given: Any):
    assert "hush" not in " ".join(said(load(block(**{key: given}))))


def test_one_unreadable_entry_drops_only_itself():
    found = load(block(trustedProxies=["10.0.0.1", 1.5, True]))

    assert found.trust.believes("10.0.0.1")
    assert [line.split(" is ")[0] for line in said(found)] == [
        'managementApi.trustedProxies: "1.5"',
        'managementApi.trustedProxies: "True"',
    ]


def test_unknown_keys_of_auth_are_named():
    found = load(block(clients={"ci": {"auth": {"ref": "env:CI", "typ": "oauth"}}}))

    assert said(found) == [
        f'config: unknown key "{C}.auth.typ" ignored (did you mean "{C}.auth.type"?)'
    ]


@pytest.mark.parametrize("odd", [True, 7])  # an unquoted 007 reaches us as 7
@pytest.mark.parametrize("field", ["deny", "denyProjects"])
def test_a_refusal_list_with_a_word_that_is_none_refuses_everything(field: str, odd: Any):
    mixed: dict[str, Any] = {field: ["alpha", odd]}
    found = load(block(clients={"ci": client(**mixed)}))
    scope = found.clients[0].scope

    assert said(found) == [
        f"{C}.scope.{field}: not usable, it denies everything; write a list of names"
    ]
    assert not (scope.permits("list_chats") and scope.reaches("beta"))


def test_a_bad_public_url_without_clients_is_nobodys_business():
    assert said(load({"publicUrl": "nonsense"})) == []


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ("text", f"{C}: not a mapping; client skipped"),
        (
            {"auth": {"type": "token", "token": TOKEN}},
            f"{C}: token material in the config file is refused; put it in an environment variable"
            " and write ref: env:NAME; client skipped",
        ),
        (
            {"auth": {"type": "oauth", "ref": "env:CI"}},
            f'{C}.auth.type: "oauth" is not supported, only "token"; client skipped',
        ),
        ({}, f"{C}.auth.ref: missing, write env:NAME; client skipped"),
        ({"auth": {"ref": TOKEN}}, f"{C}.auth.ref: must have the form env:NAME; client skipped"),
        ({"auth": {"ref": 5}}, f"{C}.auth.ref: must have the form env:NAME; client skipped"),
        (
            {"auth": {"ref": "env:GONE"}},
            f"{C}: environment variable GONE is unset or blank; client dropped",
        ),
        (
            {"auth": {"ref": "env:SHORT"}},
            f"{C}: the token in SHORT has fewer than 24 characters; client dropped",
        ),
    ],
)
def test_a_bad_client_is_left_out_and_the_others_work(entry: Any, text: str):
    environ = {"OPS": OTHER, "SHORT": "x" * 23}
    found = load(block(clients={"ci": entry, "ops": client("env:OPS")}), environ)

    assert [client.client_id for client in found.clients] == ["ops"]
    assert said(found) == [text]
    assert [dropped.client_id for dropped in found.dropped] == ["ci"]
    assert TOKEN not in repr(found)


def test_every_client_dropped_is_disabled_again():
    assert not load(block(), {"CI": "x" * 23}).enabled
    assert load(block(instanceId=None), {"CI": "x" * 24}).enabled


@pytest.mark.parametrize("key", ["token", "secret", "Token"])
def test_token_material_deep_in_a_client_skips_it_and_elsewhere_disables_all(key: str):
    deep = client() | {"scope": {"projects": ["*"], "extra": [{key: TOKEN}]}}
    one = load(block(clients={"ci": deep, "ops": client("env:OPS")}))
    whole = load(block(**{key: TOKEN}))

    assert [client.client_id for client in one.clients] == ["ops"]
    assert not whole.enabled
    assert said(whole)[-1] == (
        f"managementApi.{key}: token material in the config file is refused;"
        " management API disabled"
    )
    assert TOKEN not in "".join(said(one) + said(whole))


def test_the_second_client_with_the_same_token_is_dropped():
    found = load(block(clients={"ci": client(), "twin": client()}))

    assert [client.client_id for client in found.clients] == ["ci"]
    assert said(found) == ["managementApi.clients.twin: same token as client ci; client dropped"]


@pytest.mark.parametrize(
    ("token", "instance", "text"),
    [
        ("x" * 30, "home", UNBOUND),
        ("svc_" + "x" * 30, None, UNBOUND),
        (TOKEN, "away", 'names instance "home" but this is "away"; it will be refused'),
        (TOKEN, None, UNCHECKED),
    ],
)  # fmt: skip
def test_start_up_says_how_a_token_is_bound(token: str, instance: str | None, text: str):
    found = load(block(instanceId=instance), {"CI": token})

    assert found.enabled
    assert said(found) == [f"{C}: the token in CI {text}"]


def test_an_instance_id_may_hold_underscores():
    assert said(load(block(instanceId="a_b"), {"CI": "svc_a_b_" + "0" * 24})) == []


@pytest.mark.parametrize("instance", [True, ["a"], {"a": 1}, 1.5])
def test_an_instance_id_that_is_no_text_never_switches_binding_off(instance: Any):
    found = load(block(instanceId=instance))

    assert not found.enabled
    assert said(found) == ["managementApi.instanceId: must be text; management API disabled"]


def test_unusable_scope_fields_grant_nothing():
    scope = {
        "allow": {"a": 1}, "deny": 5, "projects": [["*"]], "maxSpawnDepth": -1,
        "permissionMode": ["bypassPermissions"],
    }  # fmt: skip
    found = load(block(clients={"ci": client() | {"scope": scope}}))

    assert found.clients[0].scope == Scope((), (), ("*",), (), 0, "plan")
    assert said(found) == [
        f"{C}.scope.{text}"
        for text in (
            "projects: not usable, it grants nothing; write a list of names",
            "allow: not usable, it grants nothing; write a list of names",
            "deny: not usable, it denies everything; write a list of names",
            "maxSpawnDepth: not usable, it counts as 0; write a whole number of 0 or more",
            "permissionMode: not usable, it counts as plan; write one of default, acceptEdits, "
            "bypassPermissions, plan",
        )
    ]
    assert load(block(clients={"ci": client() | {"scope": "all"}})).clients[0].scope.allow == ()


def test_the_highest_permission_mode_is_accept_edits_unless_the_scope_says_otherwise():
    modes = {"absent": {}, "null": {"permissionMode": None}, "plan": {"permissionMode": "plan"}}
    found = {
        name: load(block(clients={"ci": client() | {"scope": scope}})).clients[0].scope
        for name, scope in modes.items()
    }

    assert {name: scope.permission_mode for name, scope in found.items()} == {
        "absent": "acceptEdits", "null": "acceptEdits", "plan": "plan",
    }  # fmt: skip


def test_scope_lists_may_be_text_and_empty_stays_empty():
    scope = load(block(clients={"ci": client(allow="list_*, read_chat\nx", projects=[])}))

    assert scope.clients[0].scope.allow == ("list_*", "read_chat", "x")
    assert scope.clients[0].scope.projects == ()


def test_code_execution_is_announced_by_name(caplog: pytest.LogCaptureFixture):
    found = load(block(clients={"ci": client(allow=["create_chat", "list_*", "fork_chat_batch"])}))

    clients.log_boot(found, REGISTRY)

    assert caplog.messages[0] == (
        f"{C}: scope grants code execution (create_chat); treat its token like a shell on this host"
    )


@pytest.mark.parametrize(
    ("allow", "named"),
    [(["create_chat", "restart_app"], "create_chat, restart_app"), (["create_*", "re*"], None)],
)
def test_what_acts_outside_of_the_sandbox_is_announced_where_the_scope_names_it(
    allow: list[str], named: str | None
):
    found = load(block(clients={"ci": client(allow=allow)}))

    [record] = clients.code_execution(found.clients, REGISTRY)

    assert ("restart_app" in record.text) == (named is not None)
    assert named is None or f"({named})" in record.text


def test_unknown_keys_are_named_with_the_nearest():
    found = load(block(publicURL=URL, clients={"ci": client() | {"scop": {}}}))

    assert said(found) == [
        'config: unknown key "managementApi.publicURL" ignored'
        ' (did you mean "managementApi.publicUrl"?)',
        f'config: unknown key "{C}.scop" ignored (did you mean "{C}.scope"?)',
    ]


def test_the_variable_wins_over_the_files_proxies():
    environ = {"CI": TOKEN, "SVC_MANAGEMENT_TRUSTED_PROXIES": "10.0.0.1"}
    found = load(block(trustedProxies="all"), environ)

    assert (found.trust.everyone, found.trust.entries) == (False, ("10.0.0.1",))


def test_proxies_that_cannot_be_read_are_dropped_and_named():
    found = load(block(trustedProxies=["nonsense", " 10.0.0.1 ", "all"]))

    assert said(found) == [
        'managementApi.trustedProxies: "nonsense" is neither an IP address, a CIDR nor a known'
        " word; entry dropped",
        "managementApi.trustedProxies: all peers are believed, any client can claim https;"
        " name your proxy instead",
    ]
    assert not load(block(trustedProxies={"a": 1})).trust.believes("127.0.0.1")


def test_issuers_must_be_https_or_loopback():
    found = load(block(authorizationServers="https://a.example, http://b.example, http://[::1]:9"))

    assert found.authorization_servers == ("https://a.example", "http://[::1]:9")
    assert said(found) == [
        'managementApi.authorizationServers: "http://b.example" is not an https URL; entry dropped'
    ]


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.just("env:CI"),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["clients", "auth", "ref", "type", "scope", "allow", "token", "publicUrl", "instanceId",
             "trustedProxies", "authorizationServers", "projects", "maxSpawnDepth"]
        ) | st.text(max_size=5) | st.integers(),
        inner,
        max_size=5,
    ),
    max_leaves=20,
)  # fmt: skip


@given(ANY)
def test_no_block_whatever_stops_the_start(found: Any):
    load(found)
    load(block(clients={"ci": found, "ops": client("env:OPS")}))
    load(block(clients=found))


def test_an_origin_that_is_none_is_dropped_and_named():
    given = ["https://app.example", "*", "app.example", "https://b.example/path", "null"]
    found = load(block(allowedOrigins=given))

    assert found.origins == {"https://app.example", URL}
    assert said(found) == [
        f'managementApi.allowedOrigins: "{entry}" is not an origin such as https://app.example.com;'
        " entry dropped"
        for entry in given[1:]
    ]
