"""Bells: a ring wakes every sleeper of its name, and never waits."""

from __future__ import annotations

import os
import resource
import threading
import time
from pathlib import Path

import pytest

from config.process import wakeup


@pytest.fixture(autouse=True)
def folder(settings, tmp_path: Path) -> Path:
    settings.DATA_DIR = tmp_path
    (tmp_path / "run").mkdir()
    return tmp_path / "run"


def test_a_ring_wakes_every_sleeper_of_the_name_and_no_other():
    with wakeup.Wakeup("a") as one, wakeup.Wakeup("a") as two, wakeup.Wakeup("b") as other:
        wakeup.wake("a")

        assert (one.wait(5), two.wait(5), other.wait(0)) == (True, True, False)


def test_a_sleeper_wakes_at_once():
    with wakeup.Wakeup("a") as sleeper:
        started = time.monotonic()
        threading.Timer(0.05, wakeup.wake, ["a"]).start()

        assert sleeper.wait(5)
        assert time.monotonic() - started < 1


def test_a_sleeper_wakes_in_a_process_with_more_than_a_thousand_open_files():
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limits[1] < 2048:
        pytest.skip("the system allows no more than a thousand open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(limits[0], 2048), limits[1]))
    held = [os.open("/dev/null", os.O_RDONLY)]
    try:
        while held[-1] < 1100:
            held.append(os.dup(held[0]))
        with wakeup.Wakeup("a") as sleeper:
            wakeup.wake("a")

            assert (sleeper.wait(5), sleeper.wait(0)) == (True, False)
    finally:
        for one in held:
            os.close(one)
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_rings_before_the_sleep_are_one_waking():
    with wakeup.Wakeup("a") as sleeper:
        for _ in range(3):
            wakeup.wake("a")

        assert (sleeper.wait(5), sleeper.wait(0)) == (True, False)


def test_a_full_pipe_does_not_hold_up_whoever_rings():
    with wakeup.Wakeup("a") as sleeper:
        os.write(sleeper._pipe, b"!" * 65_536)
        wakeup.wake("a")

        assert sleeper.wait(5)


def test_a_pipe_that_nobody_reads_is_removed(folder):
    left = folder / "a.1.1.bell"
    os.mkfifo(left)

    wakeup.wake("a")

    assert not left.exists()


def test_closing_leaves_nothing(folder):
    wakeup.Wakeup("a").close()

    assert list(folder.iterdir()) == []


def test_a_sleeper_that_ends_while_it_is_rung_is_no_error(monkeypatch):
    sleeper, other = wakeup.Wakeup("a"), wakeup.Wakeup("a")
    opened = os.open

    def ends(*how: object) -> int:
        pipe: int = opened(*how)  # type: ignore[arg-type]
        if how[0] == sleeper.path:
            sleeper.close()
        return pipe

    monkeypatch.setattr(os, "open", ends)
    wakeup.wake("a")

    assert other.wait(5)
    other.close()
