"""What is sent of an app, a listener, a group and the settings, to the letter."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import orjson
import pytest

from dashboard.files import entries
from dashboard.files.layout import CONFIG, DashboardFile
from dashboard.health.record import LastKnown, Reason, Record, State, born
from dashboard.health.result import Kind, Result
from dashboard.history.summary import Summary
from dashboard.listeners.records import observed_record
from dashboard.registry import records
from dashboard.registry.app import App
from tests.dashboard.registry.world import NOW, SHOP, entry, files, listener, look, shop

EMPTY = Summary([], "-" * 48, {"24h": None, "7d": None, "90d": None})
APP = {
    "slug", "name", "source", "config", "state", "reason", "message", "since", "lastKnown", "stale",
    "failing", "flapping", "unexpected", "url", "urls", "port", "expected", "tags", "last",
    "recent", "bar24", "uptime", "identity", "service", "thumbKind", "thumbEtag", "fileErrors",
    "observedId", "etag",
}  # fmt: skip
DRAWN = {"description", "icon", "color", "group", "order", "links", "docs", "listens"}
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def record(state: State, reason: Reason, app: App, **more: Any) -> Record:
    return replace(born(NOW, app.policy), state=state, reason=reason, **more)


def told(
    app: App,
    state: State = State.UP,
    reason: Reason = Reason.OK,
    *,
    result: Result | None = None,
    later: float = 0,
    config: str = "",
    with_config: Any = None,
    **more: Any,
) -> Any:
    """The App as it is sent, `later` seconds after its last evidence."""
    return records.app(
        app,
        record=record(state, reason, app, **more),
        result=result,
        summary=EMPTY,
        service=None,
        picture=("card", '"x"'),
        now=NOW._replace(mono=NOW.mono + later),
        config=files(config=config).config.parsed,
        with_config=with_config,
    )


@pytest.mark.parametrize(
    "app",
    [
        pytest.param(lambda: shop("port: 3000\n", listener(3000)), id="declared"),
        pytest.param(lambda: shop("port: [\n"), id="never valid"),
        pytest.param(lambda: shop("name: x\n"), id="nowhere"),
        pytest.param(lambda: look({}, listener(3000)).apps["shop"], id="discovered"),
    ],
)
def test_every_documented_key_is_always_there(app: Any):
    sent = told(app())

    assert set(sent) == APP | DRAWN
    assert orjson.loads(orjson.dumps(sent)) == sent


def test_an_app_says_where_it_is_and_who_it_is():
    one = listener(3000)

    sent = told(shop("name: Shop\nport: 3000\nexpected: always\ntags: [web]\n", one))

    assert (sent["slug"], sent["name"], sent["source"]) == ("shop", "Shop", "declared")
    assert (sent["url"], sent["port"]) == ("http://localhost:3000/", 3000)
    assert (sent["expected"], sent["tags"]) == ("always", ["web"])
    assert (sent["observedId"], sent["identity"]["cwd"]) == (one.id, SHOP)
    assert (sent["thumbKind"], sent["thumbEtag"]) == ("card", '"x"')


def test_an_app_tells_all_that_its_service_listens_on_and_who_reaches_any_of_it():
    text = f"port: 3000\nservice: {{command: x, cwd: {SHOP}}}\n"
    home, open_ = listener(3000), listener(3001, ips=("0.0.0.0",))
    told_: dict[str, Any] = {
        "addresses": [{"ip": "127.0.0.1", "port": 3000}, {"ip": "0.0.0.0", "port": 3001}],
        "scope": "all",
        "lanExposed": True,
    }

    assert told(shop(text, home, open_, pids={7}))["listens"] == told_
    elsewhere = told(shop(text, open_, pids={7}))
    assert elsewhere["port"] == 3000
    assert elsewhere["listens"]["addresses"] == told_["addresses"][1:]
    assert told(shop(text, replace(home, present=False)))["listens"] is None


def test_a_file_that_never_was_valid_is_told_with_its_mistake():
    app = shop("name: x\nport: [\n")

    sent = told(app, State.UNKNOWN, Reason.INVALID_FILE, with_config="whole")

    assert (sent["config"], sent["state"], sent["name"]) == (None, "unknown", "shop")
    assert sent["message"].startswith("apps/shop.yaml, line ")
    assert [error["level"] for error in sent["fileErrors"]] == ["error"]
    assert sent["etag"] is not None


def test_times_are_rfc_3339_with_milliseconds():
    result = Result(began=0, at=NOW.wall, kind=Kind.OK, status=200, ms=1.5, addr="127.0.0.1")

    sent = told(
        shop("port: 1\n"), result=result, last_known=LastKnown(State.DOWN, NOW.wall - 0.5)
    )  # fmt: skip

    assert sent["since"] == "2026-11-20T12:00:00.000Z"
    assert sent["lastKnown"] == {"state": "down", "at": "2026-11-20T11:59:59.500Z"}
    assert TIME.fullmatch(sent["last"]["at"])
    assert sent["last"]["ms"] == 1.5


def test_three_intervals_without_a_result_are_stale():
    app = shop("port: 1\nhealth: {interval: 10s}\n")

    assert [told(app, later=later)["stale"] for later in (30, 30.1)] == [False, True]


@pytest.mark.parametrize(
    ("expected", "state", "unexpected"),
    [("never", State.UP, True), ("never", State.DEGRADED, True), ("never", State.STARTING, True),
     ("never", State.STOPPED, False), ("sometimes", State.UP, False)],
)  # fmt: skip
def test_what_should_never_run_and_runs_is_unexpected(
    expected: str, state: State, unexpected: bool
):
    app = shop(f"port: 3000\nexpected: {expected}\n")

    assert told(app, state)["unexpected"] is unexpected


def test_what_should_never_run_is_unexpected_also_when_it_listens_in_silence():
    app = shop("port: 3000\nexpected: never\n", listener(3000))

    assert told(app, State.DOWN, Reason.TIMEOUT)["unexpected"]
    assert not told(app, State.UNKNOWN, Reason.PAUSED)["unexpected"]


def test_with_a_domain_apps_have_a_fronted_address():
    app = shop("port: 1\n")

    assert told(app)["urls"] == {"local": "http://localhost:1/", "fronted": None}
    fronted = told(app, config="fronted: {domain: example.dev, scheme: http}\n")["urls"]["fronted"]
    assert fronted == "http://shop.example.dev/"


# -- messages -------------------------------------------------------------------------------------

MATCHED = "port: 3000\nmatch: {cwd: /src/shop}\n"


def test_an_app_that_has_moved_says_so_while_it_is_up():
    app = shop(MATCHED, listener(3001))

    assert told(app)["message"] == "moved from 3000 to 3001"
    slow = told(app, State.DEGRADED, Reason.SLOW, message="answers in 4.0 s")
    assert slow["message"] == "answers in 4.0 s"


def test_the_holder_of_its_port_is_named():
    stranger = listener(3000, "/src/other", exe="ruby", pid=4711)

    sent = told(shop(MATCHED, stranger), State.DOWN, Reason.WRONG_PROCESS, message="x")

    assert sent["message"] == "port 3000 is held by ruby (pid 4711, /src/other)"


def test_why_an_app_cannot_be_asked_is_its_message():
    app = shop("health: {type: http}\n")

    assert told(app, State.UNKNOWN, Reason.NO_PROBE)["message"] == (
        "cannot be asked: it has neither port nor url"
    )


@pytest.mark.parametrize(
    ("state", "reason", "said", "message"),
    [
        (State.UP, Reason.OK, "", ""),
        (State.UP, Reason.OK, "answers 404", "answers 404"),
        (State.UNKNOWN, Reason.PAUSED, "paused", "paused in its file"),
        (State.STOPPED, Reason.NOT_RUNNING, "connection refused", "not running"),
        (State.STOPPED, Reason.USER, "", "stopped by you"),
        (State.STOPPING, Reason.USER, "", "being stopped"),
        (State.STARTING, Reason.SPAWNED, "", "started; no answer yet"),
    ],
)
def test_a_state_without_words_of_its_own_has_some_for_people(
    state: State, reason: Reason, said: str, message: str
):
    assert told(shop("port: 1\n"), state, reason, message=said)["message"] == message


# -- secrets --------------------------------------------------------------------------------------

SECRET = (
    "name: http://bob:hunter2@x/\nurl: http://bob:hunter2@localhost:3000/\nport: 3000\n"
    "docs: http://bob:hunter2@x/\nlinks: [{name: a, url: 'http://bob:hunter2@x/'}]\n"
    "service: {command: [x, --token, hunter2], env: {API_KEY: hunter2, PORT: '1'}}\n"
)


@pytest.mark.parametrize("with_config", ["masked", None])
def test_no_secret_of_file_or_process_is_told(with_config: str | None):
    one = listener(3000, argv=("node", "--token", "hunter2", "http://bob:hunter2@x/"))

    sent = told(shop(SECRET, one), with_config=with_config)

    assert "hunter2" not in str(sent)
    assert sent["url"] == "http://***@localhost:3000/"


def test_the_file_whole_is_the_users_own():
    sent = told(shop(SECRET), with_config="whole")

    assert sent["config"]["service"]["env"] == {"API_KEY": "hunter2", "PORT": "1"}


def test_lists_are_without_config_and_a_discovered_app_has_none():
    assert told(shop("port: 1\n"))["config"] is None
    assert told(shop("port: 1\nx-mine: 2\n"), with_config="masked")["config"] == {
        "port": 1, "x-mine": 2
    }  # fmt: skip
    assert told(look({}, listener()).apps["shop"], with_config="whole")["config"] is None


# -- the others -----------------------------------------------------------------------------------


def test_a_listener_has_every_documented_key():
    one = listener(5173, ips=("0.0.0.0", "::"), argv=("node", "--token", "hunter2"))

    sent: Any = observed_record(one, "shop-2", True)

    assert sent.pop("identity")["process"]["argv"] == ["node", "--token", "***"]
    assert sent == {
        "id": one.id,
        "addresses": [{"ip": "0.0.0.0", "port": 5173}, {"ip": "::", "port": 5173}],
        "port": 5173,
        "scope": "all",
        "protocol": "http",
        "firstSeen": "2026-11-20T12:00:00.000Z",
        "lastSeen": "2026-11-20T12:00:00.000Z",
        "suggested": {"slug": "shop-2", "name": "shop", "expected": "sometimes"},
        "kind": "dev",
        "hidden": True,
        "lanExposed": True,
    }
    assert observed_record(listener(speaks=None), "a", False)["protocol"] == "unknown"


def test_a_group_has_every_documented_key():
    text = "links: [{url: 'https://u:p@docs.example/', tags: [a]}, {url: 'ssh://host', hotkey: h}]"

    sent: Any = records.group(entries.entry(DashboardFile("bookmarks", "docs"), text.encode()))

    assert sent == {
        "group": "docs", "name": "docs", "config": None, "description": None, "icon": None,
        "color": None, "order": None, "collapsed": False,
        "links": [
            {"name": "docs.example", "url": "https://***@docs.example/", "description": None,
             "icon": None, "tags": ["a"], "hotkey": None},
            {"name": "host", "url": "ssh://host", "description": None, "icon": None, "tags": [],
             "hotkey": "h"},
        ],
        "etag": sent["etag"], "fileErrors": [],
    }  # fmt: skip
    assert re.fullmatch(r'"[0-9a-f]{32}"', sent["etag"])


def test_a_group_that_never_was_valid_is_listed_empty():
    sent = records.group(entries.entry(DashboardFile("bookmarks", "docs"), b"links: [\n"))

    assert (sent["name"], sent["links"], len(sent["fileErrors"])) == ("docs", [], 1)


def test_the_settings_are_told_resolved_and_as_written():
    sent = records.config(entries.entry(CONFIG, b"title: Mine\nx-a: http://u:p@h/\n"), ["port"])

    assert set(sent) == {"config", "source", "defaults", "restartNeeded", "path", "etag"}
    assert sent["source"] == {"title": "Mine", "x-a": "http://***@h/"}
    assert (sent["config"]["title"], sent["config"]["port"]) == ("Mine", 4255)
    assert (sent["defaults"]["title"], sent["restartNeeded"]) == ("Apps", ["port"])
    assert sent["path"].endswith("/dashboard/config.yaml")


def test_without_a_file_the_settings_are_the_defaults():
    sent = records.config(entries.entry(CONFIG, None))

    assert (sent["source"], sent["etag"], sent["restartNeeded"]) == ({}, '"absent"', [])
    assert sent["config"] == sent["defaults"]


def test_the_fronted_host_that_is_answered_is_told_beside_the_one_that_is_written():
    written = entries.entry(CONFIG, b"fronted: {host: here.example, domain: here.example}\n")
    sent = records.config(written, host="there.example")

    assert sent["config"]["fronted"] == {
        "host": "there.example", "scheme": "https", "domain": "here.example",
    }  # fmt: skip
    assert sent["source"]["fronted"]["host"] == "here.example"


def test_apps_are_counted_by_state_and_paused_ones_are_not():
    shops = [shop("port: 1\n"), shop("port: 1\npaused: true\n"), shop("port: [\n")]

    counts = records.counts(zip(shops, (State.UP, State.UNKNOWN, State.UNKNOWN), strict=True))

    assert counts == {
        "unknown": 1, "starting": 0, "up": 1, "degraded": 0, "down": 0, "stopped": 0, "stopping": 0,
    }  # fmt: skip


def test_an_entry_is_never_changed_by_what_is_made_of_it():
    one = entry("shop", SECRET)
    before = orjson.dumps(one.value)

    told(look({"shop": one}).apps["shop"], with_config="masked")

    assert orjson.dumps(one.value) == before


@pytest.mark.parametrize("state", [State.DOWN, State.DEGRADED])
def test_what_nobody_claimed_is_no_alarm_whatever_it_answers(state):
    claimed, found = shop("port: 3000\n", listener(3000)), look({}, listener(3000)).apps["shop"]

    assert records.needs_attention(claimed, record(state, Reason.SERVER_ERROR, claimed))
    assert not records.needs_attention(found, record(state, Reason.SERVER_ERROR, found))
