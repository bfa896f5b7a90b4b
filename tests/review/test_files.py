"""Review files are found by their listed names, read as text, and never half."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from config.storage.paths import UnsafePath
from review import files
from review.files import reading
from review.models import FileRow
from tests.review.places import aged, put

pytestmark = pytest.mark.django_db
SHA = "0123456789abcdef0123456789abcdef01234567"
FILE = ("pay", "reviews", "api", f"{SHA}.yaml")


# -- names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "parts",
    [
        ("..", "project.yaml"), (".git", "project.yaml"), ("a/b", "project.yaml"),
        ("pay", "other.yaml"), ("pay",), ("pay", "reviews", "api"), ("", "project.yaml"),
        ("pay", "reviews", "..", f"{SHA}.yaml"), ("pay", "reviews", ".", f"{SHA}.yaml"),
        ("pay", "reviews", "a/b", f"{SHA}.yaml"), ("pay", "chats", "api", f"{SHA}.yaml"),
        ("pay", "reviews", "api", "../../x.yaml"), ("pay", "reviews", "api", "abc12.yaml"),
        ("pay", "reviews", "api", f"{SHA}.yaml\n"), ("pay\n", "project.yaml"),
        ("pay", "reviews", "api\0", f"{SHA}.yaml"), ("pay", "prs", "api", f"{SHA.upper()}.yaml"),
        ("p" * 129, "project.yaml"), ("pay", "prs", "r" * 65, f"{SHA}.yaml"),
        ("pay", "prs", "api", "a" * 65 + ".yaml"),
    ],
)  # fmt: skip
def test_no_other_form_of_name_becomes_a_path(home: Path, parts: tuple[str, ...]):
    with pytest.raises(UnsafePath):
        files.path(*parts)


def test_names_are_full_and_short_shas_and_nothing_else(home: Path):
    folder = home / "pay" / "reviews" / "api"
    for name in (SHA, "1234567", "12e4567", "0" * 64, "abc12", "ABCDEF1", "notes", f"{SHA}.bak"):
        put(folder / f"{name}.yaml", b"")
    put(folder / f"{SHA}.yml", b"")
    put(folder / ".svc-tmp-1-2", b"")

    assert files.names("pay", "reviews", "api") == ["0" * 64, SHA, "1234567", "12e4567"]
    assert files.names("pay", "prs", "api") == []
    assert files.names("pay", "reviews", "..") == []
    assert files.names("../pay", "reviews", "api") == []


def test_the_index_lists_every_file_of_every_project_and_no_other(home: Path):
    put(home / "pay" / "reviews" / "api" / f"{SHA}.yaml", b"threads: []\n")
    put(home / "pay" / "prs" / "api" / "1234567.yaml", b"title: x\n")
    put(home / "pay" / "chats" / "a.yaml", b"x: 1\n")
    put(home / "loose" / "reviews" / "api" / f"{SHA}.yaml", b"threads: []\n")
    put(home / ".git" / "project.yaml", b"title: x\n")
    put(home / "project.yaml", b"title: x\n")

    files.MIRROR.scan()

    keys = set(FileRow.objects.values_list("key", flat=True))
    assert keys == {
        "pay/project.yaml", f"pay/reviews/api/{SHA}.yaml", "pay/prs/api/1234567.yaml",
    }  # fmt: skip


# -- reading -------------------------------------------------------------------------------------


def test_every_scalar_is_read_as_it_is_written(home: Path):
    put(files.path(*FILE), b"a: 0123456\nb: [12e5678, 1:30, no]\nc: ~\nd: '~'\n0777: x\n")

    found = files.read(*FILE)

    assert found is not None
    assert found.data == {
        "a": "0123456", "b": ["12e5678", "1:30", "no"], "c": None, "d": "~", "0777": "x",
    }  # fmt: skip


def test_a_file_that_is_not_there_is_none(home: Path):
    assert files.read(*FILE) is None
    assert files.read("other", "project.yaml") is None


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"threads: [\n", "line 2, column 1: "),
        (b"<<<<<<< HEAD\nthreads: []\n=======\n", "line 2, column 8: "),
        (b"a: 1\na: 2\n", 'line 2, column 1: the key "a" is given twice'),
        (b"a: &x 1\n", "line 1, column 4: anchors are not supported"),
        (b"- 1\n", "line 1, column 1: the file must hold a mapping"),
        (b"threads: {}\n", 'line 1, column 10: "threads" must be a list'),
        (b"threads:\n- comments: x\n", 'line 2, column 13: "comments" must be a list'),
        (b"[" * 100_000, "line 1, column 65: nested deeper than 64 levels"),
        (b"#" * (9 << 20), "cannot be read: larger than 8388608 bytes"),
    ],
)
def test_a_broken_file_says_where_and_keeps_what_it_said_last(home: Path, data: bytes, error: str):
    good = put(files.path(*FILE), b"threads: [{id: t-1}]\n")
    files.read(*FILE)
    aged(put(good, data))

    found = files.read(*FILE)

    assert found is not None
    assert found.error.startswith(error)
    assert found.data == {"threads": [{"id": "t-1"}]}


def test_a_file_saved_in_two_steps_is_not_called_broken(home: Path):
    path = put(files.path(*FILE), b"threads: []\n")
    files.read(*FILE)
    path.write_bytes(b"threads: [")

    finish = threading.Timer(0.1, path.write_bytes, [b"threads: [{id: t-2}]\n"])
    finish.start()
    found = files.read(*FILE)
    finish.join()

    assert found is not None
    assert (found.error, found.data) == ("", {"threads": [{"id": "t-2"}]})


def test_five_thousand_threads_are_read(home: Path):
    comment = b'{id: "c-%08d", author: a, body: b, created_at: "2026-11-20T10:00:00Z"}'
    thread = b'- {id: "t-%08d", path: a, line: 1, resolved: false, anchor: {commit: a, blob: b, '
    thread += b"text: c, before: d, after: e}, comments: [" + comment + b", " + comment + b"]}\n"
    data = b"threads:\n" + b"".join(thread % (n, n, n + 5000) for n in range(5000))
    put(files.path(*FILE), data)

    found = files.read(*FILE)

    assert found is not None
    assert found.error == ""
    assert len(found.data["threads"]) == 5000


def test_aliases_among_the_keys_of_others_do_not_break_a_project(home: Path):
    put(home / "pay" / "project.yaml", b"x: &a {b: 1}\ny: *a\nrepos: []\n")

    found = files.read("pay", "project.yaml")

    assert found is not None
    assert (found.error, found.data["y"]) == ("", {"b": "1"})


# -- stamp ---------------------------------------------------------------------------------------


def test_the_stamp_of_a_repo_follows_its_files_and_no_others(home: Path):
    stamps = [files.stamp("pay", "api")]

    def changed(path: Path, data: bytes) -> bool:
        put(path, data)
        stamps.append(files.stamp("pay", "api"))
        return stamps[-1] != stamps[-2]

    assert changed(files.path(*FILE), b"threads: []\n")
    assert changed(home / "pay" / "prs" / "api" / f"{SHA}.yaml", b"title: x\n")
    assert changed(home / "pay" / "project.yaml", b"title: Other\n")
    assert not changed(home / "pay" / "reviews" / "web" / f"{SHA}.yaml", b"threads: []\n")
    assert not changed(home / "pay" / "reviews" / "api" / "notes.yaml", b"threads: []\n")
    files.path(*FILE).unlink()
    assert files.stamp("pay", "api") != stamps[-1]


def test_the_stamp_sees_a_change_that_the_stat_hides(home: Path):
    path = put(files.path(*FILE), b"a: 1\n")
    before, stat = files.stamp("pay", "api"), path.stat()

    path.write_bytes(b"a: 2\n")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    assert files.stamp("pay", "api") != before


def test_the_stamp_does_not_change_when_a_file_grows_old(home: Path, monkeypatch):
    put(files.path(*FILE), b"a: 1\n")
    before = files.stamp("pay", "api")

    monkeypatch.setattr(reading, "YOUNG_S", 0.0)

    assert files.stamp("pay", "api") == before
