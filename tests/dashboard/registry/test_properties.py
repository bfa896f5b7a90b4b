"""Whatever is declared and whatever listens: nothing is lost, nothing twice, no order counts."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dashboard.registry.census import Census, census
from tests.dashboard.registry.world import files, listener, seen
from tests.promises.rings import ring

CHECKED = settings(
    max_examples=ring(fast=40, slow=750),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
PORTS, CWDS, PIDS = [3000, 3001, 4000], ["/src/shop", "/src/other", "/", ""], [5, 6, 7]
APPS = [
    "port: 3000\n", "port: 3001\n", "port: 3000\nmatch: {cwd: /src/shop}\n",
    "port: 4000\nmatch: {cwd: '/src/*'}\n", "match: {process: node}\n",
    "match: {cwd: /src/other}\n",
    "url: http://localhost:3000/\nmatch: {cwd: /src/shop}\n", "url: https://example.com/\n",
    "port: 3001\nservice: {command: x}\n", "service: {command: x}\n", "port: [\n",
    "port: 3000\npaused: true\n", "port: 3000\nmatch: {command: '*vite*', port: 4000}\n", "x: 1\n",
    "health: {type: http}\n", "port: 4000\nhealth: {type: process}\n",
]  # fmt: skip
RULES = ["", "rules: [{port: 3001}]\n", "rules: [{dir: /src}]\n", "rules: [{process: ruby}]\n"]
listeners = st.lists(
    st.builds(
        listener,
        st.sampled_from(PORTS),
        st.sampled_from(CWDS),
        exe=st.sampled_from(["node", "ruby", ""]),
        pid=st.sampled_from(PIDS),
        speaks=st.sampled_from(["http", "https", "tcp", None]),
        kind=st.sampled_from(["dev", "other"]),
        present=st.booleans(),
        argv=st.sampled_from([(), ("node", "vite")]),
    ),
    max_size=6,
    unique_by=lambda one: one.id,
)
declared = st.dictionaries(
    st.sampled_from(["shop", "other", "a", "b"]), st.sampled_from(APPS), max_size=4
)
machines = st.fixed_dictionaries(
    {
        "apps": declared,
        "sightings": listeners,
        "hidden": st.sets(st.integers(0, 5)),
        "rules": st.sampled_from(RULES),
        "slugs": st.booleans(),
        "pids": st.dictionaries(st.sampled_from(["shop", "a"]), st.sets(st.sampled_from(PIDS))),
        "scan": st.booleans(),
    }
)


def taken(machine: dict[str, Any], before: Census | None = None, **changed: Any) -> Census:
    machine = {**machine, **changed}
    ids = [one.id for one in machine["sightings"]]
    return census(
        machine.get("files") or files(machine["apps"], ignore=machine["rules"]),
        seen(
            *machine["sightings"],
            slugs=dict.fromkeys(ids, "shop") if machine["slugs"] else {},
            hidden={ids[number] for number in machine["hidden"] if number < len(ids)},
        ),
        pids=machine["pids"],
        local_scan=machine["scan"],
        before=before,
    )


@CHECKED
@given(machines)
def test_every_listener_is_an_apps_or_observed_or_ignored_and_only_one_of_them(
    machine: dict[str, Any],
):
    found = taken(machine)

    families = {pid: slug for slug in sorted(machine["pids"]) for pid in machine["pids"][slug]}
    mine = {app.sighting.id for app in found.apps.values() if app.sighting and app.declared}
    mine |= {
        one.id for one in machine["sightings"]
        if families.get(one.listener.pid) in machine["apps"]
    }  # fmt: skip
    hidden = [one.id for one in found.observed if one.id in found.hidden]
    rest = [one.id for one in (*found.visible, *found.ignored)] + hidden
    assert sorted([*mine, *rest]) == sorted(one.id for one in machine["sightings"])


@CHECKED
@given(machines)
def test_no_slug_is_given_twice_and_every_discovered_app_is_observed(machine: dict[str, Any]):
    found = taken(machine)

    assert len(set(found.slugs.values())) == len(found.slugs)
    assert not set(found.slugs.values()) & set(machine["apps"])
    free = [app.sighting for app in found.apps.values() if not app.declared]
    assert all(one in found.visible for one in free)
    assert set(machine["apps"]) <= set(found.apps)


@CHECKED
@given(machines, machines, st.sets(st.sampled_from(["apps", "sightings", "rules", "pids", "scan"])))
def test_the_census_before_saves_time_and_changes_nothing(
    one: dict[str, Any], other: dict[str, Any], changed: set[str]
):
    machine = {**one, **{key: other[key] for key in changed}}
    later = [
        replace(sighting, last_seen=sighting.last_seen + timedelta(seconds=2))
        for sighting in machine["sightings"]
    ]
    before = taken(one)
    kept = before.made.files if before.made and not changed & {"apps", "rules"} else None
    machine["files"] = kept or files(machine["apps"], ignore=machine["rules"])

    quick = taken(machine, before, sightings=later)

    plain = taken(machine, sightings=later)
    assert (quick.observed, quick.ignored) == (plain.observed, plain.ignored)
    assert (quick.hidden, quick.slugs) == (plain.hidden, plain.slugs)
    assert list(quick.apps) == list(plain.apps)
    assert list(map(timeless, quick.apps.values())) == list(map(timeless, plain.apps.values()))


@CHECKED
@given(machines, st.randoms(use_true_random=False))
def test_the_order_of_files_and_listeners_does_not_count(machine: dict[str, Any], random: Any):
    apps, sightings = list(machine["apps"].items()), [*machine["sightings"]]
    hidden = {one.id for number, one in enumerate(sightings) if number in machine["hidden"]}
    random.shuffle(apps)
    random.shuffle(sightings)
    turned = {number for number, one in enumerate(sightings) if one.id in hidden}

    one = taken({**machine, "files": (now := files(machine["apps"], ignore=machine["rules"]))})
    other = taken(
        machine,
        files=replace(now, apps={slug: now.apps[slug] for slug, _ in apps}),
        sightings=sightings,
        hidden=turned,
    )

    assert one == other


def timeless(app: Any) -> Any:
    """The app with its listeners' moments of the last look left out."""
    return replace(app, sighting=unseen(app.sighting), stranger=unseen(app.stranger))


def unseen(one: Any) -> Any:
    return one and replace(one, last_seen=one.first_seen)
