"""Any failed system call of a write leaves the old file or the new one, never anything else."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from config.storage import displaced, files, syscalls
from config.storage.files import CannotWrite
from tests.config.disks import quick_folder
from tests.promises.rings import SLOW

CALLS = ("open_at", "write", "fsync", "rename", "exchange", "move", "link", "unlink")
ERRORS = (errno.ENOSPC, errno.EIO, errno.EACCES, errno.EINTR)
Do = Callable[[Path], object]


class Failing:
    """The n-th system call of this thread fails; counts them all."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.mine = threading.local()
        for name in CALLS:
            monkeypatch.setattr(syscalls, name, self._wrapped(getattr(syscalls, name)))

    def at(self, number: int, code: int) -> None:
        self.mine.left, self.mine.code, self.mine.failed = number, code, False

    @property
    def failed(self) -> bool:
        return bool(self.mine.failed)

    def _wrapped(self, real: Callable[..., object]) -> Callable[..., object]:
        def call(*args: object, **kwargs: object) -> object:
            self.mine.left = getattr(self.mine, "left", 0) - 1
            if self.mine.left == 0:
                self.mine.failed = True
                raise OSError(self.mine.code, os.strerror(self.mine.code))
            return real(*args, **kwargs)

        return call


def replace(path: Path) -> None:
    files.change(path, lambda now: b"new")


def delete(path: Path) -> None:
    files.change(path, lambda now: None)


def short_writes(fd: int, data: memoryview) -> int:
    return os.write(fd, data[:2])


def every_failure(failing: Failing, folder: Path, code: int, do: Do, old: bytes | None) -> int:
    """Fail call 1, 2, … until none is left to fail. How many failed."""
    path = folder / f"file-{threading.get_ident()}-{code}"
    for number in range(1, 100):
        failing.at(0, code)
        path.unlink(missing_ok=True)
        if old is not None:
            path.write_bytes(old)
        new = None if do is delete else b"new"

        failing.at(number, code)
        try:
            do(path)
        except CannotWrite:
            assert failing.failed
            assert code != errno.EINTR  # an interrupted call is made again
            allowed = {old, new}
        else:
            allowed = {new}
        done = not failing.failed
        failing.at(0, code)

        assert (path.read_bytes() if path.exists() else None) in allowed, (number, code)
        if done:
            return number - 1
    raise AssertionError("a write makes no hundred calls")


@pytest.mark.promise("F3")
@pytest.mark.parametrize("do", [replace, delete])
@pytest.mark.parametrize("old", [b"old", None])
@pytest.mark.parametrize("exchange", [True, False])
def test_whichever_call_fails_the_file_is_old_or_new(
    monkeypatch: pytest.MonkeyPatch, do: Do, old: bytes | None, exchange: bool
):
    monkeypatch.setattr(syscalls, "write", short_writes)
    if not exchange:
        monkeypatch.setattr(syscalls, "_renameat2", lambda *_: fail(errno.ENOSYS))
    failing = Failing(monkeypatch)
    with quick_folder() as folder:

        def all_codes() -> None:
            failed = [every_failure(failing, folder, code, do, old) for code in ERRORS]
            assert min(failed) >= (1 if do is delete and old is None else 3)

        in_threads(all_codes, 8 if SLOW else 1)
        displaced.settle()
        files.sweep([folder], older_than_s=0)
        assert [p.name for p in folder.iterdir() if p.name.startswith(".svc-tmp-")] == []


def fail(code: int) -> None:
    raise OSError(code, os.strerror(code))


def in_threads(run: Callable[[], None], count: int) -> None:
    errors: list[BaseException] = []

    def guarded() -> None:
        try:
            run()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
