"""One writer: the edit lands whole on the file as it is, whoever saves at the same moment."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from config.errors import Conflict, Stale, Unavailable
from config.storage import displaced, files, locks, opening, syscalls
from config.storage.drafts import Folder
from config.storage.files import CannotWrite
from config.storage.paths import UnsafePath
from config.storage.yamlio import YamlError, set_entry


@pytest.fixture(autouse=True)
def nothing_is_left_behind(tmp_path: Path) -> Iterator[None]:
    yield
    displaced.settle()
    assert list(tmp_path.rglob(".svc-tmp-*")) == []


def add(line: bytes) -> Callable[[bytes | None], bytes]:
    """An edit that can be repeated: it adds its line once."""
    return lambda now: (now or b"") if line in (now or b"") else (now or b"") + line


def just_before(
    monkeypatch: pytest.MonkeyPatch, call: str, act: Callable[[], object], *, times: int = 1
) -> None:
    """Run `act` right before the first `times` calls of a system call."""
    real, left = getattr(syscalls, call), [times]

    def patched(*args: object, **kwargs: object) -> object:
        if left[0]:
            left[0] -= 1
            act()
        return real(*args, **kwargs)

    monkeypatch.setattr(syscalls, call, patched)


def by_rename(path: Path, data: bytes) -> None:
    """As vim saves."""
    draft = path.with_name(".by-hand")
    draft.write_bytes(data)
    draft.replace(path)


def without_renameat2(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(*_: object) -> None:
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(syscalls, "_renameat2", absent)


# -- reading ---------------------------------------------------------------------------------------


def test_an_absent_file_is_none(tmp_path: Path):
    assert files.read(tmp_path / "no") is None
    assert files.read(tmp_path / "no/deeper") is None
    assert files.stat_of(tmp_path / "no") is None


def test_a_snapshot_tells_bytes_hash_stat_and_mode(tmp_path: Path):
    path = tmp_path / "a"
    path.write_bytes(b"hello")
    path.chmod(0o640)

    found = files.read(path)

    assert found is not None
    assert found.data == b"hello"
    assert found.etag == "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
    assert (found.stat, found.mode) == (files.stat_of(path), 0o640)


def test_what_is_no_plain_file_of_bearable_size_is_refused_without_hanging(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "big").write_bytes(b"x" * 11)

    for path in (tmp_path, tmp_path / "pipe", Path("/dev/null"), tmp_path / "loop"):
        with pytest.raises(OSError):
            files.read(path)
    with pytest.raises(OSError):
        files.read(tmp_path / "big", limit=10)


def test_a_read_takes_no_more_room_than_the_file_needs(tmp_path: Path, monkeypatch):
    (tmp_path / "small").write_bytes(b"x" * 300)
    (tmp_path / "large").write_bytes(b"x" * 300_000)
    room, pread = [], os.pread

    def counted(fd: int, size: int, offset: int) -> bytes:
        room.append(size)
        return pread(fd, size, offset)

    monkeypatch.setattr(os, "pread", counted)

    assert opening.contents(tmp_path / "small") == b"x" * 300
    assert max(room) <= opening.MORE
    assert opening.contents(tmp_path / "large") == b"x" * 300_000
    assert max(room) <= 300_000


@pytest.mark.parametrize("added", [1, 300_000, 3 << 20])
def test_what_is_added_to_a_file_while_it_is_read_is_read_or_refused(
    tmp_path: Path, monkeypatch, added: int
):
    path, pread = tmp_path / "grows", os.pread
    path.write_bytes(b"x" * 300)

    def grows(fd: int, size: int, offset: int) -> bytes:
        part = pread(fd, size, offset)
        if offset == 0:
            with path.open("ab") as more:
                more.write(b"y" * added)
        return part

    monkeypatch.setattr(os, "pread", grows)

    if added > opening.SMALL:
        with pytest.raises(OSError, match="larger than"):
            opening.contents(path)
    else:
        assert opening.contents(path) == b"x" * 300 + b"y" * added


def test_a_read_within_a_folder_does_not_leave_it_through_a_symlink(tmp_path: Path):
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "secret").write_bytes(b"s")
    (root / "link").symlink_to("../secret")
    (root / "own").write_bytes(b"o")

    with pytest.raises(UnsafePath):
        files.read(root / "link", within=root)
    assert files.read(root / "own", within=root) is not None


def test_a_read_within_a_folder_follows_links_that_stay_in_it_and_a_link_to_the_folder_itself(
    tmp_path: Path,
):
    root = tmp_path / "root"
    (root / "real" / "in").mkdir(parents=True)
    (root / "real" / "in" / "own").write_bytes(b"o")
    (root / "folder").symlink_to("real")
    (root / "real" / "link").symlink_to("in/own")
    (root / "out").symlink_to(tmp_path / "other")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "secret").write_bytes(b"s")
    (tmp_path / "root-link").symlink_to(root)
    (tmp_path / "root-2").write_bytes(b"s")

    for base in (root, tmp_path / "root-link"):
        for name in ("real/in/own", "folder/in/own", "folder/link", "real/../folder/./in//own"):
            assert opening.contents(f"{base}/{name}", within=base) == b"o"
        for name in ("out/secret", "real/../../root-2", "../root-2", "."):
            with pytest.raises(opening.Refused):
                opening.contents(f"{base}/{name}", within=base)
    assert opening.contents(root / "real" / "link", within=tmp_path / "root-link") == b"o"
    with pytest.raises(opening.Outside):
        opening.contents(tmp_path / "root-2", within=root)


# -- writing ---------------------------------------------------------------------------------------


def test_a_new_file_has_the_mode_asked_for(tmp_path: Path):
    written = files.write(tmp_path / "a", b"x")

    assert (tmp_path / "a").read_bytes() == b"x"
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600
    assert written.stat == files.stat_of(tmp_path / "a")


def test_a_written_file_keeps_its_mode(tmp_path: Path):
    path = tmp_path / "a"
    path.write_bytes(b"1")
    path.chmod(0o664)

    files.write(path, b"2")

    assert path.stat().st_mode & 0o777 == 0o664


def test_equal_bytes_are_not_written(tmp_path: Path):
    path = tmp_path / "a"
    files.write(path, b"1")
    before = files.stat_of(path)

    files.write(path, b"1")

    assert files.stat_of(path) == before


def test_a_symlinked_file_is_written_through(tmp_path: Path):
    (tmp_path / "dots").mkdir()
    (tmp_path / "link").symlink_to("dots/real")

    files.write(tmp_path / "link", b"new through a dangling link")
    files.write(tmp_path / "link", b"1")

    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "dots/real").read_bytes() == b"1"


def test_an_edit_that_returns_nothing_deletes(tmp_path: Path):
    files.write(tmp_path / "a", b"1")

    assert files.change(tmp_path / "a", lambda now: None) is None
    assert not (tmp_path / "a").exists()
    assert files.change(tmp_path / "a", lambda now: None) is None


def test_if_match_lets_only_the_version_it_names_be_changed(tmp_path: Path):
    path = tmp_path / "a"
    first = files.write(path, b"1")
    second = files.change(path, add(b"2"), if_match=first.etag)
    assert second is not None

    for wrong in (first.etag, second.etag.upper() + "0", ""):
        with pytest.raises(Stale):
            files.change(path, add(b"3"), if_match=wrong)
    with pytest.raises(Stale):
        files.change(tmp_path / "absent", add(b"3"), if_match="*")

    files.change(path, add(b"3"), if_match="*")
    assert path.read_bytes() == b"123"


def test_an_edit_that_raises_leaves_the_file_alone(tmp_path: Path):
    path = tmp_path / "a"
    path.write_bytes(b"1")
    before = files.stat_of(path)

    with pytest.raises(Conflict):
        files.change(path, lambda now: (_ for _ in ()).throw(Conflict("no")))

    assert files.stat_of(path) == before


def test_a_disk_that_refuses_is_told_in_one_sentence(tmp_path: Path):
    with pytest.raises(CannotWrite, match="Cannot write a: No such file or directory"):
        files.write(tmp_path / "no/a", b"")
    (tmp_path / "d").mkdir()
    with pytest.raises(CannotWrite, match="Cannot write d: "):
        files.write(tmp_path / "d", b"")


def test_a_folder_swapped_for_a_symlink_does_not_lead_a_write_outside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    root, out = tmp_path / "root", tmp_path / "out"
    (root / "sub").mkdir(parents=True)
    out.mkdir()

    def swap() -> None:
        (root / "sub").rename(root / "moved")
        (root / "sub").symlink_to(out)

    just_before(monkeypatch, "open_at", swap)
    files.write(root / "sub/a", b"1", within=root)
    with pytest.raises(UnsafePath):
        files.write(root / "sub/b", b"1", within=root)

    assert list(out.iterdir()) == []
    assert (root / "moved/a").read_bytes() == b"1"


def test_a_folder_swapped_only_while_it_is_opened_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    root, out = tmp_path / "root", tmp_path / "out"
    (root / "sub").mkdir(parents=True)
    out.mkdir()
    real = Folder.open

    @contextmanager
    def swapped(path: Path) -> Iterator[Folder]:
        path.rename(root / "moved")
        path.symlink_to(out)
        with real(path) as folder:
            path.unlink()
            (root / "moved").rename(path)
            yield folder

    monkeypatch.setattr(Folder, "open", swapped)

    with pytest.raises(UnsafePath):
        files.write(root / "sub/a", b"1", within=root)

    assert list(out.iterdir()) == []


# -- saves by hand at the worst moment -----------------------------------------------------------


@pytest.mark.parametrize("exchange", [True, False])
@pytest.mark.parametrize("save", [by_rename, Path.write_bytes])
@pytest.mark.parametrize("call", ["open_at", "write", "fsync", "rename", "swap"])
def test_a_save_at_any_moment_of_a_write_is_merged(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    call: str,
    save: Callable[[Path, bytes], object],
    exchange: bool,
):
    path = tmp_path / "a"
    path.write_bytes(b"base\n")
    if not exchange:
        without_renameat2(monkeypatch)
    name = {"swap": "exchange" if exchange else "link"}.get(call, call)
    just_before(monkeypatch, name, lambda: save(path, b"base\nby hand\n"))

    files.change(path, add(b"by us\n"))

    assert path.read_bytes() == b"base\nby hand\nby us\n"


def test_with_if_match_a_save_that_slips_in_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "a"
    first = files.write(path, b"base")
    just_before(monkeypatch, "exchange", lambda: by_rename(path, b"by hand"))

    with pytest.raises(Stale):
        files.change(path, add(b"by us"), if_match=first.etag)

    assert path.read_bytes() == b"by hand"


def test_a_broken_save_that_slips_in_stays_and_refuses_the_edit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "a.yaml"
    path.write_bytes(b"a: 1\n")
    just_before(monkeypatch, "exchange", lambda: by_rename(path, b"a: [\n"))

    with pytest.raises(YamlError):
        files.change(path, lambda now: set_entry(now or b"", ("b",), 1))

    assert path.read_bytes() == b"a: [\n"


def test_a_second_save_during_the_way_back_loses_neither(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "a"
    path.write_bytes(b"base\n")
    saves = iter([b"base\nfirst\n", b"base\nsecond\n"])
    just_before(monkeypatch, "exchange", lambda: by_rename(path, next(saves)), times=2)

    files.change(path, add(b"us\n"))

    kept = [p.read_bytes() for p in tmp_path.glob("a.conflict-*")]
    assert (path.read_bytes(), kept) == (b"base\nsecond\nus\n", [b"base\nfirst\n"])


def test_a_file_that_appears_while_it_is_made_is_merged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "a"
    just_before(monkeypatch, "move", lambda: path.write_bytes(b"by hand\n"))

    files.change(path, add(b"us\n"))

    assert path.read_bytes() == b"by hand\nus\n"


def test_a_file_that_vanishes_while_it_is_changed_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "a"
    path.write_bytes(b"base\n")
    just_before(monkeypatch, "exchange", path.unlink)

    files.change(path, add(b"us\n"))

    assert path.read_bytes() == b"us\n"


def test_a_save_that_slips_into_a_deletion_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "a"
    path.write_bytes(b"base")
    just_before(monkeypatch, "move", lambda: by_rename(path, b"worth keeping"))

    found = files.change(path, lambda now: None if now == b"base" else now)

    assert found is not None
    assert path.read_bytes() == b"worth keeping"


def test_a_file_that_never_holds_still_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "a"
    path.write_bytes(b"0")
    numbers = iter(range(1, 100))
    just_before(
        monkeypatch, "fsync", lambda: by_rename(path, b"%d" % next(numbers)), times=files.TRIES
    )

    with pytest.raises(Conflict, match="The file keeps changing; try again"):
        files.change(path, lambda now: (now or b"") + b"!")

    assert path.read_bytes() == b"%d" % files.TRIES


def test_a_late_save_through_an_old_handle_is_merged(tmp_path: Path):
    path = tmp_path / "a"
    path.write_bytes(b"base\n")
    with path.open("r+b") as editor:
        files.change(path, add(b"us\n"))
        editor.write(b"base\nby hand\n")

    settled(lambda: b"by hand" in path.read_bytes())

    assert path.read_bytes() == b"base\nby hand\nus\n"


def test_a_late_save_that_cannot_be_merged_stays_beside(tmp_path: Path):
    path = tmp_path / "a"
    path.write_bytes(b"base\n")
    with path.open("r+b") as editor:
        files.change(path, add(b"us\n"))
        files.change(path, add(b"again\n"))
        editor.write(b"base\nby hand\n")

    settled(lambda: list(tmp_path.glob("a.conflict-*")))

    assert path.read_bytes() == b"base\nus\nagain\n"
    assert [p.read_bytes() for p in tmp_path.glob("a.conflict-*")] == [b"base\nby hand\n"]


def test_a_truncated_file_gets_a_moment_to_be_filled(tmp_path: Path):
    path = tmp_path / "a"
    path.write_bytes(b"")
    done = threading.Timer(0.05, path.write_bytes, [b"filled\n"])
    done.start()

    files.change(path, add(b"us\n"))

    done.join()
    assert path.read_bytes() == b"filled\nus\n"


def test_a_half_written_file_is_read_again_before_it_is_refused(tmp_path: Path):
    path = tmp_path / "a.yaml"
    path.write_bytes(b"a: [1,\n")
    done = threading.Timer(0.05, path.write_bytes, [b"a: [1, 2]\n"])
    done.start()

    files.change(path, lambda now: set_entry(now or b"", ("b",), 1))

    done.join()
    assert path.read_bytes() == b"a: [1, 2]\nb: 1\n"


def test_a_broken_file_from_the_future_holds_nobody_up(tmp_path: Path):
    path = tmp_path / "a.yaml"
    path.write_bytes(b"a: [1,\n")
    ahead = time.time() + 3600
    os.utime(path, (ahead, ahead))

    start = time.monotonic()
    with pytest.raises(YamlError):
        files.change(path, lambda now: set_entry(now or b"", ("b",), 1))

    assert time.monotonic() - start < 5


def settled(condition: Callable[[], object]) -> None:
    """Until what happens behind the answer has happened."""
    for _ in range(200):
        displaced.settle()
        if condition():
            return
        threading.Event().wait(0.01)
    raise AssertionError("not settled")


# -- locks, litter, leaks --------------------------------------------------------------------------


def test_threads_take_turns_and_no_lock_file_stays(tmp_path: Path):
    path = tmp_path / "a"

    def writer(number: int) -> None:
        for count in range(20):
            files.change(path, add(b"%d.%d\n" % (number, count)))

    locks.sweep_locks()  # what other tests killed left
    threads = [threading.Thread(target=writer, args=[n]) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(path.read_bytes().splitlines()) == 120
    assert lock_files() == []


def test_a_lock_file_that_a_killed_process_left_is_swept(tmp_path: Path):
    locks.sweep_locks()  # those of other tests
    locks._file("left").touch()
    with locks.lock("held"):
        assert locks.sweep_locks() == 1
        assert len(lock_files()) == 1


def test_a_lock_file_that_was_unlinked_meanwhile_is_no_lock(monkeypatch: pytest.MonkeyPatch):
    path, real = locks._file("x"), fcntl.flock

    def released_by_its_holder(fd: int, how: int) -> None:
        path.unlink()
        path.touch()
        real(fd, how)

    monkeypatch.setattr(fcntl, "flock", released_by_its_holder)

    assert locks._try(path) is None
    path.unlink()


def test_without_flock_the_threads_of_one_process_still_take_turns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def no_flock(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_flock)

    test_threads_take_turns_and_no_lock_file_stays(tmp_path)


def test_a_lock_nobody_lets_go_is_unavailable_in_the_end(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(locks, "WAIT_S", 0.05)

    with locks.lock("x"), pytest.raises(Unavailable), locks.lock("x"):
        pass

    assert locks._threads == {}


def test_a_sweep_removes_what_dead_writers_left_and_keeps_a_save_by_hand(tmp_path: Path):
    dead = 2**22 + 1  # above any pid
    old, new = files.write(tmp_path / "x", b"old").etag, "1" * 64
    (tmp_path / f".svc-tmp-{dead}-aa").write_bytes(b"never published")
    (tmp_path / f".svc-tmp-{dead}-bb-{old[:16]}-{new[:16]}-x").write_bytes(b"old")
    (tmp_path / f".svc-tmp-{dead}-cc-{old[:16]}-{new[:16]}-x").write_bytes(b"by hand")
    mine = tmp_path / f".svc-tmp-{os.getpid()}-dd"
    mine.write_bytes(b"in use")

    assert len(files.sweep([tmp_path, tmp_path / "absent"])) == 3
    assert mine.exists()
    assert [p.read_bytes() for p in tmp_path.glob("x.conflict-*")] == [b"by hand"]
    mine.unlink()


def test_many_writes_leak_neither_descriptors_nor_threads(tmp_path: Path):
    files.write(tmp_path / "a", b"warm")
    before = descriptors()

    for number in range(100):
        files.write(tmp_path / "a", b"%d" % number)
    displaced.settle()

    assert descriptors() <= before + 1
    assert sum(thread.name == "displaced" for thread in threading.enumerate()) <= 1


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def lock_files() -> list[Path]:
    return list(locks._file("x").parent.glob("*.lock"))


def test_a_new_file_is_whole_private_and_replaces_none(tmp_path: Path):
    path = tmp_path / "id.yaml"
    files.new(path, b"a: 1\n", within=tmp_path)
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"a: 1\n", 0o600)

    with pytest.raises(Conflict, match=r"id\.yaml is there already"):
        files.new(path, b"a: 2\n", within=tmp_path)
    assert path.read_bytes() == b"a: 1\n"


def test_a_new_file_that_the_disk_refuses_leaves_nothing(tmp_path: Path, monkeypatch):
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(syscalls, "write", full)
    with pytest.raises(CannotWrite, match=r"id\.yaml: No space left"):
        files.new(tmp_path / "id.yaml", b"a: 1\n")

    assert list(tmp_path.iterdir()) == []


def test_a_new_file_whose_folder_does_not_reach_the_disk_is_not_there(tmp_path: Path, monkeypatch):
    fsync = syscalls.fsync

    def refused(fd: int) -> None:
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            raise OSError(errno.EIO, "Input/output error")
        fsync(fd)

    monkeypatch.setattr(syscalls, "fsync", refused)

    with pytest.raises(CannotWrite, match="Input/output error"):
        files.new(tmp_path / "id.yaml", b"a: 1\n")

    assert [*tmp_path.iterdir()] == []


def test_a_new_file_does_not_leave_its_folder_through_a_link(tmp_path: Path):
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    for folder in (outside, inside):
        folder.mkdir()
    (inside / "link").symlink_to(outside)
    (inside / "own").mkdir()
    (inside / "near").symlink_to(inside / "own")
    (tmp_path / "alias").symlink_to(inside)

    with pytest.raises(UnsafePath):
        files.new(inside / "link" / "id.yaml", b"", within=inside)
    with pytest.raises(UnsafePath):
        files.new(tmp_path / "inside" / ".." / "outside" / "id.yaml", b"", within=inside)
    files.new(inside / "near" / "id.yaml", b"", within=inside)
    files.new(tmp_path / "alias" / "own" / "two.yaml", b"", within=tmp_path / "alias")

    assert list(outside.iterdir()) == []
    assert sorted(one.name for one in (inside / "own").iterdir()) == ["id.yaml", "two.yaml"]
