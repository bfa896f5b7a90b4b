"""One look at all files: everything at once, at the price of the stats."""

from __future__ import annotations

import time
from pathlib import Path

from dashboard.files import store
from dashboard.files.store import Files
from tests.dashboard.files.world import Home


def same(one: Files, other: Files) -> dict[str, bool]:
    """Of each file, whether both looks gave the same object."""
    mine = {**one.apps, **one.groups, "config": one.config, "ignore": one.ignore}
    theirs = {**other.apps, **other.groups, "config": other.config, "ignore": other.ignore}
    return {name: mine[name] is theirs.get(name) for name in mine}


def test_a_look_has_every_file_and_every_mistake(home: Home):
    home.write("apps/shop.yaml", "port: 3000\n")
    home.write("apps/Bad.yaml", "port: 1\n")
    home.write("bookmarks/docs.yaml", "links: [\n")
    home.write("config.yaml", "title: Mine\n")
    home.write("ignore.yaml", "rules: [{port: 5000}]\n")

    found = store.look()

    assert (list(found.apps), list(found.groups)) == (["shop"], ["docs"])
    assert (found.config.parsed.title, len(found.ignore.parsed)) == ("Mine", 1)
    assert [error.file for error in found.problems] == ["bookmarks/docs.yaml", "apps/Bad.yaml"]
    assert list(found.problems) == store.problems()


def test_before_there_is_any_file_there_are_the_defaults(home: Home):
    found = store.look()

    assert (found.apps, found.groups, found.problems) == ({}, {}, ())
    assert (found.config.parsed.title, found.ignore.parsed) == ("Apps", ())


def test_while_nothing_changes_the_entries_are_the_same_objects(home: Home):
    home.write("apps/shop.yaml", "port: 3000\n")
    home.write("apps/broken.yaml", "port: [\n")
    (home.path / "apps" / "nowhere.yaml").symlink_to("/nonexistent/x")
    (home.path / "apps" / "young.yaml").write_text("port: 1\n")

    one, other = store.look(), store.look()

    assert set(same(one, other).values()) == {True}
    assert one.problems == other.problems


def test_a_write_that_changes_nothing_leaves_the_same_object(home: Home):
    store.put("apps", "shop", {"port": 3000})
    before = store.look()

    store.put("apps", "shop", {"port": 3000})
    store.patch("apps", "shop", {"port": 3000})
    store.put_text("apps", "shop", store.text("apps", "shop")[0])

    assert set(same(before, store.look()).values()) == {True}


def test_a_changed_file_alone_is_another_object(home: Home):
    home.write("apps/shop.yaml", "port: 3000\n")
    home.write("apps/admin.yaml", "port: 4000\n")
    before = store.look()

    home.write("apps/shop.yaml", "port: 3001\n")
    home.write("config.yaml", "title: Mine\n")
    after = store.look()

    assert same(before, after) == {"shop": False, "admin": True, "config": False, "ignore": True}
    assert after.apps["shop"].parsed.port == 3001


def test_a_file_that_was_touched_and_says_the_same_is_the_same_object(home: Home):
    home.write("apps/shop.yaml", "port: 3000\n")
    before = store.look()

    home.write("apps/shop.yaml", "port: 3000\n")

    assert same(before, store.look())["shop"]


def test_config_is_again_its_defaults_when_its_file_is_gone(home: Home):
    path = home.write("config.yaml", "title: Mine\n")
    store.look()

    Path(path).unlink()

    assert store.look().config.parsed.title == "Apps"


def test_a_look_at_500_files_that_did_not_change_reads_none_of_them(home: Home):
    for number in range(500):
        home.write(f"apps/app-{number}.yaml", f"port: {3000 + number}\n")
    first = _seconds_of_a_look()

    again = min(_seconds_of_a_look() for _ in range(10))

    assert again < first / 5  # a twentieth here


def _seconds_of_a_look() -> float:
    began = time.perf_counter()
    store.look()
    return time.perf_counter() - began
