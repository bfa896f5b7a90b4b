"""All descriptors of all processes are walked when there is something new, and not else."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import psutil
import pytest

from dashboard.listeners import procfs
from dashboard.listeners.netlink import listening
from dashboard.listeners.owners import RETRY_S, Owners
from dashboard.listeners.scan import Scanner
from tests.dashboard.listeners.listening import bound
from tests.dashboard.listeners.servers import Servers, on
from tests.service import ROOT


def only(port: int):
    return [one for one in listening() if one.port == port]


def test_a_socket_is_searched_once_and_a_new_one_once_more():
    now = 0.0
    owners = Owners(clock=lambda: now)
    with bound("127.0.0.1", 0) as one, bound("127.0.0.1", 0) as other:
        first, second = only(one.getsockname()[1]), only(other.getsockname()[1])

        for _ in range(20):
            owners.of(first)
            now += RETRY_S
        assert owners.walks == 1
        for _ in range(20):
            found = owners.of(first + second)

    assert owners.walks == 2
    assert [owner and owner.pid for owner in found.values()] == [os.getpid()] * 2


def test_a_descriptor_that_was_closed_is_searched_anew():
    owners = Owners()
    with bound("127.0.0.1", 0) as server:
        sockets = only(server.getsockname()[1])
        owners.of(sockets)
        number = server.fileno()
        copy = os.dup(number)
        server.close()
        other = os.open(os.devnull, os.O_RDONLY)
        assert other == number  # another file has its number now
        try:
            [owner] = owners.of(sockets).values()
        finally:
            os.close(copy)
            os.close(other)

    assert owner is not None
    assert (owner.pid, owners.walks) == (os.getpid(), 2)


def test_one_socket_of_many_that_another_process_keeps_is_searched_after_30_s():
    now = 0.0
    owners = Owners(clock=lambda: now)
    with bound("127.0.0.1", 0) as one, bound("127.0.0.1", 0) as other:
        sockets = only(one.getsockname()[1]) + only(other.getsockname()[1])
        keeper = subprocess.Popen(
            ["sleep", "60"], pass_fds=[other.fileno()], stdout=subprocess.DEVNULL
        )
        owners.of(sockets)
        other.close()
        try:
            now = RETRY_S - 1
            early = [owner and owner.pid for owner in owners.of(sockets).values()]
            now = RETRY_S
            late = [owner and owner.pid for owner in owners.of(sockets).values()]
        finally:
            keeper.kill()
            keeper.wait()

    assert (early, late) == ([os.getpid()] * 2, [os.getpid(), keeper.pid])


def test_two_hundred_scans_beside_a_hidden_listener_walk_once_and_again_after_30_s():
    allowed = subprocess.run(["unshare", "-rpf", "--mount-proc", "true"], check=False)
    if allowed.returncode:
        pytest.skip("process namespaces are not allowed here")

    with bound("127.0.0.1", 0) as server:
        port = server.getsockname()[1]
        script = [sys.executable, "-m", "tests.dashboard.listeners.aside", str(port)]
        done = subprocess.run(
            ["unshare", "-rpf", "--mount-proc", *script],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )

    told = json.loads(done.stdout or done.stderr)
    assert told["pids"] == [None]
    assert told["walks"] == [1, 1, 2]
    assert "may not be seen" in told["partial"][0]


def test_new_sockets_of_other_users_wait_for_the_next_walk(monkeypatch):
    now = 0.0
    owners = Owners(clock=lambda: now)
    monkeypatch.setattr(os, "geteuid", lambda: 54321)
    monkeypatch.setattr(procfs, "holders", lambda _inodes: {})
    with bound("127.0.0.1", 0) as one, bound("127.0.0.1", 0) as other:
        first, second = only(one.getsockname()[1]), only(other.getsockname()[1])
        owners.of(first)
        owners.of(first + second)
        assert owners.walks == 1

        now = RETRY_S
        owners.of(first + second)

    assert owners.walks == 2


def test_a_process_that_ends_during_the_walk_is_no_owner(servers: Servers, monkeypatch):
    port = servers.listening("127.0.0.1")
    monkeypatch.setattr(procfs, "start_time", lambda _pid: None)

    assert [one.pid for one in on(port, Scanner())] == [None]


def test_a_process_name_with_brackets_and_spaces_does_not_hide_its_start(servers: Servers):
    port = servers.listening("named")

    [one] = on(port, Scanner())

    assert one.pid == servers.last.pid
    assert one.started is not None
    since_boot = psutil.Process(one.pid).create_time() - psutil.boot_time()
    assert one.started / os.sysconf("SC_CLK_TCK") == pytest.approx(since_boot, abs=0.05)
