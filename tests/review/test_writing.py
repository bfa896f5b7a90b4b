"""A change of a review file is one operation, refused with a sentence, and loses nothing."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.db import connection

from config.errors import Conflict, Invalid, NotFound, SvcError
from config.storage import displaced, syscalls, yamlio
from review import files, projects
from tests.review.places import aged, put

pytestmark = pytest.mark.django_db
SHA = "0123456789abcdef0123456789abcdef01234567"
FILE = ("pay", "reviews", "api", f"{SHA}.yaml")
NAME = f"reviews/api/{SHA}.yaml"
BROKEN = b"threads: [\n"


def titled(title: str):
    """The edit that sets `title`."""
    return lambda data: yamlio.set_entry(data or b"", ("title",), title)


def backups() -> list[bytes]:
    folder = files.state_dir() / "backups" / "pay" / "reviews" / "api" / f"{SHA}.yaml"
    return [path.read_bytes() for path in sorted(folder.iterdir())] if folder.is_dir() else []


def tree(folder: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.fixture
def group_readable() -> Iterator[None]:
    before = os.umask(0o027)
    yield
    os.umask(before)


def test_a_new_file_gets_its_folders_and_the_modes_of_the_user(home: Path, group_readable: None):
    files.change(FILE, lambda data: b"threads: []\n" if data is None else data)

    path = files.path(*FILE)
    assert path.read_bytes() == b"threads: []\n"
    assert path.stat().st_mode & 0o777 == 0o640
    assert path.parent.stat().st_mode & 0o777 == 0o750


def test_a_refused_first_write_leaves_no_folder(home: Path):
    def refused(data: bytes | None) -> bytes:
        raise Invalid("no")

    with pytest.raises(Invalid):
        files.change(FILE, refused)
    files.change(FILE, lambda data: None)

    assert sorted(path.name for path in (home / "pay").iterdir()) == ["project.yaml"]


def etag_of(home: Path) -> str:
    found = files.read(*FILE)
    return found.etag if found else ""


def test_what_the_process_wrote_arrives_once_and_takes_what_was_before_it_along(home: Path):
    path = files.path(*FILE)
    assert not files.is_own_write(path, "")

    files.change(FILE, titled("x"))
    first = etag_of(home)
    files.change(FILE, titled("y"))
    second = etag_of(home)
    files.change(FILE, lambda data: None)

    assert files.is_own_write(path, second)
    assert not files.is_own_write(path, first)
    assert files.is_own_write(path, "")
    assert not files.is_own_write(path, "")


def test_what_arrived_before_something_else_did_is_not_expected_any_more(
    home: Path, monkeypatch: pytest.MonkeyPatch
):
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    path = files.path(*FILE)
    files.change(FILE, titled("x"))
    first = etag_of(home)
    now += 1.0
    files.change(FILE, titled("y"))

    assert not files.is_own_write(path, "by hand")
    assert not files.is_own_write(path, first)
    assert files.is_own_write(path, etag_of(home)), "it may still have to come"


# -- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "where"),
    [
        (BROKEN, "line 2, column 1"),
        (b"a: 1\na: 2\n", "line 2, column 1"),
        (b"<<<<<<< HEAD\nthreads: []\n=======\nthreads: []\n", "line 2, column 8"),
        (b"[" * 100_000, "line 1, column 65"),
        (b"a: &a [x]\nb: [*a, *a]\n", "line 1, column 4"),
        (b"threads: {}\n", "line 1, column 10"),
        (b"- 1\n", "line 1, column 1"),
    ],
)
def test_a_broken_file_refuses_every_write_and_stays_as_it_is(home: Path, data: bytes, where: str):
    path = aged(put(files.path(*FILE), data))

    with pytest.raises(Conflict) as caught:
        files.change(FILE, lambda _: b"")

    assert caught.value.text == (
        f"{NAME} is not valid YAML ({where}). Fix the file by hand; nothing was changed."
    )
    assert caught.value.code == "invalid_file"
    assert path.read_bytes() == data


def test_an_edit_that_cannot_read_the_file_is_told_the_same_way(home: Path):
    def unread(data: bytes | None) -> bytes:
        raise yamlio.YamlError("comments of comments", 12, 3)

    aged(put(files.path(*FILE), b"threads: []\n"))

    with pytest.raises(Conflict, match=r"is not valid YAML \(line 12, column 3\)\. Fix the file"):
        files.change(FILE, unread)


@pytest.mark.parametrize(
    ("version", "refused"), [("2", True), ('"2"', True), ("1", False), ("[9]", False), ("x", False)]
)
def test_a_file_of_a_newer_version_is_read_and_not_written(home: Path, version: str, refused: bool):
    data = f"version: {version}\ntitle: old\n".encode()
    path = put(files.path(*FILE), data)

    if refused:
        with pytest.raises(Conflict) as caught:
            files.change(FILE, titled("new"))
        assert caught.value.text == f"{NAME} was written by a newer version; nothing was changed."
        assert caught.value.code == "newer_file"
        assert path.read_bytes() == data
    else:
        files.change(FILE, titled("new"))

    found = files.read(*FILE)
    assert found is not None
    assert found.data["title"] == ("old" if refused else "new")


def test_a_broken_project_file_refuses_writes_below_it(home: Path):
    files.read("pay", "project.yaml")
    aged(put(home / "pay" / "project.yaml", b"title: [\n"))

    with pytest.raises(Conflict) as caught:
        files.change(FILE, titled("x"))

    assert caught.value.text == (
        "project.yaml is not valid YAML (line 2, column 1). "
        "Fix the file by hand; nothing was changed."
    )
    assert not files.path(*FILE).exists()


def test_a_project_file_that_cannot_be_read_refuses_writes_below_it(home: Path):
    put(home / "pay" / "project.yaml", b"#" * (9 << 20))

    with pytest.raises(Conflict) as caught:
        files.change(FILE, titled("x"))

    assert caught.value.text == (
        "project.yaml cannot be read: larger than 8388608 bytes; nothing was changed."
    )
    assert not files.path(*FILE).exists()


def test_nothing_is_written_below_what_is_no_project(home: Path):
    (home / "loose").mkdir()

    with pytest.raises(NotFound):
        files.change(("loose", *FILE[1:]), titled("x"))

    assert list((home / "loose").iterdir()) == []


def test_a_disk_that_refuses_is_told_in_one_sentence(home: Path, monkeypatch: pytest.MonkeyPatch):
    path = put(files.path(*FILE), b"title: old\n")

    def full(fd: int, data: memoryview) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(syscalls, "write", full)
    with pytest.raises(SvcError) as caught:
        files.change(FILE, titled("new"))

    assert caught.value.text == f"Cannot write {NAME}: No space left on device"
    assert (caught.value.status, caught.value.code) == (500, "internal")
    assert tree(path.parent) == {str(path): b"title: old\n"}


def test_a_file_where_a_folder_should_be_is_told_in_one_sentence(home: Path):
    put(home / "pay" / "reviews", b"")

    with pytest.raises(SvcError) as caught:
        files.change(FILE, titled("new"))

    assert caught.value.text == f"Cannot write {NAME}: Not a directory"


def test_a_file_that_never_holds_still_is_given_up(home: Path):
    path = put(files.path(*FILE), b"n: 0\n")
    rounds = iter(range(1, 100))

    def overtaken(data: bytes | None) -> bytes:
        put(path, b"n: %d\n" % next(rounds))
        return b"n: mine\n"

    with pytest.raises(Conflict) as caught:
        files.change(FILE, overtaken)

    assert (caught.value.text, caught.value.code) == (
        "The file keeps changing; try again", "changed",
    )  # fmt: skip
    assert path.read_bytes() != b"n: mine\n"


# -- others write too ----------------------------------------------------------------------------


def test_a_half_written_file_is_waited_for(home: Path):
    path = put(files.path(*FILE), BROKEN)

    finish = threading.Timer(0.1, path.write_bytes, [b"threads: [] # by hand\n"])
    finish.start()
    files.change(FILE, titled("x"))
    finish.join()

    assert path.read_bytes() == b"threads: [] # by hand\ntitle: x\n"


def test_an_editors_save_that_slips_in_is_kept(home: Path):
    path = put(files.path(*FILE), b"a: 1\n")
    saved: list[bytes] = []

    def edit(data: bytes | None) -> bytes:
        if not saved:
            saved.append(b"a: 1\nb: by hand\n")
            put(path.with_name("new"), saved[0]).replace(path)
        return yamlio.set_entry(data or b"", ("title",), "x")

    files.change(FILE, edit)

    assert path.read_bytes() == b"a: 1\nb: by hand\ntitle: x\n"


def test_a_symlinked_file_is_written_through(home: Path, tmp_path: Path):
    link = files.path(*FILE)
    target = put(link.parents[2] / "elsewhere" / "r.yaml", b"a: 1\n")
    link.parent.mkdir(parents=True)
    link.symlink_to(target)

    files.change(FILE, titled("x"))

    assert link.is_symlink()
    assert target.read_bytes() == b"a: 1\ntitle: x\n"
    found = files.read(*FILE)
    assert found is not None
    assert found.data["title"] == "x"


@pytest.mark.django_db(transaction=True)  # every thread has a connection of its own
def test_first_writes_at_once_all_arrive(home: Path):
    def write(number: int) -> None:
        files.change(FILE, lambda data: yamlio.set_entry(data or b"", (f"k{number}",), number))
        connection.close()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(16)))
    displaced.settle()

    found = yamlio.parse(files.path(*FILE).read_bytes()).value
    assert found == {f"k{number}": number for number in range(16)}


# -- backups -------------------------------------------------------------------------------------


def test_the_text_before_is_kept_when_asked_for(home: Path):
    put(files.path(*FILE), b"a: 1\n")

    files.change(FILE, titled("x"))
    assert backups() == []
    files.change(FILE, lambda data: data, backup=True)
    assert backups() == []
    files.change(FILE, lambda data: None, backup=True)

    assert backups() == [b"a: 1\ntitle: x\n"]
    assert not files.path(*FILE).exists()


def test_the_last_twenty_texts_are_kept_and_none_twice_in_a_row(home: Path):
    for number in range(25):
        for _ in range(2):
            files.keep(FILE, b"n: %d\n" % number)

    assert backups() == [b"n: %d\n" % number for number in range(5, 25)]


def test_without_a_backup_there_is_no_change(home: Path):
    put(files.path(*FILE), b"a: 1\n")
    put(files.state_dir() / "backups", b"in the way")

    with pytest.raises(SvcError, match=f"^Cannot write {NAME}: "):
        files.change(FILE, lambda data: None, backup=True)

    assert files.path(*FILE).read_bytes() == b"a: 1\n"


THREADS = b"# mine\nthreads:\n- id: t-1\n  comments: [{id: c-1}, {id: 0123}]\n- {id: t-2}\n"


@pytest.mark.parametrize(
    "after",
    [
        b"threads: []\n",
        THREADS.replace(b"{id: c-1}, ", b""),
        THREADS.replace(b", {id: 0123}", b""),
        THREADS.replace(b"- {id: t-2}\n", b""),
        None,
    ],
)
def test_what_a_hand_edit_takes_away_is_kept(home: Path, after: bytes | None):
    path = put(files.path(*FILE), THREADS)
    files.read(*FILE)

    if after is None:
        path.unlink()
    else:
        path.write_bytes(after)
    files.read(*FILE)

    assert backups() == [THREADS]


def test_a_file_that_breaks_and_loses_ids_when_it_is_mended_is_kept(home: Path):
    path = put(files.path(*FILE), THREADS)
    files.read(*FILE)
    aged(put(path, BROKEN))
    files.read(*FILE)

    path.write_bytes(b"threads: []\n")
    files.read(*FILE)

    assert backups() == [THREADS]


def test_a_hand_edit_that_takes_no_id_away_is_not_kept(home: Path):
    path = put(files.path(*FILE), THREADS)
    files.read(*FILE)
    path.write_bytes(THREADS.replace(b"mine", b"yours") + b"- id: t-3\n")
    files.read(*FILE)

    assert backups() == []


def test_a_read_goes_on_when_no_backup_can_be_made(home: Path):
    path = put(files.path(*FILE), THREADS)
    files.read(*FILE)
    put(files.state_dir() / "backups", b"in the way")
    path.write_bytes(b"threads: []\n")

    found = files.read(*FILE)

    assert found is not None
    assert found.data == {"threads": []}


def test_reading_writes_nothing_into_the_projects(home: Path):
    put(files.path(*FILE), THREADS)
    put(files.path("pay", "prs", "api", f"{SHA}.yaml"), BROKEN)
    before = tree(home)

    projects.all()
    files.read(*FILE)
    files.read("pay", "prs", "api", f"{SHA}.yaml")
    files.stamp("pay", "api")
    files.MIRROR.scan()

    assert tree(home) == before
