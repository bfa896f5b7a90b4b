"""Everything that listens is found, each server once, whatever it binds and forks."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import socket
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from dashboard.listeners import netlink, portable, procfs, scan
from dashboard.listeners.scan import Scanner, observed_id
from dashboard.listeners.sockets import Socket
from tests.dashboard.listeners.listening import WORKERS, bound
from tests.dashboard.listeners.servers import Servers, on
from tests.service import free_port, until


def test_a_server_is_found_with_its_process_directory_and_address(servers: Servers, tmp_path: Path):
    port = servers.http()

    [one] = on(port)

    assert (one.pid, one.cwd, one.uid) == (servers.last.pid, str(tmp_path), os.geteuid())
    assert (one.addresses, one.scope) == ((("127.0.0.1", port),), "loopback")
    assert one.exe == Path(sys.executable).resolve().name
    assert one.id == observed_id(port, one.exe, one.cwd)


@pytest.mark.parametrize(
    ("ip", "scope", "reach"),
    [
        ("127.0.0.1", "loopback", "127.0.0.1"),
        ("::1", "loopback", "::1"),
        ("127.8.9.10", "loopback", "127.8.9.10"),
        ("0.0.0.0", "all", "127.0.0.1"),
        ("::", "all", "::1"),
    ],
)
def test_an_address_is_told_as_it_is_bound_with_where_to_reach_it(
    servers: Servers, ip: str, scope: str, reach: str
):
    port = servers.listening(ip, free_port())

    [one] = on(port)

    assert one.addresses == ((ip, port),)
    assert (one.scope, one.reach) == (scope, ((reach, port),))


def test_an_ipv4_address_mapped_into_ipv6_is_that_address():
    with socket.socket(socket.AF_INET6) as server:
        server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        server.bind(("::ffff:127.0.0.1", 0))
        server.listen()
        port = server.getsockname()[1]

        [one] = on(port)

    assert (one.addresses, one.scope) == ((("127.0.0.1", port),), "loopback")


def test_a_server_on_both_loopback_addresses_is_one(servers: Servers):
    port = servers.listening("dual", free_port())

    [one] = on(port)

    assert one.addresses == (("127.0.0.1", port), ("::1", port))


@pytest.mark.parametrize("kind", ["forked", "reuseport"])
def test_workers_are_one_listener_of_the_oldest_process(servers: Servers, kind: str):
    port = servers.listening(kind, free_port())

    [one] = on(port)

    family = [servers.last.pid, *children(servers.last.pid)]
    assert len(family) == 1 + WORKERS
    assert one.pid == (family[0] if kind == "forked" else family[1])


def test_when_the_oldest_worker_ends_the_next_one_is_the_process(servers: Servers):
    port = servers.listening("reuseport", free_port())
    first, second, *_ = children(servers.last.pid)
    before = on(port)

    os.kill(first, signal.SIGKILL)
    until(lambda: first not in living(servers.last.pid))

    after = on(port)
    assert [one.pid for one in before] == [first]
    assert [(one.pid, one.id) for one in after] == [(second, before[0].id)]


def test_when_the_parent_of_workers_ends_its_heir_is_the_process_though_nobody_buried_it(
    servers: Servers,
):
    port = servers.listening("forked", free_port())
    parent, workers = servers.last.pid, children(servers.last.pid)
    assert [one.pid for one in on(port)] == [parent]

    os.kill(parent, signal.SIGKILL)
    until(lambda: (Path("/proc") / str(parent) / "stat").read_text().split()[2] == "Z")

    assert [one.pid for one in on(port)] == [workers[0]]


def test_a_restarted_server_keeps_its_id_and_has_another_process(servers: Servers):
    port = servers.http()
    [before] = on(port)

    servers.stop(servers.last)
    assert on(port) == []
    servers.http(port=port)

    [after] = on(port)
    assert (after.id, after.pid) == (before.id, servers.last.pid)
    assert after.pid != before.pid


def test_two_programs_on_one_port_of_two_addresses_stay_two(servers: Servers, tmp_path: Path):
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    port = servers.listening("127.0.0.1", free_port(), cwd=one)
    servers.listening("::1", port, cwd=other)

    found = on(port)

    assert {(x.cwd, x.addresses) for x in found} == {
        (str(one), (("127.0.0.1", port),)),
        (str(other), (("::1", port),)),
    }
    assert len({x.id for x in found}) == 2


def test_a_server_whose_directory_was_deleted_keeps_its_id(servers: Servers, tmp_path: Path):
    home = tmp_path / "gone"
    home.mkdir()
    port = servers.listening("127.0.0.1", cwd=home)
    [before] = on(port)

    shutil.rmtree(home)

    [after] = on(port, Scanner())
    assert (after.id, after.cwd) == (before.id, str(home))


def test_a_directory_that_is_named_deleted_is_taken_at_its_word(servers: Servers, tmp_path: Path):
    home = tmp_path / "old (deleted)"
    home.mkdir()

    [one] = on(servers.listening("127.0.0.1", cwd=home))

    assert one.cwd == str(home)


def test_a_directory_of_odd_bytes_is_found_and_has_an_id(servers: Servers, tmp_path: Path):
    home = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe\n"))
    home.mkdir()

    [one] = on(servers.listening("127.0.0.1", cwd=home))

    assert one.cwd == str(home)
    assert one.id.startswith("o-")


def test_netlink_and_proc_and_psutil_tell_the_same(servers: Servers):
    ports = {servers.listening(kind, free_port()) for kind in ("127.0.0.1", "::1", "dual", "::")}

    def seen(sockets: Iterable[Socket]) -> set[tuple[str, int, int]]:
        return {(one.ip, one.port, one.uid) for one in sockets if one.port in ports}

    expected = seen(netlink.listening())
    assert len(expected) == 5
    assert seen(procfs.listening()) == expected
    assert seen(one for one, _owner in portable.owned_sockets()[0]) == expected


def refused(*_args: object) -> list[object]:
    raise OSError(errno.EPERM, "refused")


def test_where_netlink_is_refused_proc_is_read(servers: Servers, monkeypatch):
    port = servers.listening("dual", free_port())
    by_netlink = on(port)
    monkeypatch.setattr(netlink, "listening", refused)

    assert on(port, Scanner()) == by_netlink


def test_where_there_is_no_proc_the_ports_and_processes_still_come(servers: Servers, monkeypatch):
    port = servers.listening("dual", free_port())
    [by_netlink] = on(port)
    monkeypatch.setattr(netlink, "listening", refused)
    monkeypatch.setattr(procfs, "listening", refused)

    [one] = on(port, Scanner())

    told = (one.id, one.pid, one.addresses, one.scope, one.exe, one.cwd)
    assert told == (
        by_netlink.id, by_netlink.pid, by_netlink.addresses, by_netlink.scope, by_netlink.exe,
        by_netlink.cwd,
    )  # fmt: skip


def test_a_cut_netlink_message_is_an_error_not_a_wrong_port():
    whole = struct.pack("=IHHII", 16 + 72, 20, 2, 1, 0) + bytes(72)

    assert [kind for kind, _ in netlink._messages(whole * 2)] == [20, 20]
    with pytest.raises(OSError, match="cut"):
        list(netlink._messages(whole + whole[:-1]))
    with pytest.raises(OSError, match="cut"):
        list(netlink._messages(struct.pack("=IHHII", 16 + 8, 20, 2, 1, 0) + bytes(8)))


def test_the_scan_everybody_shares_knows_the_tests_own_socket():
    with bound("127.0.0.1", 0) as server:
        port = server.getsockname()[1]

        found = [one.pid for one in scan.scan().listeners if one.port == port]

    assert found == [os.getpid()]


def children(pid: int) -> list[int]:
    """In the order they were started."""
    told = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(child) for child in told.split()]


def living(pid: int) -> list[int]:
    return [
        child
        for child in children(pid)
        if Path(f"/proc/{child}/stat").read_text().split()[2] != "Z"
    ]
