"""Which network a turn gets: of instance, project and trigger the narrower one wins."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from config import network as setting
from config.errors import Invalid
from config.network import NetworkSetting
from workspace.access import reach
from workspace.engines import network as engine
from workspace.engines.network import Network
from workspace.projects import store

PORTS = {"main": 8180, "review": 8181, "dashboard": 8182, "tls": 8183}
OWN = tuple(PORTS.values())
ONLY = "; only an instance with `engines.network: host` lets a project or trigger have it"


@pytest.fixture(autouse=True)
def folder(db, settings, tmp_path: Path) -> Path:
    """A server runs on PORTS, with the project alpha."""
    settings.DATA_DIR = tmp_path
    settings.PROJECTS_DIR = tmp_path / "projects"
    for made in ("projects/alpha", "state"):
        (tmp_path / made).mkdir(parents=True)
    (tmp_path / "state/server.json").write_text(json.dumps({"pid": 1, "ports": PORTS}))
    return tmp_path / "projects"


@pytest.fixture
def instance(settings):
    """Set `engines.network` of the instance."""

    def put(value: object) -> None:
        settings.SVC = dataclasses.replace(settings.SVC, network=setting.read(value))

    return put


def project(folder: Path, network: str):
    (folder / "alpha/project.yaml").write_text(f"name: Alpha\nnetwork: {network}\n")
    return store.get("alpha")


def of(folder: Path, network: str, asked: str = "") -> Network:
    return reach.network(project(folder, network).network, asked)


def test_without_a_word_a_turn_is_guarded_and_opens_nothing(folder):
    assert of(folder, "") == Network("guarded", own=OWN)


def test_both_readers_of_the_word_know_the_same_modes():
    assert setting.MODES == engine.MODES


@pytest.mark.parametrize("outer", ["off", "guarded", "host"])
@pytest.mark.parametrize("middle", ["", "off", "guarded", "host"])
@pytest.mark.parametrize("inner", ["", "off", "guarded", "host"])
def test_an_inner_level_narrows_and_never_widens(folder, instance, outer, middle, inner):
    instance(outer)
    words = [word for word in (outer, middle, inner) if word]

    assert of(folder, middle, inner).mode == min(words, key=setting.MODES.index)


def test_only_an_instance_that_says_host_lets_anything_have_it(folder, instance):
    assert of(folder, "host", "host").mode == "guarded"
    instance("host")
    assert of(folder, "").mode == "host"


def test_ports_and_denied_hosts_add_up_and_each_allow_list_has_to_match(folder, instance):
    instance({"hostPorts": [5432, 3000], "allow": ["*.org"], "deny": ["a.org", "b.org"]})

    found = of(folder, "{mode: off, hostPorts: [6379, 3000], allow: [], deny: [b.org, c.org]}")

    assert found == Network(
        "off", (3000, 5432, 6379), (("*.org",), ()), ("a.org", "b.org", "c.org"), OWN
    )


def test_the_services_own_ports_are_told_to_every_turn_and_never_opened(folder, instance):
    instance({"hostPorts": [8181, 5432]})

    found = of(folder, "{hostPorts: [8180, 8183, 3000]}")

    assert (found.ports, found.own) == ((3000, 5432), OWN)
    assert store.get("alpha").warnings == [
        f"network: hostPorts: {port} is this service's own port ({name}), which nothing opens: "
        "not used"
        for port, name in ((8180, "main"), (8183, "tls"))
    ]
    assert reach.of_instance() == [
        "engines.network: hostPorts: 8181 is this service's own port (review), which nothing "
        "opens: not used"
    ]


def test_a_port_that_was_given_up_belongs_to_whoever_holds_it(folder, settings):
    path = settings.DATA_DIR / "state/server.json"
    path.write_text(json.dumps({"ports": {"main": 8180}}))

    assert of(folder, "{hostPorts: [8181]}").ports == (8181,)


def test_without_a_server_the_ports_it_would_open_are_its_own(folder, settings):
    (settings.DATA_DIR / "state/server.json").unlink()
    settings.SVC = dataclasses.replace(
        settings.SVC, port=8190, review_port=8191, dashboard_port=None, environ={
            "SVC_DASHBOARD_PORT": "off"
        },
    )  # fmt: skip

    assert of(folder, "{hostPorts: [8190, 8191, 3000]}").ports == (3000,)


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("false", 'false is not one of off, guarded, host; "off" is the word for no network'),
        ("no", '"no" is not one of off, guarded, host; "off" is the word for no network'),
        ("{allow: ['https://a.org']}", 'allow: "https://a.org" has a scheme: give the host alone'),
    ],
)
def test_a_mistake_in_a_project_leaves_its_turns_without_a_network(folder, written, reason):
    found = project(folder, written)

    assert reach.network(found.network).mode == "off"
    assert found.effective("network") == "off"
    assert found.warnings == [
        f"network: {reason}; until it is mended no turn here has a network (off)"
    ]


def test_a_project_that_asks_for_more_is_told_what_would_let_it(folder, instance):
    assert project(folder, "host").warnings == [
        f'network: "host" is wider than the instance\'s "guarded"{ONLY}: not used'
    ]
    instance("off")
    assert project(folder, "guarded").warnings == [
        'network: "guarded" is wider than the instance\'s "off": not used'
    ]
    instance("host")
    assert project(folder, "host").warnings == []


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("host", f'"host" is wider than the instance\'s "guarded"{ONLY}'),
        (False, 'false is not one of off, guarded, host; "off" is the word for no network'),
        (
            {"hostPorts": [8182]},
            "hostPorts: 8182 is this service's own port (dashboard), which nothing opens",
        ),
        ({"deny": ["a.org:1"]}, 'deny: "a.org:1" has a port or brackets'),
    ],
)
def test_what_would_have_no_effect_is_not_written(folder, value, reason):
    before = project(folder, "guarded").etag

    with pytest.raises(Invalid, match="network") as error:
        store.update("alpha", {"network": value})

    assert reason in error.value.text
    assert store.get("alpha").etag == before


def test_what_is_written_reads_back_the_same_also_the_word_off(folder):
    project(folder, "")
    for value in ("off", {"hostPorts": [5432], "allow": ["*.github.com", "10.0.0.0/8"]}):
        store.update("alpha", {"network": value})
        assert store.get("alpha").effective("network") == value
        assert store.get("alpha").warnings == []

    store.update("alpha", {"network": None})

    assert store.get("alpha").network == NetworkSetting()
    assert "network" in store.get("alpha").inherited
