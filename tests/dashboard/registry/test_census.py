"""Which apps there are, and what of the machine's listeners is none."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from dashboard.health.record import Port, Reason
from dashboard.listeners.kinds import Kind
from dashboard.listeners.observed import Sighting
from dashboard.registry.census import Census, census
from dashboard.registry.look import Files, same
from tests.dashboard.registry.world import entry, files, ids, listener, look, seen

BROKEN = "port: [\n"


def again(before: Census, now: Files | None = None, *sightings) -> Census:
    """A later census of the same machine, its listeners seen again 2 s later."""
    assert before.made is not None
    later = [replace(one, last_seen=one.last_seen + timedelta(seconds=2)) for one in sightings]
    return census(
        now or before.made.files,
        seen(*later),
        pids={},
        claimed=before.claimed,
        local_scan=True,
        before=before,
    )


# -- silenced -------------------------------------------------------------------------------------


def test_a_paused_app_is_listed_and_silenced():
    app = look({"shop": "port: 3000\npaused: true\n"}, listener(3000)).apps["shop"]

    assert (app.silenced, app.evidence) == (Reason.PAUSED, Port.OWN)


def test_a_file_that_never_was_valid_is_listed_and_silenced():
    app = look({"shop": BROKEN}).apps["shop"]

    assert (app.silenced, app.file, app.name) == (Reason.INVALID_FILE, None, "shop")
    assert (app.policy.probed, app.evidence, app.source) == (False, Port.UNSEEN, "declared")


def test_a_file_that_was_valid_before_goes_on_as_it_was():
    good = entry("shop", "name: Shop\nport: 3000\n")

    app = look({"shop": entry("shop", BROKEN, good)}, listener(3000)).apps["shop"]

    assert (app.silenced, app.name, app.port, app.evidence) == (None, "Shop", 3000, Port.OWN)


# -- discovered -----------------------------------------------------------------------------------


def test_a_dev_server_that_no_file_names_is_a_discovered_app():
    one = listener(5173)

    found = look({}, one)

    app = found.apps["shop"]
    assert (app.source, app.sighting, app.port, app.entry) == ("discovered", one, 5173, None)
    assert (app.evidence, app.policy.always, app.policy.probed) == (Port.OWN, False, True)
    assert (app.url, app.target.port) == ("http://localhost:5173/", 5173)
    assert found.observed == (one,)


@pytest.mark.parametrize("kind", ["database", "system", "other"])
def test_other_kinds_are_only_observed(kind: Kind):
    assert look({}, listener(5173, kind=kind)).apps == {}


@pytest.mark.parametrize("speaks", [None, "tcp", "unknown"])
def test_what_was_not_heard_to_speak_http_is_only_observed(speaks: str | None):
    assert look({}, listener(5173, speaks=speaks)).apps == {}


def test_one_that_speaks_https_is_asked_and_opened_so():
    app = look({}, listener(5173, speaks="https")).apps["shop"]

    assert (app.url, app.target.scheme) == ("https://localhost:5173/", "https")


def test_one_that_is_bound_to_an_address_is_asked_there():
    app = look({}, listener(5173, ips=("192.168.1.5",))).apps["shop"]

    assert (app.url, app.target.host) == ("http://192.168.1.5:5173/", "192.168.1.5")
    assert app.evidence is Port.OWN


def test_a_hidden_listener_is_listed_and_no_app():
    one = listener(5173)

    found = census(files(), seen(one, hidden={one.id}), pids={}, local_scan=True)

    assert (found.apps, found.observed, found.visible) == ({}, (one,), ())
    assert found.hidden == {one.id}


def test_a_discovered_app_stays_until_its_listener_is_forgotten():
    app = look({}, listener(5173, present=False)).apps["shop"]

    assert app.evidence is Port.EMPTY


def test_a_declared_slug_is_never_taken():
    one = listener(5173)

    found = census(
        files({"shop": "port: 9\n"}), seen(one, slugs={one.id: "shop"}), pids={}, local_scan=True
    )

    assert list(found.apps) == ["shop", "shop-2"]
    assert found.slugs == {one.id: "shop-2"}


def test_two_listeners_never_share_a_slug_and_the_older_keeps_it():
    younger, older = listener(5173, later=1), listener(5174)
    told = {younger.id: "shop", older.id: "shop"}

    found = census(files(), seen(younger, older, slugs=told), pids={}, local_scan=True)

    assert found.slugs == {older.id: "shop", younger.id: "shop-2"}


def test_what_runs_under_a_slug_that_no_file_has_is_an_app_of_that_slug():
    older, started = listener(5173), listener(5174, pid=9, later=1)
    told = {older.id: "shop", started.id: "python"}

    found = census(files(), seen(older, started, slugs=told), pids={"shop": {9}}, local_scan=True)

    assert found.slugs == {started.id: "shop", older.id: "shop-2"}


def test_declared_apps_come_first():
    found = look({"zoo": "port: 1\n", "bar": "port: 2\n"}, listener(5173))

    assert list(found.apps) == ["bar", "zoo", "shop"]


# -- ignored --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rule",
    ["{port: 5173}", "{port: 5000-6000}", "{process: node}", "{dir: /src}", "{dir: /src/*}",
     "{port: 5173, process: node, dir: /src/shop}"],
)  # fmt: skip
def test_what_a_rule_covers_is_neither_observed_nor_discovered(rule: str):
    one = listener(5173)

    found = look({}, one, ignore=f"rules: [{rule}]\n")

    assert (found.apps, found.observed, found.ignored) == ({}, (), (one,))


@pytest.mark.parametrize("rule", ["{port: 5174}", "{process: nod}", "{dir: /src/sho}",
                                  "{port: 5173, process: ruby}"])  # fmt: skip
def test_a_rule_covers_nothing_else(rule: str):
    assert look({}, listener(5173), ignore=f"rules: [{rule}]\n").ignored == ()


def test_a_declared_app_is_never_ignored():
    found = look({"shop": "port: 5173\n"}, listener(5173), ignore="rules: [{port: 5173}]\n")

    assert (found.apps["shop"].evidence, found.ignored) == (Port.OWN, ())


def test_a_rule_that_is_new_covers_what_was_observed():
    one = listener(5173)
    before = look({}, one)

    found = again(before, files({}, ignore="rules: [{port: 5173}]\n"), one)

    assert ids(*found.ignored) == [one.id]


def test_a_rule_is_asked_again_when_a_listener_is_known_better():
    one = listener(5173)
    before = look({}, one, ignore="rules: [{process: vite}]\n")
    process = replace(one.identity.process, name="vite")

    found = again(before, None, replace(one, identity=replace(one.identity, process=process)))

    assert (found.observed, ids(*found.ignored)) == ((), [one.id])


def test_a_thousand_rules_for_a_hundred_listeners_take_no_second():
    rules = ", ".join(f"{{dir: '/x/*/{number}*/y'}}" for number in range(1000))
    crowd = [listener(4000 + number, f"/x/a/{number}/z/b/c/d") for number in range(100)]

    found = look({}, *crowd, ignore=f"rules: [{rules}]\n")

    assert len(found.observed) == 100


# -- one census after another ---------------------------------------------------------------------


def test_what_did_not_change_is_the_same_app():
    here, there = listener(3000), listener(5173, "/src/other")
    before = look({"shop": "port: 3000\n", "admin": "port: 4000\n"}, here, there)

    after = again(before, None, here, there, listener(6000, "/src/third"))

    assert sorted(after.apps) == ["admin", "other", "shop", "third"]
    assert [after.apps[slug] is before.apps[slug] for slug in before.apps] == [True] * 3


def test_when_nothing_changed_only_the_last_look_is_newer():
    one = listener(5173)
    before = look({"shop": "port: 3000\n"}, one)

    after = again(before, None, one)

    assert after.apps is before.apps
    assert after.observed[0].last_seen - one.last_seen == timedelta(seconds=2)


def test_an_app_is_made_anew_when_its_file_its_listener_or_the_defaults_change():
    one = listener(3000)
    before = look({"shop": "port: 3000\n"}, one)
    app = before.apps["shop"]

    assert again(before, files({"shop": "port: 3000\n"}), one).apps["shop"] is not app
    assert again(before, None, replace(one, present=False)).apps["shop"] is not app
    config = replace(files(config="health: {interval: 5s}\n"), apps=before.made.files.apps)  # type: ignore[union-attr]
    assert again(before, config, one).apps["shop"].policy.interval == 5
    assert again(before, config, one).apps["shop"].target is not None


def test_an_app_whose_file_is_gone_leaves_its_listener_to_be_discovered():
    one = listener(3000)
    before = look({"web": "port: 3000\n"}, one)

    after = again(before, files(), one)

    assert [(app.slug, app.source) for app in after.apps.values()] == [("shop", "discovered")]


def test_what_an_app_listened_on_is_not_found_when_both_are_gone():
    one = listener(3000)
    before = look({"web": "port: 3000\n"}, one)

    gone = again(before, files(), replace(one, present=False))
    later = again(gone, None, replace(one, present=False))

    assert [(found.apps, found.observed) for found in (gone, later)] == [({}, ())] * 2
    assert list(again(later, None, one).apps) == ["shop"]


@pytest.mark.parametrize("slugs", [["shop"], []], ids=["declared", "without a file"])
def test_what_a_service_listened_on_is_its_own_until_a_scan_finds_it_gone(slugs: list[str]):
    text = "port: 3000\nservice: {command: x, cwd: /elsewhere}\n"
    here, beside = listener(3000), listener(3001)
    now = files(dict.fromkeys(slugs, text))
    members: dict[str, set[int]] = {"shop": {7}}
    runs = census(now, seen(here, beside), pids=members, members=members, local_scan=True)

    stopped = census(
        now, seen(here, beside), pids={}, members=members, local_scan=True, before=runs
    )
    gone = again(stopped, None, replace(here, present=False), replace(beside, present=False))

    assert stopped.apps.keys() == runs.apps.keys()
    assert (list(gone.apps), gone.observed) == (slugs, ())


ONE = listener(5173)


@pytest.mark.parametrize(
    "other",
    [
        replace(ONE, present=False),
        replace(ONE, kind="other"),
        replace(ONE, answer=None),
        replace(ONE, listener=replace(ONE.listener, scope="lan")),
        replace(ONE, identity=replace(ONE.identity, title="Shop")),
    ],
    ids=["gone", "kind", "answer", "address", "identity"],
)
def test_a_listener_that_tells_anything_else_is_no_longer_the_same(other: Sighting):
    assert same(ONE, replace(ONE, last_seen=ONE.last_seen + timedelta(seconds=2)))
    assert not same(ONE, other)
    assert not same(ONE, None)


def test_what_is_found_to_be_a_dev_server_becomes_an_app():
    before = look({}, listener(5173, kind="other"))

    assert list(again(before, None, listener(5173)).apps) == ["shop"]
