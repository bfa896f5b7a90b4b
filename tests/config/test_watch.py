"""A change in a watched folder is told, once, also where notifications fail."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from config.storage import files, inotify, watch
from config.storage.inotify import Inotify
from config.storage.notify import Stepping, Wake
from config.storage.watch import Watcher

Told = queue.Queue[set[Path]]


@pytest.fixture(params=[Inotify, Stepping], autouse=True)
def _by(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of the two ways a system may tell."""
    monkeypatch.setattr(watch, "notify", lambda folders: closing(request.param(folders)))


@pytest.fixture
def told() -> Told:
    return queue.Queue()


@pytest.fixture
def watched(tmp_path: Path, told: Told) -> Iterator[Watcher]:
    """Watches tmp_path and every folder in it."""
    watcher = Watcher(lambda: below(tmp_path), told.put, poll_s=30)
    watcher.start()
    yield watcher
    watcher.stop()


def below(root: Path) -> list[Path]:
    return [root, *(path for path in root.iterdir() if path.is_dir())]


def seen(told: Told, path: Path, *, within: float = 30.0) -> float:
    """Seconds until `path` was told."""
    start = time.monotonic()
    while True:
        rest = within - (time.monotonic() - start)
        if path in told.get(timeout=max(rest, 0.001)):
            return time.monotonic() - start


def renamed(path: Path, data: bytes) -> None:
    draft = path.with_name(".draft")
    draft.write_bytes(data)
    draft.replace(path)


@pytest.mark.usefixtures("watched")
@pytest.mark.parametrize("save", [Path.write_bytes, files.write, renamed])
def test_a_save_is_told_however_it_is_made(
    tmp_path: Path, told: Told, save: Callable[[Path, bytes], object]
):
    for data in (b"1", b"2"):
        save(tmp_path / "a.yaml", data)
        assert seen(told, tmp_path / "a.yaml") < 1

    (tmp_path / "a.yaml").unlink()
    seen(told, tmp_path / "a.yaml")


@pytest.mark.usefixtures("watched")
def test_a_new_folder_is_watched_with_what_is_already_in_it(tmp_path: Path, told: Told):
    (tmp_path / "new").mkdir()
    (tmp_path / "new/a.yaml").write_bytes(b"1")
    seen(told, tmp_path / "new/a.yaml")

    (tmp_path / "new/b.yaml").write_bytes(b"1")
    seen(told, tmp_path / "new/b.yaml")


@pytest.mark.usefixtures("watched")
def test_temporary_files_and_what_lies_deeper_are_not_told(tmp_path: Path, told: Told):
    (tmp_path / "sub/deep").mkdir(parents=True)
    seen(told, tmp_path / "sub/deep")
    (tmp_path / "sub/deep/x").write_bytes(b"1")
    (tmp_path / ".svc-tmp-1-a").write_bytes(b"1")
    (tmp_path / "last").write_bytes(b"1")

    paths: set[Path] = set()
    while tmp_path / "last" not in paths:
        paths |= told.get(timeout=5)

    assert not {p.name for p in paths} & {"x", ".svc-tmp-1-a"}


def test_a_rebuild_looks_at_the_folders_again(tmp_path: Path, told: Told):
    inner = tmp_path / "inner"
    folders: list[Path] = []
    inner.mkdir()
    watcher = Watcher(lambda: folders, told.put, poll_s=30)
    watcher.start()
    try:
        folders.append(inner)
        (inner / "a").write_bytes(b"1")
        watcher.rebuild()
        seen(told, inner / "a")
    finally:
        watcher.stop()


@pytest.mark.usefixtures("watched")
@pytest.mark.parametrize("_by", [Inotify], indirect=True)
def test_what_comes_among_many_is_looked_at_alone(
    tmp_path: Path, told: Told, monkeypatch: pytest.MonkeyPatch
):
    looked: list[Path] = []
    look = vars(watch)["_look"]

    def counted(folder: Path) -> object:
        looked.append(folder)
        return look(folder)

    monkeypatch.setattr(watch, "_look", counted)

    for number in range(3):
        (tmp_path / f"{number}").mkdir()
        (tmp_path / f"{number}/a").write_bytes(b"1")
        seen(told, tmp_path / f"{number}/a")
    (tmp_path / "2/a").unlink()
    (tmp_path / "2").rmdir()
    seen(told, tmp_path / "2")
    (tmp_path / "1/b").write_bytes(b"1")
    seen(told, tmp_path / "1/b")

    assert set(looked) == {tmp_path / "0", tmp_path / "1", tmp_path / "2"}
    # A later one twice, if it is found before its event is read; none because another came.
    assert looked.count(tmp_path / "0") == 1


def test_a_folder_made_just_before_its_parent_is_watched_is_found(tmp_path: Path, told: Told):
    new, late = tmp_path / "new", tmp_path / "new/late"

    def folders() -> list[Path]:
        found = [tmp_path, *(path for path in (new, late) if path.is_dir())]
        if new in found and late not in found:
            late.mkdir()
            (late / "a").write_bytes(b"1")
        return found

    watcher = Watcher(folders, told.put, poll_s=30)
    watcher.start()
    try:
        new.mkdir()
        seen(told, late / "a")
    finally:
        watcher.stop()


def test_the_folders_are_asked_for_only_when_one_came_or_went(tmp_path: Path, told: Told):
    (tmp_path / "inner").mkdir()
    asked: list[list[Path]] = []

    def folders() -> list[Path]:
        asked.append(below(tmp_path))
        return asked[-1]

    watcher = Watcher(folders, told.put, poll_s=30)
    watcher.start()
    try:
        before = len(asked)
        for number in range(3):
            (tmp_path / f"inner/{number}").write_bytes(b"1")
            seen(told, tmp_path / f"inner/{number}")
        assert len(asked) == before

        (tmp_path / "other").mkdir()
        (tmp_path / "other/a").write_bytes(b"1")
        seen(told, tmp_path / "other/a")
        assert len(asked) > before
    finally:
        watcher.stop()


def test_many_folders_that_come_take_no_more_than_a_share_of_the_time(tmp_path: Path, told: Told):
    spent: list[float] = []

    def slow() -> list[Path]:
        found, began = below(tmp_path), time.thread_time()
        while time.thread_time() - began < 0.01:
            pass
        spent.append(time.thread_time() - began)
        return found

    watcher = Watcher(slow, told.put, poll_s=30)
    watcher.start()
    try:
        before, began = len(spent), time.monotonic()
        for number in range(40):
            (tmp_path / f"{number}").mkdir()
            seen(told, tmp_path / f"{number}")
        (tmp_path / "39/a").write_bytes(b"1")
        seen(told, tmp_path / "39/a")
        took = time.monotonic() - began
        assert sum(spent[before:]) < took * 0.25 + 0.05
    finally:
        watcher.stop()


def test_what_cannot_be_watched_keeps_nothing_else_from_it(tmp_path: Path, told: Told):
    wheel, file, inner = tmp_path / "wheel", tmp_path / "file", tmp_path / "inner"
    wheel.symlink_to(wheel)
    file.touch()
    inner.mkdir()
    watcher = Watcher(lambda: [wheel, file, inner, tmp_path / "none"], told.put, poll_s=30)
    watcher.start()
    try:
        for number in range(2):
            (inner / f"{number}").write_bytes(b"1")
            seen(told, inner / f"{number}")
    finally:
        watcher.stop()


def test_a_folder_that_goes_before_it_is_watched_is_no_failure(
    tmp_path: Path, told: Told, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    left, gone = tmp_path / "left", tmp_path / "gone"
    left.mkdir()
    gone.mkdir()
    real = vars(watch)["notify"]

    def late(folders: list[Path]) -> object:
        if gone.exists():
            gone.rmdir()
        return real(folders)

    monkeypatch.setattr(watch, "notify", late)
    watcher = Watcher(lambda: [left, gone], told.put, poll_s=30)
    watcher.start()
    try:
        (left / "a").write_bytes(b"1")
        seen(told, left / "a")
    finally:
        watcher.stop()

    assert caplog.text == ""


def test_without_notifications_a_poll_each_second_finds_every_change(
    tmp_path: Path,
    told: Told,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
):
    def broken(*_: object) -> None:
        raise OSError("no inotify instances left")

    monkeypatch.setattr(watch, "notify", broken)
    watcher = Watcher(lambda: [tmp_path], told.put)
    began = time.monotonic()
    watcher.start()
    try:
        for number in range(3):
            (tmp_path / f"{number}").write_bytes(b"1")
            seen(told, tmp_path / f"{number}")
    finally:
        watcher.stop()

    assert time.monotonic() - began < 4.5  # three polls, and not one of 5 s
    assert caplog.text.count("no inotify instances left\n") == 2  # said once, and its traceback


def test_the_poll_follows_symlinked_files(tmp_path: Path, told: Told):
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.write_bytes(b"1")
    (inside / "link").symlink_to(outside)
    watcher = Watcher(lambda: [inside], told.put, poll_s=0.1)
    watcher.start()
    try:
        outside.write_bytes(b"longer")
        seen(told, inside / "link")
    finally:
        watcher.stop()


def test_all_that_is_watched_may_go_away_and_come_back(tmp_path: Path, told: Told, monkeypatch):
    monkeypatch.setattr(watch, "BLIND_S", 0.05)
    root, away, asked = tmp_path / "root", tmp_path / "away", threading.Event()
    root.mkdir()

    def folders() -> list[Path]:
        try:
            return below(root)
        except FileNotFoundError:
            asked.set()
            raise

    watcher = Watcher(folders, told.put, poll_s=30)
    watcher.start()
    try:
        root.rename(away)
        assert asked.wait(30)
        (away / "a.yaml").write_bytes(b"1")
        away.rename(root)

        seen(told, root / "a.yaml")
    finally:
        watcher.stop()


def test_a_handler_that_fails_does_not_end_the_watching(tmp_path: Path, told: Told):
    def handler(paths: set[Path]) -> None:
        told.put(paths)
        raise ValueError("a defect")

    watcher = Watcher(lambda: [tmp_path], handler, poll_s=30)
    watcher.start()
    try:
        for name in ("a", "b"):
            (tmp_path / name).write_bytes(b"1")
            seen(told, tmp_path / name)
    finally:
        watcher.stop()


def test_starting_and_stopping_leaks_no_thread(tmp_path: Path):
    before = set(threading.enumerate())
    for _ in range(10):
        watcher = Watcher(lambda: [tmp_path], lambda paths: None)
        watcher.start()
        watcher.stop()

    new = set(threading.enumerate()) - before
    assert [thread.name for thread in new if thread.name == "watcher"] == []


def test_a_folder_that_is_replaced_is_watched_on(tmp_path: Path, told: Told):
    inner = tmp_path / "inner"
    inner.mkdir()
    watcher = Watcher(lambda: [inner], told.put, poll_s=0.5)
    watcher.start()
    try:
        inner.rename(tmp_path / "other")
        inner.mkdir()
        (inner / "a").write_bytes(b"1")
        seen(told, inner / "a")
    finally:
        watcher.stop()


@pytest.mark.parametrize("_by", [Inotify], indirect=True)
def test_what_lies_in_a_folder_that_is_replaced_is_watched_on(tmp_path: Path, told: Told):
    outer, inner = tmp_path / "outer", tmp_path / "outer/inner"
    inner.mkdir(parents=True)
    (tmp_path / "new/inner").mkdir(parents=True)
    watcher = Watcher(lambda: [outer, inner], told.put, poll_s=30)
    watcher.start()
    try:
        outer.rename(tmp_path / "old")
        (tmp_path / "new").rename(outer)
        (inner / "a").write_bytes(b"1")
        seen(told, inner / "a")
        (inner / "b").write_bytes(b"1")
        seen(told, inner / "b")
    finally:
        watcher.stop()


@pytest.mark.parametrize("_by", [Inotify], indirect=True)
def test_what_went_with_its_folder_is_told_though_the_folder_is_asked_for_on(
    tmp_path: Path, told: Told
):
    outer, inner = tmp_path / "outer", tmp_path / "outer/inner"
    inner.mkdir(parents=True)
    (outer / "a").touch()
    (inner / "b").touch()
    watcher = Watcher(lambda: [outer, inner], told.put, poll_s=30)
    watcher.start()
    try:
        outer.rename(tmp_path / "old")
        gone: set[Path] = set()
        while not gone >= {outer / "a", inner / "b"}:
            gone |= told.get(timeout=5)
    finally:
        watcher.stop()


def test_what_the_system_could_not_keep_is_found_by_a_look(tmp_path: Path, told: Told):
    most = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    first, other, last = (tmp_path / name for name in ("first", "other", "last"))
    other.touch()
    busy = threading.Event()

    def handler(paths: set[Path]) -> None:
        told.put(paths)
        busy.wait(20)

    watcher = Watcher(lambda: [tmp_path], handler, poll_s=30)
    watcher.start()
    try:
        first.touch()
        seen(told, first)
        for number in range(most + 100):
            os.utime((first, other)[number % 2])
        last.touch()
        busy.set()
        seen(told, last)
    finally:
        busy.set()
        watcher.stop()


def test_two_names_of_one_folder_are_both_told(tmp_path: Path, told: Told):
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    watcher = Watcher(lambda: [real, link], told.put, poll_s=0.5)
    watcher.start()
    try:
        (real / "a").write_bytes(b"1")
        paths: set[Path] = set()
        while not paths >= {real / "a", link / "a"}:
            paths |= told.get(timeout=5)
    finally:
        watcher.stop()


def test_a_stream_of_changes_is_looked_at_a_few_times_and_not_for_each(tmp_path, monkeypatch):
    if not inotify.KNOWN:
        pytest.skip("not of this system")
    looks: list[float] = []
    ready = Inotify._ready

    def writing(self: Inotify, seconds: float, wake: Wake) -> set[int]:
        looks.append(seconds)
        (tmp_path / f"{len(looks)}").touch()
        return ready(self, seconds, wake)

    monkeypatch.setattr(Inotify, "_ready", writing)
    with closing(Inotify([tmp_path])) as told, closing(Wake()) as wake:
        found = told.wait(30, wake)

    assert found == {tmp_path / f"{number + 1}" for number in range(len(looks))}
    assert len(looks) <= 4


def test_more_changes_than_one_read_holds_are_told_together(tmp_path):
    if not inotify.KNOWN:
        pytest.skip("not of this system")
    paths = {tmp_path / f"{number:0200}" for number in range(1000)}  # of 224 bytes each, and more
    with closing(Inotify([tmp_path])) as told, closing(Wake()) as wake:
        for path in paths:
            path.touch()
        found = told.wait(30, wake)

    assert found == paths
