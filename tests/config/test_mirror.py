"""A row follows its file; the last good value outlives a broken one."""

from __future__ import annotations

import errno
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from config.storage import files, homes, opening, yamlio
from config.storage.mirror import Change, Mirror
from workspace.models import Project

pytestmark = pytest.mark.django_db


@pytest.fixture
def mirror(tmp_path: Path) -> Mirror[Project]:
    return fresh(tmp_path)


def fresh(folder: Path) -> Mirror[Project]:
    """A mirror as a new process has it."""

    def keys() -> Iterator[str]:
        return (path.stem for path in folder.glob("*.yaml"))

    return Mirror(
        model=Project,
        key="slug",
        keys=keys,
        locate=lambda key: folder / f"{key}.yaml",
        within=lambda _key: folder,
    )


def test_a_row_is_made_changed_and_dropped_with_its_file(mirror: Mirror[Project], tmp_path: Path):
    path = tmp_path / "a.yaml"

    path.write_bytes(b"name: one\n")
    assert mirror.refresh("a") == Change("created", "a")
    assert Project.objects.get(slug="a").data == {"name": "one"}
    assert mirror.refresh("a") is None

    path.write_bytes(b"name: two\n")
    assert mirror.refresh("a") == Change("changed", "a")
    assert Project.objects.get(slug="a").data == {"name": "two"}

    path.unlink()
    assert mirror.refresh("a") == Change("removed", "a")
    assert not Project.objects.exists()
    assert mirror.refresh("a") is None


def test_many_files_are_read_with_two_queries(
    mirror: Mirror[Project], tmp_path: Path, django_assert_max_num_queries: Any
):
    for number in range(50):
        path = tmp_path / f"p{number}.yaml"
        path.write_bytes(b"name: %d\n" % number)
        os.utime(path, (1, 1))

    with django_assert_max_num_queries(2 + 2 + bool(homes.home())):  # and a savepoint
        found = mirror.get_many([*(f"p{number}" for number in range(50)), "gone"])

    assert [one.data for one in found.values()] == [{"name": number} for number in range(50)]
    assert {row.slug: row.data for row in Project.objects.all()} == {
        key: one.data for key, one in found.items()
    }
    with django_assert_max_num_queries(0):
        assert mirror.get_many(found) == found


def test_a_broken_file_keeps_its_last_good_value_even_in_a_new_process(
    mirror: Mirror[Project], tmp_path: Path
):
    path = tmp_path / "a.yaml"
    path.write_bytes(b"name: good\n")
    mirror.refresh("a")

    path.write_bytes(b"name: x\nlist: [1\n")

    assert mirror.refresh("a") == Change("broken", "a")
    for seen in (mirror, fresh(tmp_path)):
        found = seen.get("a")
        assert found is not None
        assert (found.data, found.document) == ({"name": "good"}, None)
        assert found.error.startswith("line 3, column 1: ")
        assert found.error_line == 3
    row = Project.objects.get(slug="a")
    assert (row.data, row.error_line) == ({"name": "good"}, 3)


def test_a_file_that_is_no_mapping_or_no_file_is_broken(mirror: Mirror[Project], tmp_path: Path):
    (tmp_path / "a.yaml").write_bytes(b"- 1\n")
    (tmp_path / "b.yaml").mkdir()
    (tmp_path / "c.yaml").write_bytes(b"x" * (2 << 20))

    errors = {key: found.error for key in "abc" if (found := mirror.get(key))}

    assert errors == {
        "a": "line 1, column 1: the file must hold a mapping",
        "b": "cannot be read: not a regular file",
        "c": "cannot be read: larger than 1048576 bytes",
    }


def test_a_file_in_place_of_the_link_that_led_out_to_it_is_read(
    mirror: Mirror[Project], tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
):
    outside, path = tmp_path_factory.mktemp("outside") / "a.yaml", tmp_path / "a.yaml"
    outside.write_bytes(b"name: one\n")
    path.symlink_to(outside)
    assert mirror.refresh("a") == Change("broken", "a")

    outside.replace(path)  # inode, size and time stay

    assert mirror.refresh("a") == Change("changed", "a")
    assert (found := mirror.get("a")) is not None
    assert (found.error, found.data) == ("", {"name": "one"})


def test_a_file_that_could_not_be_read_for_a_moment_is_read_in_the_next(
    mirror: Mirror[Project], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "a.yaml").write_bytes(b"name: one\n")

    def refused(*_: object, **__: object) -> int:
        raise OSError(errno.EMFILE, "Too many open files")

    with monkeypatch.context() as full:
        full.setattr(opening, "regular", refused)
        assert mirror.scan() == [Change("broken", "a")]
        kept = mirror.get("a")
        assert mirror.get("a") is kept

    assert mirror.scan() == [Change("changed", "a")]
    assert (found := mirror.get("a")) is not None
    assert (found.error, found.data) == ("", {"name": "one"})


def test_an_unchanged_file_is_not_parsed_again(
    mirror: Mirror[Project], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "a.yaml"
    path.write_bytes(b"name: one\n")
    mirror.get("a")

    def no_parse(*_: object, **__: object) -> None:
        raise AssertionError("parsed again")

    monkeypatch.setattr(yamlio, "parse", no_parse)
    for _ in range(5):
        mirror.get("a")
    os.utime(path)  # touched, the same bytes
    assert mirror.refresh("a") is None


def test_a_change_that_its_stat_does_not_show_is_seen_a_moment_later(
    mirror: Mirror[Project], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "a.yaml"
    path.write_bytes(b"name: one\n")
    before = path.stat()
    mirror.get("a")
    path.write_bytes(b"name: two\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert files.stat_of(path) == f"{before.st_mtime_ns}:{before.st_size}:{before.st_ino}"

    monkeypatch.setattr("config.storage.mirror._racy", lambda stat: False)  # 50 ms have passed

    found = mirror.get("a")
    assert found is not None
    assert found.data == {"name": "two"}


def test_a_scan_brings_every_row_to_its_file(mirror: Mirror[Project], tmp_path: Path):
    for name in ("kept", "gone", "edited"):
        (tmp_path / f"{name}.yaml").write_bytes(b"name: x\n")
    mirror.scan()
    (tmp_path / "gone.yaml").unlink()
    (tmp_path / "edited.yaml").write_bytes(b"name: y\n")
    (tmp_path / "new.yaml").write_bytes(b"name: z\n")

    changes = mirror.scan()

    assert changes == [
        Change("changed", "edited"),
        Change("removed", "gone"),
        Change("created", "new"),
    ]
    assert mirror.scan() == []


def test_looking_at_nothing_writes_nothing(
    mirror: Mirror[Project], django_assert_num_queries: object
):
    assert mirror.get("absent") is None
    assert not Project.objects.exists()


def with_grace(folder: Path) -> Mirror[Project]:
    mirror = fresh(folder)
    mirror.grace_s = 0.5
    return mirror


def test_what_a_file_means_can_be_told_by_its_reader(tmp_path: Path):
    def read(key: str, data: bytes) -> tuple[dict[str, Any], yamlio.Document]:
        document = yamlio.parse(data, aliases=False)
        if "name" not in document.value:
            raise yamlio.YamlError(f"{key} has no name", 1, 1)
        return document.texts(), document

    mirror = Mirror(
        model=Project,
        key="slug",
        keys=list,
        locate=lambda k: tmp_path / f"{k}.yaml",
        within=lambda _key: tmp_path,
        read=read,
    )
    (tmp_path / "a.yaml").write_bytes(b"name: 012\n")
    (tmp_path / "b.yaml").write_bytes(b"{}\n")
    (tmp_path / "c.yaml").write_bytes(b"name: &n 1\n")

    a, b, c = (mirror.get(key) for key in "abc")

    assert (a and a.data) == {"name": "012"}
    assert (b and b.error) == "line 1, column 1: b has no name"
    assert (c and c.error) == "line 1, column 7: anchors are not supported in this file"


@pytest.mark.parametrize("half", [b"name: [\n", b""])
def test_a_save_that_is_half_done_is_waited_for(tmp_path: Path, half: bytes):
    path = tmp_path / "a.yaml"
    path.write_bytes(b"name: one\n")
    mirror = with_grace(tmp_path)
    mirror.get("a")
    path.write_bytes(half)

    finish = threading.Timer(0.1, path.write_bytes, [b"name: [two]\n"])
    finish.start()
    found = mirror.get("a")
    finish.join()

    assert found is not None
    assert (found.data, found.error) == ({"name": ["two"]}, "")


def test_many_files_that_broke_at_once_are_waited_for_once(tmp_path: Path):
    paths = [tmp_path / f"{number}.yaml" for number in range(6)]
    mirror = with_grace(tmp_path)
    for path in paths:
        path.write_bytes(b"name: one\n")
    mirror.scan()
    for path in paths:
        path.write_bytes(b"name: [\n")
        ahead = time.time() + 3600
        os.utime(path, (ahead, ahead))

    start = time.monotonic()
    changes = mirror.scan()

    assert [change.kind for change in changes] == ["broken"] * 6
    assert time.monotonic() - start < 3 * mirror.grace_s


def test_a_file_that_stays_broken_counts_as_broken_within_the_grace(tmp_path: Path):
    path = tmp_path / "a.yaml"
    path.write_bytes(b"name: one\n")
    mirror = with_grace(tmp_path)
    mirror.get("a")

    path.write_bytes(b"name: [\n")
    ahead = time.time() + 3600
    os.utime(path, (ahead, ahead))  # a clock that is wrong must not hold anybody up
    start = time.monotonic()
    found = mirror.get("a")
    first = time.monotonic() - start
    again = mirror.get("a")

    assert found is not None
    assert found.error.startswith("line 2, column 1: ")
    assert (found.data, again) == ({"name": "one"}, found)
    assert 0.4 < first < 1.5
