"""A removed file is moved with the time in its name, not deleted (case D21)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from config.errors import Conflict, NotFound
from config.storage import displaced, files
from dashboard.files import removed, store
from tests.dashboard.files.world import Home, aged, tag

KEPT = re.compile(r"backups/removed/apps/shop\.\d{8}T\d{6}Z(-\d+)?\.yaml")


def test_the_file_is_moved_with_a_stamp_and_the_name_is_free(home: Home):
    home.write("apps/shop.yaml", b"port: 1   # one\n")

    moved = store.remove("apps", "shop", if_match=tag(b"port: 1   # one\n"))
    displaced.settle()

    assert KEPT.fullmatch(moved)
    assert home.tree() == {moved: b"port: 1   # one\n"}
    assert store.get("apps", "shop") is None
    assert (home.path / moved).stat().st_mode & 0o777 == 0o600
    assert store.put("apps", "shop", {"port": 2})[1]


def test_what_was_removed_before_is_never_overwritten(home: Home):
    moved = []
    for number in range(5):
        home.write("apps/shop.yaml", f"port: {number + 1}\n")
        moved.append(store.remove("apps", "shop"))

    assert len(set(moved)) == 5
    assert [home.read(file) for file in moved] == [b"port: %d\n" % n for n in range(1, 6)]
    assert all(KEPT.fullmatch(file) for file in moved)


def test_of_each_name_the_newest_stay_for_good_and_no_more_than_are_of_use(home: Home):
    removed = "backups/removed/apps"
    old = [f"{removed}/shop.20250101T0000{second}Z.yaml" for second in range(10, 40)]
    others = [f"{removed}/shop-2.20250101T000000Z-{number}.yaml" for number in range(2, 40)]
    others.append(f"{removed}/shop.mine.yaml")
    for file in [*old, *others]:
        home.write(file, "port: 1\n")
    home.write("apps/shop.yaml", "port: 2\n")

    kept = [store.remove("apps", "shop")]
    displaced.settle()

    assert set(home.tree()) == {*kept, *others, *old[-19:]}
    for number in range(210):
        home.write("apps/shop.yaml", f"port: {number + 1}\n")
        kept.append(store.remove("apps", "shop"))
    displaced.settle()
    assert set(home.tree()) == {*others, *kept[-200:]}


def test_a_broken_file_can_be_removed(home: Home):
    home.write("apps/shop.yaml", b"port: [\xff\n")

    assert home.read(store.remove("apps", "shop")) == b"port: [\xff\n"
    assert store.apps() == {}


def test_a_group_goes_to_the_groups(home: Home):
    home.write("bookmarks/docs.yaml", "links: []\n")

    assert store.remove("bookmarks", "docs").startswith("backups/removed/bookmarks/docs.")


def test_what_is_not_there_cannot_be_removed(home: Home):
    with pytest.raises(NotFound, match='No app "shop"'):
        store.remove("apps", "shop")
    assert not home.path.exists()


def test_of_a_link_only_the_link_goes(home: Home):
    target = Path.home() / "shop.yaml"
    target.write_bytes(b"port: 1\n")
    (home.path / "apps").mkdir(parents=True)
    (home.path / "apps" / "shop.yaml").symlink_to(target)
    aged(target)

    moved = store.remove("apps", "shop")

    assert home.tree() == {moved: b"port: 1\n"}
    assert target.read_bytes() == b"port: 1\n"


@pytest.mark.parametrize("relative", [True, False])
def test_a_link_comes_back_as_the_link_it_was(home: Home, relative: bool):
    target = Path.home() / "shop.yaml"
    target.write_bytes(b"port: 1\n")
    link = home.path / "apps" / "shop.yaml"
    link.parent.mkdir(parents=True)
    text = os.path.relpath(target, link.parent) if relative else str(target)
    link.symlink_to(text)
    aged(target)
    moved = removed.find(store.remove("apps", "shop", if_match=tag(b"port: 1\n")))
    assert (moved.size, (home.path / moved.file).is_symlink()) == (8, True)

    removed.put_back(moved)
    store.patch("apps", "shop", {"port": 2})

    assert (str(link.readlink()), target.read_bytes()) == (text, b"port: 2\n")
    assert removed.listing() == []


def test_a_link_that_changed_is_not_removed_and_none_takes_the_place_of_a_file(home: Home):
    target = Path.home() / "shop.yaml"
    target.write_bytes(b"port: 1\n")
    link = home.path / "apps" / "shop.yaml"
    link.parent.mkdir(parents=True)
    link.symlink_to(target)

    with pytest.raises(Conflict, match="has changed"):
        store.remove("apps", "shop", if_match=tag(b"port: 2\n"))
    assert link.is_symlink()
    moved = removed.find(store.remove("apps", "shop"))
    home.write("apps/shop.yaml", b"port: 3\n")
    with pytest.raises(Conflict, match="exists already"):
        removed.put_back(moved)

    assert link.read_bytes() == b"port: 3\n"
    assert removed.listing() == [moved]


@pytest.mark.parametrize("target", ["nowhere", ".", "shop.yaml"])
def test_a_link_that_names_no_file_can_be_removed(home: Home, target: str):
    (home.path / "apps").mkdir(parents=True)
    (home.path / "apps" / "shop.yaml").symlink_to(target)
    moved = removed.find(store.remove("apps", "shop"))

    assert store.apps() == {}
    removed.put_back(moved)
    assert str((home.path / "apps" / "shop.yaml").readlink()) == target


UNREADABLE = r"shop\S*\.yaml is not valid .* cannot be read"


def test_a_file_too_large_to_be_read_can_be_removed_and_not_changed(home: Home):
    file = home.write("apps/shop.yaml", "port: 1\n")
    os.truncate(file, 2 << 30)

    with pytest.raises(Conflict, match=UNREADABLE) as refused:
        store.patch("apps", "shop", {"port": 2})
    assert refused.value.code == "invalid_file"
    moved = removed.find(store.remove("apps", "shop"))
    with pytest.raises(Conflict, match=UNREADABLE):
        removed.put_back(moved)

    assert (file.exists(), moved.size) == (False, 2 << 30)


@pytest.mark.parametrize("change", [store.put, store.patch])
def test_a_link_that_leads_in_a_circle_is_named_where_it_is_changed(
    home: Home, change: Callable[..., object]
):
    (home.path / "apps").mkdir(parents=True)
    (home.path / "apps" / "shop.yaml").symlink_to("shop.yaml")

    with pytest.raises(Conflict, match=UNREADABLE) as refused:
        change("apps", "shop", {"port": 1})

    assert refused.value.code == "invalid_file"


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
@pytest.mark.parametrize(
    "change",
    [
        lambda: store.remove("apps", "shop"),
        lambda: store.put("apps", "shop", {"port": 1}),
        lambda: store.patch("apps", "shop", {"port": 1}),
        lambda: store.put_text("apps", "shop", "port: 1\n"),
    ],
    ids=["removed", "replaced", "changed", "typed"],
)
def test_what_is_no_file_stays_and_is_named(
    home: Home, make: Callable[[Path], None], change: Callable[[], object]
):
    (home.path / "apps").mkdir(parents=True)
    odd = home.path / "apps" / "shop.yaml"
    make(odd)

    with pytest.raises(Conflict, match=r"apps/shop.yaml is not a regular file.*by hand") as refused:
        change()

    assert refused.value.code == "invalid_file"
    assert odd.exists()


def test_a_yml_behind_a_yaml_goes_with_it(home: Home):
    home.write("apps/shop.yaml", "port: 1\n")
    home.write("apps/shop.yml", "port: 2\n")

    moved = store.remove("apps", "shop")
    displaced.settle()

    assert home.read(moved) == b"port: 1\n"
    assert sorted(home.tree().values()) == [b"port: 1\n", b"port: 2\n"]
    assert store.get("apps", "shop") is None


def test_a_refused_removal_leaves_no_copy_behind(home: Home, monkeypatch: pytest.MonkeyPatch):
    home.write("apps/shop.yaml", "port: 1\n")
    with pytest.raises(Conflict):
        store.remove("apps", "shop", if_match='"other"')
    assert list(home.tree()) == ["apps/shop.yaml"]

    def refuse(change: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(files._Change, "_delete", lambda self, before: refuse(self))
    with pytest.raises(Exception, match="The disk refused the write: Read-only file system"):
        store.remove("apps", "shop")
    assert home.tree() == {"apps/shop.yaml": b"port: 1\n"}
