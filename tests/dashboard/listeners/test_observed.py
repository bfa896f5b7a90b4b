"""Listeners over time: seen once, kept while they restart, asked when due, gone."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from dashboard.listeners import records
from dashboard.listeners.git import Git
from dashboard.listeners.identity import Answer, Identity
from dashboard.listeners.observed import MOST_AGAIN, Changes, Identify, Observed, Sighting
from dashboard.listeners.processes import Parent, Process
from dashboard.listeners.scan import Listener, Scan, Scanner, former_id, observed_id
from tests.dashboard.listeners.servers import Servers, on
from tests.service import free_port

PAGE = Answer("http", headers={"content-type": "text/html; charset=utf-8"})
START = datetime(2026, 11, 20, 12, tzinfo=UTC)
ME = os.geteuid()
NOTHING = Changes((), (), ())


def listener(port: int = 5173, *, pid: int | None = 7, uid: int = ME, cwd: str = "/x") -> Listener:
    exe = "node" if pid else ""
    return Listener(
        observed_id(port, exe, cwd), (("127.0.0.1", port),), port, "loopback", uid, pid, 1.0, exe,
        cwd,
    )  # fmt: skip


def scan(*listeners: Listener, at: float = 0) -> Scan:
    return Scan(listeners, START + timedelta(seconds=at), 1.0, ())


def known(one: Listener, *, name: str = "node", **more: object) -> Identity:
    process = Process(one.pid, name=name, exe=f"/usr/bin/{name}", cwd=one.cwd, whole=True)
    return replace(Identity(process, one.cwd), **more)  # type: ignore[arg-type]


def a_dev_server(one: Listener) -> Identity:
    return known(one, git=Git(Path(one.cwd), Path(one.cwd).name, "main", None, None))


def noting(asked: list[str]) -> Identify:
    """Identifies, and notes whom."""

    def identify(one: Listener) -> Identity:
        asked.append(one.id)
        return known(one)

    return identify


def only(observed: Observed) -> Sighting:
    [one] = observed.all()
    return one


def test_a_real_server_comes_restarts_under_the_same_id_and_goes_after_30_s(servers: Servers):
    observed, scanner, port = Observed(), Scanner(), free_port()
    observed.update(scanner.scan(), 0)

    servers.http(port=port)
    [one] = on(port, scanner)
    came = observed.update(scanner.scan(), 2)
    servers.stop(servers.last)
    away = observed.update(scanner.scan(), 4)
    assert not found(observed, one.id).present
    servers.http(port=port)
    back = observed.update(scanner.scan(), 6)
    sighting = found(observed, one.id)

    assert one.id in came.added
    assert one.id not in away.gone
    assert (one.id in back.added, one.id in back.changed) == (False, True)
    assert sighting.identity.process.pid == servers.last.pid
    assert sighting.present
    servers.stop(servers.last)
    assert one.id not in observed.update(scanner.scan(), 35.9).gone
    assert one.id in observed.update(scanner.scan(), 36).gone
    assert observed.get(one.id) is None


def found(observed: Observed, name: str) -> Sighting:
    one = observed.get(name)
    assert one is not None
    return one


def test_the_record_has_every_key_of_the_contract(servers: Servers, tmp_path: Path):
    subprocess.run(["git", "init", "-q", "-b", "main", str(tmp_path / "shop")], check=True)
    port = servers.http(cwd=tmp_path / "shop", bind="0.0.0.0")
    observed = Observed()
    observed.update(Scanner().scan(), 0)
    [one] = [x for x in observed.all() if x.listener.port == port]

    told: Any = records.observed_record(one, observed.slugs()[one.id], observed.hidden(one))

    assert {key: told[key] for key in told if key not in {"identity", "firstSeen", "lastSeen"}} == {
        "id": one.id,
        "addresses": [{"ip": "0.0.0.0", "port": port}],
        "port": port,
        "scope": "all",
        "protocol": "unknown",
        "suggested": {"slug": "shop", "name": "shop", "expected": "sometimes"},
        "kind": "dev",
        "hidden": False,
        "lanExposed": True,
    }
    assert [*told["identity"]] == [
        "process", "cwd", "git", "package", "framework", "title", "favicon", "container", "partial",
    ]  # fmt: skip
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", told["firstSeen"])
    assert told["firstSeen"] == told["lastSeen"]
    assert json.dumps(told)


def test_first_and_last_seen_are_the_scans_times():
    observed = Observed(identify=known)
    observed.update(scan(listener()), 0)
    observed.update(scan(listener(), at=2), 2)
    observed.update(scan(at=4), 4)

    assert only(observed).first_seen == START
    assert only(observed).last_seen == START + timedelta(seconds=2)


def test_a_steady_scan_changes_nothing_and_identifies_nobody_again():
    asked: list[str] = []
    observed = Observed(identify=noting(asked))
    observed.update(scan(listener()), 0)

    for now in range(2, 60, 2):
        assert observed.update(scan(listener()), now) == NOTHING

    assert len(asked) == 1


def test_a_second_address_is_a_change():
    observed = Observed(identify=known)
    observed.update(scan(listener()), 0)
    both = replace(listener(), addresses=(("127.0.0.1", 5173), ("::1", 5173)))

    assert observed.update(scan(both), 2).changed == (both.id,)


def test_a_switched_branch_is_seen_within_about_a_minute(servers: Servers, tmp_path: Path):
    subprocess.run(["git", "init", "-q", "-b", "main", str(tmp_path)], check=True)
    port = servers.listening("127.0.0.1")
    observed = Observed(ports=((port, port),))
    scanner = Scanner()
    observed.update(scanner.scan(), 0)
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/other\n")

    assert observed.update(scanner.scan(), 59) == NOTHING
    assert observed.update(scanner.scan(), 60).changed == (only(observed).id,)
    repository = only(observed).identity.git
    assert repository is not None
    assert repository.branch == "other"


def test_identities_are_renewed_a_few_at_a_time():
    asked: list[str] = []
    observed = Observed(identify=noting(asked))
    many = scan(*(listener(port) for port in range(3000, 3000 + 3 * MOST_AGAIN)))
    observed.update(many, 0)
    asked.clear()
    counts = []

    for now in (60, 62, 64, 66):
        observed.update(many, now)
        counts.append(len(asked))

    assert counts == [MOST_AGAIN, 2 * MOST_AGAIN, 3 * MOST_AGAIN, 3 * MOST_AGAIN]
    assert len(set(asked)) == 3 * MOST_AGAIN


@pytest.mark.parametrize("port", [22, 79, 81, 444, 1023])
def test_ports_outside_of_the_wanted_ranges_are_not_listed(port: int):
    observed = Observed(identify=known)

    assert observed.update(scan(listener(port), listener(80), listener(443)), 0).added == (
        listener(80).id, listener(443).id,
    )  # fmt: skip


def test_own_ports_own_processes_and_their_children_are_never_listed(servers: Servers):
    port = servers.listening("127.0.0.1")
    ports = ((port, port),)
    one = on(port)[0]

    for own in ({"own_pids": {os.getpid()}}, {"own_pids": {one.pid}}, {"own_ports": {port}}):
        observed = Observed(ports=ports, **own)
        assert observed.update(Scanner().scan(), 0) == NOTHING
        assert (observed.all(), observed.get(one.id), observed.due(10)) == ([], None, [])
    assert Observed(ports=ports).update(Scanner().scan(), 0).added == (one.id,)


@pytest.mark.parametrize(
    ("one", "name", "kind", "hidden"),
    [
        (listener(3000), "node", "dev", False),
        (listener(3000, cwd="/"), "node", "other", False),
        (listener(3000), "prog", "other", False),
        (listener(5432), "prog", "database", False),
        (listener(15432), "postgres", "database", False),
        (listener(3000), "sshd", "system", True),
        (listener(3000, uid=ME + 1), "node", "dev", True),
        (listener(3000, pid=None), "", "system", True),
    ],
)
def test_system_listeners_and_those_of_others_are_hidden(
    one: Listener, name: str, kind: str, hidden: bool
):
    observed = Observed(identify=lambda one: known(one, name=name))
    shown = Observed(identify=lambda one: known(one, name=name), hide_system=False)
    for each in (observed, shown):
        each.update(scan(one), 0)

    assert (only(observed).kind, observed.hidden(only(observed))) == (kind, hidden)
    assert not shown.hidden(only(shown))


def times(observed: Observed, until: float) -> list[float]:
    """When the one listener is due, looked at ten times a second."""
    return [now / 10 for now in range(int(until * 10) + 1) if observed.due(now / 10)]


def test_a_dev_server_that_answers_is_asked_at_half_2_5_and_15_seconds_then_every_ten_minutes():
    observed = Observed(identify=a_dev_server)
    observed.update(scan(listener()), 0)
    observed.store_answer(listener().id, Answer("http"))

    assert times(observed, 1300) == [0.5, 2, 5, 15, 615, 1215]


def test_a_dev_server_that_is_silent_is_asked_with_growing_pauses():
    observed = Observed(identify=a_dev_server)
    observed.update(scan(listener()), 0)

    asked = times(observed, 1300)

    assert asked[:9] == [0.5, 2, 5, 15, 30, 45, 60, 75, 90]
    pauses = [after - before for before, after in itertools.pairwise(asked)]
    assert pauses == sorted(pauses)
    assert pauses[-1] == 600


def test_what_looks_like_no_dev_server_is_asked_three_times_then_every_ten_minutes():
    observed = Observed(identify=lambda one: known(one, name="prog"))
    observed.update(scan(listener()), 0)

    assert times(observed, 700) == [0.5, 5, 60, 660]


@pytest.mark.parametrize(
    ("name", "cwd", "answer", "kind"),
    [
        ("datatool", "/x", PAGE, "dev"),
        ("caddy", "/", PAGE, "dev"),
        pytest.param("nginx", str(Path.home()), PAGE, "dev", id="nginx-in-home"),
        ("api", "/x", Answer("http", headers={"content-type": "application/json"}), "dev"),
        pytest.param("desktop", str(Path.home()), Answer("http"), "other", id="desktop-in-home"),
        ("datatool", "/x", Answer("tcp"), "other"),
        ("sshd", "/x", PAGE, "system"),
        ("redis-server", "/x", PAGE, "database"),
    ],
)
def test_what_serves_pages_is_a_dev_server_by_whatever_name(
    name: str, cwd: str, answer: Answer, kind: str
):
    observed = Observed(identify=lambda one: known(one, name=name))
    one = listener(cwd=cwd)
    observed.update(scan(one), 0)
    observed.store_answer(one.id, answer)

    assert only(observed).kind == kind


def test_a_users_own_program_of_the_systems_directories_is_asked_too():
    process = Process(7, name="nginx", exe="/usr/sbin/nginx", cwd="/x", whole=True)
    observed = Observed(identify=lambda one: known(one, process=process))
    observed.update(scan(listener()), 0)

    assert not observed.hidden(only(observed))
    assert observed.due(1) == [only(observed)]


def test_a_program_known_by_the_file_it_runs_needs_no_name_of_its_own():
    process = Process(7, name="http-server", exe="/usr/bin/node", cwd="/x", whole=True)
    observed = Observed(identify=lambda one: known(one, process=process))
    observed.update(scan(listener()), 0)

    assert only(observed).kind == "dev"


def test_a_restarted_server_is_asked_anew():
    observed = Observed(identify=a_dev_server)
    observed.update(scan(listener()), 0)
    assert len(times(observed, 20)) == 4

    observed.update(scan(listener(pid=8)), 20)

    assert [bool(observed.due(now)) for now in (20.4, 20.5, 22, 25, 35)] == [False] + [True] * 4


def test_after_a_long_sleep_each_is_asked_once():
    observed = Observed(identify=a_dev_server)
    observed.update(scan(listener()), 0)

    assert [len(observed.due(now)) for now in (36_000, 36_001)] == [1, 0]


@pytest.mark.parametrize(
    "one",
    [
        *(listener(port) for port in (5432, 6379, 11211, 27017, 2049, 3306)),
        listener(3000, uid=ME + 1),
        listener(3000, pid=None),
    ],
)
def test_databases_and_hidden_listeners_are_never_asked(one: Listener):
    observed = Observed(identify=a_dev_server if one.pid else known)
    observed.update(scan(one), 0)

    assert times(observed, 700) == []


def test_a_vanished_listener_is_not_asked():
    observed = Observed(identify=a_dev_server)
    observed.update(scan(listener()), 0)
    observed.update(scan(), 0.2)

    assert observed.due(1) == []


def test_an_answer_changes_what_is_shown_once_and_stays_over_a_restart():
    observed = Observed(identify=known)
    observed.update(scan(listener()), 0)
    answer = Answer("https", title="Shop", headers={"x-powered-by": "Express"})
    name = listener().id

    assert observed.store_answer(name, answer)
    assert not observed.store_answer(name, answer)
    assert not observed.store_answer("o-000000000000", answer)
    observed.update(scan(listener(pid=8)), 2)

    told: Any = records.observed_record(only(observed), "shop", False)
    assert (told["protocol"], told["identity"]["title"]) == ("https", "Shop")
    assert told["identity"]["framework"]["id"] == "express"
    assert told["kind"] == "dev"


def test_suggested_slugs_are_free_stable_and_never_twice():
    observed = Observed(identify=a_dev_server)
    first, second, third = (listener(port, cwd="/src/shop") for port in (3001, 3002, 3003))
    observed.update(scan(third), 0)
    observed.update(scan(first, second, third, at=2), 2)

    assert observed.slugs() == {third.id: "shop", first.id: "shop-2", second.id: "shop-3"}
    assert observed.slugs({"shop"})[third.id] == "shop-2"
    bound = observed.slugs({"shop"}, {first.id: "shop", "o-000000000000": "shop-2"})
    assert bound == {first.id: "shop", third.id: "shop-3", second.id: "shop-4"}


@pytest.mark.parametrize(
    ("title", "slug", "name"),
    [
        ("Größe & Preis", "grosse-preis", "Größe & Preis"),
        ("магазин", "app-5173", "магазин"),
        ("a" * 200, "a" * 63, "a" * 79 + "…"),
        ("_x_--..y", "x-y", "_x_--..y"),
        ("\x1b[2J", "2j", "�[2J"),
        (" ", "node", "node"),
        ("Directory listing for /", "node", "node"),
        ("Index of /src/", "node", "node"),
        ("Tom & Jerry — <b>x</b> Live", "tom-jerry-b-x-b-live", "Tom & Jerry — <b>x</b> Live"),
        ("Index of Funds", "index-of-funds", "Index of Funds"),
    ],
)
def test_a_title_of_any_kind_gives_a_slug_that_is_one(title: str, slug: str, name: str):
    observed = Observed(identify=lambda one: known(one, title=title))
    one = listener(cwd="/")
    observed.update(scan(one), 0)

    assert observed.slugs() == {one.id: slug}
    told: Any = records.observed_record(only(observed), slug, False)
    assert told["suggested"]["name"] == name


def test_a_taken_slug_of_full_length_stays_within_63():
    observed = Observed(identify=lambda one: known(one, title="a" * 100))
    one = listener(cwd="/")
    observed.update(scan(one), 0)

    assert observed.slugs({"a" * 63}) == {one.id: "a" * 61 + "-2"}


@pytest.mark.parametrize(
    ("cwd", "name"),
    [
        ("/home/ada/billing-api", "billing-api"),
        ("/srv/Größe & Preis", "Größe & Preis"),
        pytest.param(str(Path.home()), "The install worked successfully!", id="home"),
        ("/var/lib/thing", "The install worked successfully!"),
    ],
)
def test_a_directory_of_the_users_own_names_before_title_and_process(cwd: str, name: str):
    one = listener(cwd=cwd)
    observed = Observed(identify=lambda one: known(one, title="The install worked successfully!"))
    observed.update(scan(one), 0)

    told: Any = records.observed_record(only(observed), "any", False)
    assert told["suggested"]["name"] == name


def test_a_server_that_comes_back_on_another_port_keeps_slug_answer_and_first_seen():
    observed = Observed(identify=a_dev_server)
    observed.update(scan(listener(5173)), 0)
    observed.store_answer(listener(5173).id, PAGE)
    bound = observed.slugs()

    moved = observed.update(scan(listener(5174, pid=8), at=2), 2)

    assert (moved.added, moved.gone) == ((listener(5174).id,), (listener(5173).id,))
    assert observed.slugs((), bound) == {listener(5174).id: bound[listener(5173).id]}
    assert (only(observed).first_seen, only(observed).answer) == (START, PAGE)
    assert observed.due(2.5) == [only(observed)]


def test_a_second_one_beside_it_is_another_app_and_so_is_another_command():
    observed = Observed(identify=a_dev_server)
    observed.update(scan(listener(5173)), 0)
    bound = observed.slugs()
    observed.update(scan(listener(5173), listener(5174, pid=8)), 2)
    assert observed.slugs((), bound)[listener(5174).id] != bound[listener(5173).id]

    started = {5173: ("node", "api.js", "5173"), 5175: ("node", "web.js", "5175")}

    def by_port(one: Listener) -> Identity:
        process = Process(one.pid, name="node", argv=started[one.port], cwd=one.cwd, whole=True)
        return known(one, process=process)

    other = Observed(identify=by_port)
    other.update(scan(listener(5173)), 0)
    other.update(scan(listener(5175, pid=8)), 2)
    assert {one.id for one in other.all()} == {listener(5173).id, listener(5175).id}


def test_what_another_server_of_its_directory_listened_on_beside_it_is_kept():
    started = {3000: ("vite", "--port=3000"), 3001: ("vite", "--port=3001"), 8000: ("api",)}

    def by_port(one: Listener) -> Identity:
        process = Process(one.pid, name="node", argv=started[one.port], cwd=one.cwd, whole=True)
        return known(one, process=process)

    observed = Observed(identify=by_port)
    elsewhere = listener(3001, cwd="/y")
    observed.update(scan(listener(3000), listener(8000), elsewhere), 0)
    observed.update(scan(listener(3001), listener(3000), elsewhere), 2)
    observed.update(scan(listener(3001)), 4)

    beside = {(one.listener.port, one.listener.cwd): one.beside for one in observed.all()}
    assert beside == {
        (3000, "/x"): {8000}, (3001, "/x"): set(), (3001, "/y"): set(), (8000, "/x"): {3000},
    }  # fmt: skip


def test_after_a_restart_of_the_service_a_moved_server_is_the_one_with_a_history():
    observed = Observed(identify=a_dev_server)
    observed.update(scan(listener(5174)), 0)
    home = str(Path.home())

    assert observed.slugs((), {listener(5173).id: "shop"})[listener(5174).id] == "shop"
    former = {former_id(5174, "node", "/x"): "old"}
    assert observed.slugs((), former)[listener(5174).id] == "old"
    observed.update(scan(listener(5174, cwd=home)), 60)
    bound = {listener(5173, cwd=home).id: "shop"}
    assert observed.slugs((), bound)[listener(5174, cwd=home).id] != "shop"


def test_the_children_of_another_process_are_not_ours():
    process = Process(7, name="node", cwd="/x", parents=(Parent(6, "sh", ()),))

    def listed(own: int) -> int:
        observed = Observed(own_pids={own}, identify=lambda one: known(one, process=process))
        observed.update(scan(listener()), 0)
        return len(observed.all())

    assert [listed(5), listed(6), listed(7)] == [1, 0, 0]


def test_what_a_steady_scan_shows_was_seen_then_and_is_told_as_before():
    observed = Observed(identify=known)
    first = scan(listener(5173), listener(5174))
    observed.update(first, 0)
    version = observed.version

    assert observed.update(replace(first, at=START + timedelta(seconds=10)), 10) == NOTHING
    assert observed.version == version

    observed.update(scan(listener(5174)), 12)
    gone = next(one for one in observed.all() if not one.present)
    assert gone.last_seen == START + timedelta(seconds=10)
    assert observed.update(scan(listener(5174)), 39).gone == ()  # 30 s after it was last seen
    assert observed.update(scan(listener(5174)), 40).gone == (gone.id,)


def test_a_steady_scan_goes_by_what_is_configured_and_served_now():
    parent = Process(1, name="svc", cwd="/x", whole=True)
    ours = replace(parent, pid=7, parents=(Parent(os.getpid(), "svc", ()),))
    observed = Observed(own_pids={os.getpid()}, identify=lambda one: Identity(ours, "/x"))
    one = scan(listener(5173))

    observed.update(one, 0)
    assert observed.all() == []
    observed.serves({7})
    assert len(observed.all()) == 1
    observed.configure(ports=((1, 80),), hide_system=True)
    observed.update(one, 1)
    assert not only(observed).present
