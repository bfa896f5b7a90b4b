"""The right to be the one server of a data directory."""

from __future__ import annotations

import errno
import fcntl
import threading

import pytest

from config.options import OptionError
from config.process.singleton import Instance


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "state").mkdir()
    return tmp_path


def test_the_second_is_told_who_the_first_is(folder):
    first, second = Instance(folder, "server"), Instance(folder, "server")
    first.acquire()
    first.publish({"ports": {"main": 8123}})

    with pytest.raises(OptionError, match=r"pid \d+, port 8123\); stop it, or set SVC_DATA_DIR"):
        second.acquire()
    with pytest.raises(OptionError, match="port 8123"):
        second.refuse_second()
    first.release()


def test_what_a_dead_one_left_is_not_believed(folder):
    first = Instance(folder, "server")
    first.acquire()
    first.publish({"ports": {"main": 8123}})
    first.release()
    first.file.write_text('{"pid": 1, "ports": {"main": 8123}}')

    assert Instance(folder, "server").holder() is None
    again = Instance(folder, "server")
    again.acquire()
    assert set(again.holder() or {}) == {"pid"}
    again.release()


def test_looking_who_it_is_never_takes_it_away(folder):
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            Instance(folder, "server").holder()
            stop.wait(0.0005)

    lookers = [threading.Thread(target=look) for _ in range(3)]
    for thread in lookers:
        thread.start()
    try:
        for _ in range(200):
            one = Instance(folder, "server")
            one.acquire()
            one.release()
    finally:
        stop.set()
        for thread in lookers:
            thread.join()


def test_a_disk_without_locks_is_named_as_such_and_not_as_another_server(folder, monkeypatch):
    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    one = Instance(folder, "server")

    for _ in range(2):
        with pytest.raises(OptionError, match=r"without file locks \(No locks available\); set"):
            one.acquire()
        assert one.holder() is None
        one.refuse_second()
