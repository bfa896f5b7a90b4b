"""An app is recognised by what its file says of it, wherever it listens."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dashboard.health.record import Port
from dashboard.listeners.container import Container
from dashboard.listeners.processes import Parent
from dashboard.registry.census import census
from dashboard.registry.look import CompletedScan
from tests.dashboard.registry.world import SHOP, START, files, ids, listener, look, seen, shop

MATCHED = "port: 3000\nmatch: {cwd: /src/shop}\n"


def test_a_listener_on_the_port_of_an_app_that_says_no_more_is_the_app():
    here = listener(3000, "/anywhere")

    found = look({"shop": "port: 3000\n"}, here)

    assert found.apps["shop"].sighting is here
    assert found.apps["shop"].evidence is Port.OWN
    assert found.observed == ()


def test_without_a_listener_the_port_is_empty():
    app = shop("port: 3000\n", listener(3001))

    assert (app.sighting, app.evidence, app.port) == (None, Port.EMPTY, 3000)


def test_on_a_loopback_address_of_its_own_what_listens_on_another_is_neither_it_nor_a_stranger():
    text = "port: 3000\nhost: 127.0.0.2\nservice: {command: x, cwd: /src/shop}\n"
    other = listener(3000, "/src/other")

    app = shop(text, other)

    assert (app.sighting, app.stranger, app.evidence) == (None, None, Port.EMPTY)
    for ip in ("127.0.0.2", "0.0.0.0", "::"):
        assert shop(text, other, listener(3000, ips=(ip,))).evidence is Port.OWN
    assert shop(text, listener(3000, "/src/other", ips=("127.0.0.2",))).evidence is Port.STRANGER
    assert shop(text, listener(3000, pid=9), pids={9}).evidence is Port.OWN


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "'[::1]'", "127.1.localhost"])
def test_at_any_name_of_this_machine_whatever_has_the_port_is_the_app(host: str):
    here = listener(3000, ips=("::1",))

    assert shop(f"port: 3000\nhost: {host}\n", here).sighting is here


def test_one_that_is_gone_keeps_its_identity_for_a_while_and_the_port_is_empty():
    gone = listener(3000, present=False)

    app = shop(MATCHED, gone)

    assert (app.sighting, app.evidence) == (gone, Port.EMPTY)


@pytest.mark.parametrize(
    ("match", "fits"),
    [
        ("{cwd: /src/shop}", True), ("{cwd: /src/*}", True), ("{cwd: /src}", False),
        ("{process: node}", True), ("{process: vite}", False),
        ("{command: '*vite*'}", True), ("{command: vite}", False),
        ("{command: npm run dev}", True), ("{port: 3000}", True), ("{port: 3001}", False),
        ("{cwd: /src/shop, process: node, command: '*vite*', port: 3000}", True),
        ("{cwd: /src/shop, process: ruby}", False), ("{cwd: /other, process: node}", False),
    ],
)  # fmt: skip
def test_all_given_keys_must_hold(match: str, fits: bool):
    one = listener(
        argv=("node", "/x/vite", "--host"), parents=(Parent(6, "npm", ("npm", "run", "dev")),)
    )

    found = look({"shop": f"port: 3000\nmatch: {match}\n"}, one)

    app = found.apps["shop"]
    assert (app.sighting is one, app.stranger is one) == (fits, not fits)
    assert app.evidence is (Port.OWN if fits else Port.STRANGER)
    assert ids(*found.observed) == ([] if fits else [one.id])


@pytest.mark.parametrize(
    ("cwd", "evidence"),
    [
        ("/src/shop", Port.OWN), ("/src/shop/web", Port.OWN), ("/", Port.OWN),
        ("/src/other", Port.STRANGER), ("/src/shopping", Port.STRANGER),
    ],
)  # fmt: skip
def test_without_a_match_the_directory_of_its_service_tells_a_stranger(cwd: str, evidence: Port):
    one = listener(3000, cwd)

    found = look({"shop": "port: 3000\nservice: {command: x, cwd: /src/shop}\n"}, one)

    assert found.apps["shop"].evidence is evidence
    assert ids(*found.observed) == ([one.id] if evidence is Port.STRANGER else [])


def test_elsewhere_in_the_repository_of_its_service_is_no_stranger():
    one = listener(3000, "/src")

    assert shop("port: 3000\nservice: {command: x, cwd: /src/api}\n", one).evidence is Port.OWN


def test_another_project_on_its_port_is_a_stranger_and_stays_in_observed():
    other = listener(3000, "/src/other")

    found = look({"shop": MATCHED}, other)

    app = found.apps["shop"]
    assert (app.evidence, app.stranger, app.sighting) == (Port.STRANGER, other, None)
    assert found.observed == (other,)


def test_a_stranger_that_has_left_is_none():
    app = shop(MATCHED, listener(3000, "/src/other", present=False))

    assert (app.evidence, app.stranger) == (Port.EMPTY, None)


def test_what_is_not_known_of_a_listener_contradicts_nothing():
    foreign = listener(3000, "", exe="", pid=None, argv=())

    app = shop(MATCHED, foreign)

    assert (app.sighting, app.evidence) == (foreign, Port.OWN)


def test_the_directory_of_a_containers_proxy_contradicts_nothing():
    container = Container("docker", "shop", "shop:1", None, None)
    proxy = listener(3000, "/", exe="docker-proxy", container=container)

    assert shop(MATCHED, proxy).evidence is Port.OWN
    assert (
        shop("port: 3000\nmatch: {cwd: /src/shop, port: 3001}\n", proxy).evidence is Port.STRANGER
    )


def test_an_app_is_followed_to_the_port_it_has_moved_to():
    moved = listener(3001)

    app = shop(MATCHED, moved, listener(3000, "/src/other"))

    assert (app.port, app.moved_from, app.evidence) == (3001, 3000, Port.OWN)
    assert (app.sighting, app.stranger) == (moved, None)
    assert (app.url, app.target.port) == ("http://localhost:3001/", 3001)


def test_what_is_not_known_of_a_listener_is_no_reason_to_follow_it():
    app = shop("port: 3000\nmatch: {process: node, cwd: '/src/*'}\n", listener(3001, ""))

    assert (app.port, app.evidence) == (3000, Port.EMPTY)


def test_an_app_with_no_match_is_not_followed():
    assert shop("port: 3000\n", listener(3001)).evidence is Port.EMPTY


def test_it_is_followed_to_the_nearest_web_server_among_all_it_has_opened():
    debugger, socket, web = listener(9229), listener(3001, speaks="tcp"), listener(3005)

    assert shop(MATCHED, debugger, socket, web).port == 3005


def test_it_has_not_moved_to_what_ran_beside_it_at_home():
    beside, new = replace(listener(8000), beside=frozenset({3000})), listener(3001)

    assert shop(MATCHED, beside).evidence is Port.EMPTY
    assert shop(MATCHED, beside, new).port == 3001


def test_back_on_its_own_port_it_has_not_moved():
    app = shop(MATCHED, listener(3001, present=False), listener(3000))

    assert (app.port, app.moved_from) == (3000, None)


def test_an_app_that_listens_on_its_own_port_and_another_has_not_moved():
    assert shop(MATCHED, listener(3000), listener(3001)).moved_from is None


def test_an_app_that_is_gone_from_both_ports_is_awaited_on_its_own():
    app = shop(MATCHED, listener(3000, present=False), listener(3001, present=False))

    assert (app.port, app.evidence) == (3000, Port.EMPTY)


def test_it_is_at_its_new_port_though_the_old_listener_is_still_remembered():
    app = shop(MATCHED, listener(3000, present=False), listener(3001))

    assert (app.port, app.moved_from, app.evidence) == (3001, 3000, Port.OWN)


def test_an_app_at_home_is_never_taken_for_another_that_has_moved():
    at_home = listener(4000)

    found = look({"admin": "port: 4000\n", "shop": MATCHED}, at_home)

    assert found.apps["admin"].sighting is at_home
    assert (found.apps["shop"].sighting, found.apps["shop"].evidence) == (None, Port.EMPTY)


def test_no_two_apps_move_to_the_same_listener():
    both = {"a": MATCHED, "b": "port: 3009\nmatch: {cwd: /src/shop}\n"}

    found = look(both, listener(3005))

    assert [app.port for app in found.apps.values()] == [3005, 3009]


def test_two_files_of_one_port_are_both_its_listener():
    found = look({"a": "port: 3000\n", "b": "port: 3000\n"}, listener(3000))

    assert [app.evidence for app in found.apps.values()] == [Port.OWN, Port.OWN]


def test_two_projects_of_one_port_are_told_apart_by_their_match():
    other = {"other": "port: 3000\nmatch: {cwd: /src/other}\n"}

    found = look({"shop": MATCHED, **other}, listener(3000))

    assert [app.evidence for app in found.apps.values()] == [Port.STRANGER, Port.OWN]
    assert found.observed == ()


# -- services -------------------------------------------------------------------------------------

SERVICE = MATCHED + "service: {command: npm run dev}\n"


def test_a_listener_of_its_own_service_is_its_own_whatever_match_says():
    other = listener(3000, "/src/other", pid=12)

    app = shop(SERVICE, other, pids={11, 12})

    assert (app.sighting, app.evidence) == (other, Port.OWN)


SERVED = "service: {command: x, cwd: /src/shop}\n"


def test_what_runs_under_a_slug_that_lost_its_file_is_not_taken_by_another_app_with_a_service():
    here = listener()

    found = look({"new": f"port: 3000\n{SERVED}"}, here, pids={"old": {7}})

    assert found.apps["old"].sighting is found.apps["new"].stranger is here
    assert (found.apps["old"].source, found.apps["new"].evidence) == ("discovered", Port.STRANGER)


@pytest.mark.parametrize("text", ["", SERVED])
def test_what_a_declared_service_runs_may_be_another_app_too(text: str):
    here = listener()
    apps = {"web": SERVED, "api": f"port: 3000\n{text}"}

    assert look(apps, here, pids={"web": {7}}).apps["api"].sighting is here


def test_what_runs_under_a_slug_that_lost_its_file_is_taken_by_an_app_that_starts_nothing():
    here = listener()

    assert look({"new": "port: 3000\n"}, here, pids={"old": {7}}).apps["new"].sighting is here


def test_the_family_counts_by_any_process_above_the_listener():
    child = listener(3000, "/src/other", pid=99, parents=(Parent(12, "sh", ()),))

    assert shop(SERVICE, child, pids={12}).evidence is Port.OWN


def test_what_a_service_opens_beside_its_port_is_not_observed():
    socket = listener(24678, pid=12)

    found = look({"shop": SERVICE}, listener(3000, pid=12), socket, pids={"shop": {12}})

    assert found.observed == ()
    assert list(found.apps) == ["shop"]
    assert found.apps["shop"].beside == (socket,)


def test_what_a_service_listens_on_beside_its_port_is_told_once_it_is_seen():
    files_, home = files({"shop": SERVICE}), listener(3000, pid=12)
    pids = {"shop": {12}}
    before = census(files_, seen(home), pids=pids, local_scan=True)
    more = listener(24678, pid=12)

    after = census(files_, seen(home, more), pids=pids, local_scan=True, before=before)

    assert (before.apps["shop"].beside, after.apps["shop"].beside) == ((), (more,))


def test_a_service_without_a_port_is_known_by_its_listener():
    worker = listener(9000, "/elsewhere", pid=12)

    app = shop("service: {command: work}\n", worker, pids={12})

    assert (app.sighting, app.port, app.evidence) == (worker, None, Port.UNSEEN)


def test_another_services_listener_is_no_place_to_have_moved_to():
    found = look(
        {"shop": SERVICE, "twin": f"service: {{command: x, cwd: {SHOP}}}\n"},
        listener(3001, pid=12),
        listener(3002, pid=12),
        pids={"twin": {12}},
    )

    assert found.apps["shop"].evidence is Port.EMPTY


# -- apps without a port --------------------------------------------------------------------------


def test_an_app_that_is_known_by_match_alone_has_the_port_it_is_found_on():
    app = shop("match: {cwd: /src/shop}\n", listener(5173))

    assert (app.port, app.moved_from, app.evidence) == (5173, None, Port.OWN)
    assert (app.url, app.target.scheme, app.target.port) == ("http://localhost:5173/", "http", 5173)


def test_found_nowhere_it_is_not_running():
    app = shop("match: {cwd: /src/shop}\n")

    assert (app.port, app.evidence, app.url) == (None, Port.EMPTY, None)
    assert (app.target.scheme, app.target.process, app.policy.probed) == ("process", None, True)


def test_while_nothing_is_scanned_it_is_not_said_to_be_stopped():
    app = shop("match: {cwd: /src/shop}\n", local_scan=False)

    assert (app.evidence, app.policy.probed) == (Port.UNSEEN, False)
    assert app.trouble == "cannot be asked: it is found by its match, and nothing is scanned"


def test_while_its_service_runs_it_is_not_missed_for_its_listener():
    app = shop(
        "match: {cwd: /src/shop}\nservice: {command: x}\n", pids={5}, process=(5, 1000)
    )  # fmt: skip

    assert (app.evidence, app.target.process) == (Port.UNSEEN, (5, 1000))


PROXIED = "url: https://shop.localhost/\nmatch: {cwd: /src/shop}\n"


def test_behind_a_proxy_the_app_is_recognised_and_its_address_stays():
    proxy, own = listener(443, "/", exe="caddy", argv=("caddy",)), listener(3000)

    found = look({"shop": PROXIED}, proxy, own)

    app = found.apps["shop"]
    assert (app.sighting, app.evidence, app.stranger) == (own, Port.OWN, None)
    assert (app.url, app.port, app.moved_from) == ("https://shop.localhost/", 443, None)
    assert found.observed == (proxy,)


def test_behind_a_proxy_it_may_answer_though_no_listener_is_recognised():
    app = shop(PROXIED, listener(443, "/", exe="caddy"))

    assert (app.evidence, app.stranger) == (Port.UNSEEN, None)


# -- where no scan looks --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["url: https://example.com/\n", "port: 3000\nhost: 192.168.1.9\n", "name: x\n", "port: 81\n",
     "url: https://example.com/\nmatch: {cwd: /src/shop}\n"],
)  # fmt: skip
def test_of_another_machine_no_port_or_a_port_that_is_not_scanned_nothing_is_seen(text: str):
    app = shop(text, listener(3000), listener(443))

    assert (app.evidence, app.sighting) == (Port.UNSEEN, None)


def test_without_scanning_nothing_is_seen():
    assert shop(MATCHED, local_scan=False).evidence is Port.UNSEEN


def test_before_the_first_scan_nothing_is_seen():
    found = census(files({"shop": MATCHED}), CompletedScan(), pids={}, local_scan=True)

    assert found.apps["shop"].evidence is Port.UNSEEN


@pytest.mark.parametrize(("port", "evidence"), [(8000, Port.UNSEEN), (8001, Port.EMPTY)])
def test_an_app_on_a_port_of_this_server_is_not_said_to_be_gone(port: int, evidence: Port):
    found = census(
        files({"shop": f"port: {port}\n"}),
        replace(CompletedScan(), at=START),
        pids={},
        local_scan=True,
        own_ports=frozenset({8000, 4255}),
    )

    assert found.apps["shop"].evidence is evidence
