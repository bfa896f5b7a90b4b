"""Several hosts on one PostgreSQL and Redis: who fires, who runs, and what a lost host leaves."""

from __future__ import annotations

import subprocess
from datetime import timedelta
from pathlib import Path

import pytest

from tests.network import Host, Network, bridge, network  # noqa: F401 - fixtures
from tests.promises.rings import SLOW, ring
from tests.service import until
from tests.workspace.triggers.world import NOON

pytestmark = pytest.mark.timeout(7200 if SLOW else 400)
CLUSTERS = (6, 5, 5)
PAIR = """\
name: Alpha
triggers:
  every:
    trigger: {type: schedule, interval: 1s}
    run: {prompt: hi, overlap: parallel}
    enabled: true
  cron:
    trigger: {type: schedule, cron: "* * * * *"}
    run: {prompt: hi, overlap: parallel}
    enabled: true
"""
# Each turn says which chat it is of and which host it runs on, so its sandbox shares the host's
# network.
EACH_SECOND = """\
name: %s
permissionMode: bypassPermissions
network: host
triggers:
  each:
    trigger: {type: schedule, interval: 1s}
    run:
      prompt: |
        #!runbook
        ```Bash
        echo $SVC_CHAT_ID $(readlink /proc/self/ns/net) >> ran; %s
        ```
    enabled: true
"""
AWAY_S = 61  # past the lease of a turn, also for hosts that cannot see its transcript


def write(folder: Path, slug: str, command: str = "true") -> Path:
    """A project whose trigger runs each second; the file its turns write to."""
    (folder / slug).mkdir(parents=True)
    (folder / slug / "draft").write_text(EACH_SECOND % (slug, command))
    (folder / slug / "draft").replace(folder / slug / "project.yaml")
    return folder / slug / "ran"


def ran(file: Path) -> list[tuple[str, str]]:
    """(chat, host) of each turn that ran, in order."""
    lines = file.read_text().splitlines() if file.exists() else []
    return [(line.partition(" ")[0], line.partition(" ")[2]) for line in lines]


def on(file: Path, host: Host) -> list[str]:
    return [chat for chat, where in ran(file) if where == host.address]


def goes_on(file: Path, host: Host, *, turns: int = 2) -> None:
    """Wait for more turns of this project on this host."""
    before = len(on(file, host))
    until(lambda: len(on(file, host)) >= before + turns, seconds=90, what=f"{file} on {host.name}")


def turn_of(network: Network, chat: str) -> tuple[str, bool]:  # noqa: F811
    (row,) = network.rows(f"SELECT state, unclosed FROM workspace_turn WHERE chat = '{chat}'")
    return row


def lease_passes(network: Network, chat: str) -> None:  # noqa: F811
    network.rows(
        f"UPDATE workspace_turn SET lease_until = now() - interval '{AWAY_S} s' "
        f"WHERE chat = '{chat}' AND state = 'running'"
    )


slowly = pytest.mark.skipif(not SLOW, reason="takes minutes: of the slow ring")


def once_each(*files: Path) -> None:
    chats = [chat for file in files for chat, _ in ran(file)]
    assert len(chats) == len(set(chats))


@pytest.mark.slow
@pytest.mark.promise("T1")
def test_sixteen_clusters_on_three_hosts_fire_each_nominal_time_once(
    network: Network,  # noqa: F811
    tmp_path: Path,
):
    times = ring(fast=60, slow=10_000)
    shared = tmp_path / "shared"
    (shared / "alpha").mkdir(parents=True)
    (shared / "alpha" / "project.yaml").write_text(PAIR)
    hosts = [network.host(f"h{number}", shared) for number in range(len(CLUSTERS))]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "bufsize": 1}
    tickers = [
        host.spawn("-m", "tests.promises.tickers", str(count), **pipes)
        for host, count in zip(hosts, CLUSTERS, strict=True)
    ]

    for second in range(times + 1):
        for process in tickers:
            assert process.stdin
            process.stdin.write(f"{(NOON + timedelta(seconds=second)).isoformat()}\n")
        for process, count, host in zip(tickers, CLUSTERS, hosts, strict=True):
            assert process.stdout
            assert process.stdout.readline() == "." * count + "\n", host.said()

    for name, step in (("every", 1), ("cron", 60)):
        rows = network.rows(
            f"SELECT scheduled_for, status FROM workspace_run WHERE trigger = '{name}' ORDER BY 1"
        )
        expected = [NOON + timedelta(seconds=n) for n in range(step, times + 1, step)]
        assert rows == [(moment, "queued") for moment in expected]


@slowly
def test_hosts_of_one_directory_take_over_from_one_that_is_cut_off_and_from_one_that_dies(
    network: Network,  # noqa: F811
    tmp_path: Path,
):
    shared = tmp_path / "shared"
    shared.mkdir()
    alpha, beta = network.host("alpha", shared), network.host("beta", shared)
    alpha.qcluster()
    long = write(shared, "long", "sleep 600")
    until(lambda: on(long, alpha), seconds=60, what="a turn that goes on on alpha")
    ((chat, _),) = ran(long)
    each = write(shared, "each")
    beta.qcluster()
    goes_on(each, beta, turns=1)

    alpha.cut()
    goes_on(each, beta)
    assert turn_of(network, chat) == ("running", False)  # and its transcript is locked

    alpha.heal()
    goes_on(each, alpha, turns=1)
    assert turn_of(network, chat) == ("running", False)

    alpha.kill9()
    lease_passes(network, chat)
    beta.sweep()
    until(lambda: turn_of(network, chat) == ("interrupted", False), seconds=60, what="its end")
    goes_on(each, beta)
    until(lambda: on(long, beta), seconds=60, what="the next firing, on the other host")
    assert on(long, alpha) == [chat]
    once_each(long, each)
    times = network.rows("SELECT project, scheduled_for FROM workspace_run")
    assert len(times) == len(set(times))


@slowly
def test_a_project_of_one_host_runs_there_alone_and_rests_while_it_is_away(
    network: Network,  # noqa: F811
    tmp_path: Path,
):
    alpha, beta = (network.host(name, tmp_path / f"of-{name}") for name in ("alpha", "beta"))
    ours, theirs = write(tmp_path / "of-alpha", "ours"), write(tmp_path / "of-beta", "theirs")
    long = write(tmp_path / "of-alpha", "long", "sleep 600")
    alpha.qcluster()
    beta.qcluster()
    goes_on(ours, alpha)
    goes_on(theirs, beta)
    until(lambda: on(long, alpha), seconds=60, what="a turn that goes on on alpha")
    ((chat, _),) = ran(long)

    alpha.cut()
    lease_passes(network, chat)
    goes_on(theirs, beta)
    beta.sweep()
    until(lambda: turn_of(network, chat) == ("interrupted", True), seconds=60, what="its row ends")

    alpha.heal()
    goes_on(ours, alpha)
    alpha.sweep()
    until(lambda: turn_of(network, chat) == ("interrupted", False), seconds=60, what="it is whole")

    alpha.kill9()
    fired = len(network.rows("SELECT 1 FROM workspace_run WHERE project = 'ours'"))
    goes_on(theirs, beta, turns=5)  # one each second, at most
    assert len(network.rows("SELECT 1 FROM workspace_run WHERE project = 'ours'")) == fired
    alpha.qcluster()
    goes_on(ours, alpha, turns=1)

    ((missed,),) = network.rows("SELECT max(missed) FROM workspace_run WHERE project = 'ours'")
    assert missed >= 2  # of those that passed, the last one was caught up
    assert {where for _, where in ran(ours) + ran(long)} == {alpha.address}
    assert {where for _, where in ran(theirs)} == {beta.address}
    once_each(ours, theirs, long)
