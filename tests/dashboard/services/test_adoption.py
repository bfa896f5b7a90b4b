"""Services outlive the daemon and are found again with their exit codes (cases D41, D44)."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import orjson
import psutil
import pytest

from config.process import table
from dashboard.services import adopt, layout, record
from dashboard.services.definition import Ready, Service
from dashboard.services.state import Limits
from dashboard.services.system import boot, ports, processes, waiting
from tests.dashboard.services.world import Scene, alive, python, server
from tests.promises.rings import ring
from tests.service import ROOT, free_port, until

UP = Service("echo up; exec sleep 64", ready=Ready(log="up"))


def recorded() -> record.Record:
    found = record.load("shop")
    assert found is not None
    return found


def gone(pid: int) -> bool:
    return not alive(pid)


FORKS = (
    "import os, sys, time\n"
    "if os.fork(): sys.exit(0)\n"
    "os.setsid()\n"
    "if os.fork(): os._exit(0)\n"
    "time.sleep(0.3)\n"
)


async def test_a_running_service_is_adopted_with_its_pid(scene: Scene):
    await scene.begin(shop=UP)
    started = await scene.supervisor.act("shop", "start")

    await scene.again(shop=UP)

    view = scene.view()
    assert (view["status"], view["pid"], view["adopted"]) == ("running", started.pid, True)
    assert scene.changes == []
    assert (await scene.supervisor.act("shop", "start")).already
    assert (await scene.supervisor.act("shop", "stop")).ok
    assert not alive(started.pid or 0)


async def test_the_end_of_an_adopted_service_is_seen_with_its_code(scene: Scene):
    command = "trap 'exit 7' USR1; echo up; while :; do sleep 0.05; done"
    await scene.begin(shop=Service(command, ready=Ready(log="up")))
    await scene.supervisor.act("shop", "start")
    await scene.again(shop=UP)
    leader = scene.record().leader
    child = Path(f"/proc/{leader}/task/{leader}/children").read_text()

    os.kill(int(child), signal.SIGUSR1)

    assert (await scene.becomes("failed"))["lastExit"]["code"] == 7


@pytest.mark.parametrize(
    ("command", "status", "code", "name"),
    [("exit 0", "stopped", 0, None), ("exit 9", "failed", 9, None),
     ("kill -KILL $$", "failed", 137, "SIGKILL")],
)  # fmt: skip
async def test_an_exit_code_is_known_though_the_daemon_was_away(
    scene: Scene, command: str, status: str, code: int, name: str | None, tmp_path: Path
):
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    service = Service(f"echo up; read x <{gate}; {command}", ready=Ready(log="up"))
    await scene.begin(shop=service)
    pid = (await scene.supervisor.act("shop", "start")).pid or 0
    await scene.supervisor.close()
    gate.write_text("go\n")
    await scene.until(lambda: not alive(pid))

    await scene.again(shop=service)

    view = scene.view()
    assert (view["status"], view["lastExit"]["code"], view["lastExit"]["signal"]) == (
        status, code, name
    )  # fmt: skip
    assert [(c.before, c.status, c.reason) for c in scene.changes] == [
        ("running", status, "exited")
    ]


async def test_a_user_stop_holds_over_daemon_restarts_but_not_over_a_reboot(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
):
    service = replace(UP, autostart=True)
    await scene.begin(shop=service)
    await scene.becomes("running")
    await scene.supervisor.act("shop", "stop")

    await scene.again(shop=service)
    held = scene.view()["status"]
    monkeypatch.setenv("SVC_TEST_BOOT_ID", "another")
    await scene.again(shop=service)

    assert held == "stopped"
    assert (await scene.becomes("running"))["adopted"] is False


async def test_after_a_reboot_only_autostart_services_run(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
):
    await scene.begin(shop=UP, blog=replace(UP, autostart=True))
    await scene.supervisor.act("shop", "start")
    await scene.becomes("running", "blog")
    monkeypatch.setenv("SVC_TEST_BOOT_ID", "another")

    await scene.again(shop=UP, blog=replace(UP, autostart=True))

    await scene.becomes("running", "blog")
    assert scene.view("shop")["status"] == "stopped"


async def test_a_run_of_another_boot_is_not_found(scene: Scene, monkeypatch: pytest.MonkeyPatch):
    await scene.begin(shop=UP)
    pid = (await scene.supervisor.act("shop", "start")).pid
    here = adopt.find("shop")
    monkeypatch.setenv("SVC_TEST_BOOT_ID", "another")

    assert here is not None
    assert here.pid == pid
    assert adopt.find("shop") is None


def test_a_pid_that_was_given_out_again_is_not_held():
    me = table.living(os.getpid())
    assert me is not None

    held = table.handle(me)

    assert held is not None
    os.close(held)
    assert table.handle(me._replace(started=me.started + 1)) is None


async def test_a_process_that_only_has_the_same_pid_is_not_adopted_nor_killed(scene: Scene):
    await scene.begin(shop=UP)
    stranger = subprocess.Popen(["sleep", "65"], start_new_session=True)
    try:
        known = record.Record(
            run="0" * 32, boot=boot.boot_id(), pid=stranger.pid, started=12345,
            leader=stranger.pid, leader_started=12345, status="running",
        )  # fmt: skip
        record.save("shop", known)

        await scene.again(shop=UP)
        stopped = await scene.supervisor.act("shop", "stop")

        assert adopt.find("shop") is None
        assert stopped.already
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


async def test_a_daemon_killed_before_it_wrote_the_pid_finds_the_run_by_its_mark(scene: Scene):
    await scene.begin(shop=UP)
    pid = (await scene.supervisor.act("shop", "start")).pid
    await scene.supervisor.close()
    intent = replace(recorded(), pid=0, started=0, leader=0, leader_started=0)
    record.save("shop", replace(intent, status="starting"))

    await scene.again(shop=UP)

    assert (scene.view()["status"], scene.view()["pid"]) == ("running", pid)
    await scene.supervisor.act("shop", "stop")
    assert not alive(pid or 0)


async def test_a_start_that_a_kill_of_the_daemon_cut_short_is_finished(scene: Scene):
    await scene.begin(shop=UP)
    await scene.supervisor.act("shop", "start")
    await scene.supervisor.act("shop", "stop")
    intent = replace(recorded(), run="f" * 32, pid=0, started=0, leader=0, leader_started=0)
    record.save("shop", replace(intent, status="starting", reason="restarting"))

    await scene.again(shop=UP)
    await scene.becomes("running")

    assert not any(change.status == "failed" for change in scene.changes)
    assert scene.view()["pid"] == recorded().pid


async def test_a_command_that_ended_before_its_pid_was_written_is_not_run_again(scene: Scene):
    await scene.begin(shop=Service("exit 3", ready=Ready(log="up")))
    await scene.supervisor.act("shop", "start")
    await scene.becomes("failed")
    intent = replace(recorded(), pid=0, started=0, leader=0, leader_started=0)
    record.save("shop", replace(intent, status="starting"))

    await scene.again(shop=UP)

    assert scene.view()["status"] == "failed"
    assert scene.view()["lastExit"]["code"] == 3


async def test_a_start_that_is_under_way_is_done_before_the_daemon_goes(scene: Scene):
    begun, go = threading.Event(), threading.Event()

    def slow_login() -> dict[str, str]:
        begun.set()
        go.wait(60)
        return {"PATH": os.environ["PATH"], "HOME": str(scene.data)}

    scene.supervisor.world = replace(scene.supervisor.world, login=slow_login)
    await scene.begin(shop=UP)
    start = asyncio.create_task(scene.supervisor.act("shop", "start"))
    await asyncio.to_thread(begun.wait, 60)
    close = asyncio.create_task(scene.supervisor.close())
    for _ in range(100):
        await asyncio.sleep(0)
    go.set()
    await close
    with pytest.raises(asyncio.CancelledError):
        await start

    assert alive(recorded().pid)


async def test_a_stop_that_a_kill_of_the_daemon_cut_short_is_finished(scene: Scene):
    await scene.begin(shop=UP)
    pid = (await scene.supervisor.act("shop", "start")).pid or 0
    await scene.supervisor.close()
    record.save("shop", replace(recorded(), status="stopping", reason="user"))

    await scene.again(shop=UP)

    await scene.becomes("stopped")
    assert not alive(pid)


async def test_a_restart_that_a_kill_of_the_daemon_cut_short_is_finished(scene: Scene):
    await scene.begin(shop=UP)
    pid = (await scene.supervisor.act("shop", "start")).pid or 0
    await scene.supervisor.close()
    record.save(
        "shop",
        replace(recorded(), status="stopping", reason="restarting"),
    )

    await scene.again(shop=UP)

    assert (await scene.becomes("running"))["pid"] != pid
    assert not alive(pid)


async def test_a_retry_that_was_due_is_done_by_the_next_daemon(turned: Scene):
    service = Service("exit 1", restart="always")
    await turned.begin(shop=service)
    await turned.supervisor.act("shop", "start")
    await turned.becomes("backoff")

    await turned.again(shop=replace(UP, restart="always"))

    assert turned.view()["status"] == "backoff"
    assert (await turned.turned_until("running"))["pid"]


@pytest.mark.slow
async def test_a_crash_loop_holds_over_daemon_restarts_until_the_file_changes(turned: Scene):
    loops = Service("exit 1", autostart=True)
    await turned.begin(shop=loops)
    await turned.turned_until("failed")

    await turned.again(shop=loops)
    held = turned.view()
    await turned.again(shop=replace(UP, autostart=True))

    assert (held["status"], held["reason"]) == ("failed", "crash-loop")
    assert await turned.turned_until("running")


@pytest.mark.parametrize(
    "bytes_", [b"", b"{", b"[]", b"null", b'{"pid": "x"}', b"\xff" * 99, b"[" * 5000]
)
async def test_a_record_that_cannot_be_read_is_as_none(scene: Scene, bytes_: bytes):
    path = layout.record("shop")
    path.parent.mkdir(parents=True)
    path.write_bytes(bytes_)

    await scene.begin(shop=UP)

    assert scene.view()["status"] == "stopped"
    assert (await scene.supervisor.act("shop", "start")).ok


@pytest.mark.parametrize("said", [b"", b"0" * 32, b"x 0\n", b"f" * 32 + b" 0\n", b"0" * 5000])
def test_an_exit_of_another_run_or_torn_is_not_believed(data: Path, said: bytes):
    path = layout.exit_file("shop")
    path.parent.mkdir(parents=True)
    path.write_bytes(said)

    assert record.exit_of("shop", "0" * 32) is None


async def test_a_command_that_puts_itself_into_the_background_is_adopted(scene: Scene):
    port = free_port()
    daemon = python(FORKS + server(port).command[2])
    service = Service(daemon, port=port, restart="on-failure")
    await scene.begin(shop=service)

    told = await scene.supervisor.act("shop", "start")
    heir = await scene.until(lambda: scene.record().pid != scene.record().leader)
    pid = scene.view()["pid"]
    after = await scene.again(shop=service)

    assert heir
    assert (told.ok, told.status) == (True, "running")
    assert (after.view()["status"], after.view()["pid"]) == ("running", pid)
    assert (await scene.supervisor.act("shop", "stop")).ok
    assert not alive(pid)
    assert scene.view()["lastExit"]["signal"] == "SIGTERM"


async def test_a_backgrounded_service_that_dies_is_not_taken_for_a_clean_end(scene: Scene):
    port = free_port()
    await scene.begin(shop=Service(python(FORKS + server(port).command[2]), port=port))
    await scene.supervisor.act("shop", "start")
    await scene.until(lambda: scene.record().pid != scene.record().leader)

    os.kill(scene.view()["pid"], signal.SIGKILL)

    failed = await scene.becomes("failed")
    assert (failed["lastExit"]["code"], failed["lastExit"]["signal"]) == (None, None)


async def test_a_helper_left_by_a_command_that_ended_well_is_not_the_service(scene: Scene):
    await scene.begin(shop=Service("setsid sleep 66 & exit 0"))

    told = await scene.supervisor.act("shop", "start")

    assert (told.ok, told.status, told.reason) == (False, "stopped", "exited")


NGINX = """
pid nginx.pid; error_log error.log; worker_processes 2; events {{}}
http {{
  access_log off;
  client_body_temp_path b; proxy_temp_path p; fastcgi_temp_path f; uwsgi_temp_path u;
  scgi_temp_path s;
  server {{ listen 127.0.0.1:{port}; return 200 fine; }}
}}
"""
TITLED = {"nginx": "nginx -p . -c nginx.conf", "redis": "redis-server redis.conf"}


@pytest.fixture(params=TITLED)
def titled(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Service]:
    """A server that puts itself into the background and writes a title over its environment."""
    command, port = TITLED[request.param], free_port()
    if shutil.which(command.split()[0]) is None:
        pytest.skip(f"{request.param} is not installed")
    tmp_path.joinpath("nginx.conf").write_text(NGINX.format(port=port))
    redis = (
        f'bind 127.0.0.1\nport {port}\ndaemonize yes\nsave ""\ndir {tmp_path}\npidfile redis.pid\n'
    )
    tmp_path.joinpath("redis.conf").write_text(redis)
    yield Service(command, cwd=tmp_path, port=port)
    for path in tmp_path.glob("*.pid"):  # of a test that failed
        with contextlib.suppress(psutil.Error):
            left = psutil.Process(int(path.read_text()))
            if Path(left.cwd()) == tmp_path:
                left.terminate()


async def test_a_server_without_an_environment_is_adopted_and_stopped(
    scene: Scene, titled: Service
):
    assert titled.port is not None
    await scene.begin(shop=titled)

    for _ in range(2):
        told = await scene.supervisor.act("shop", "start")
        assert (told.ok, told.status) == (True, "running"), told
        await scene.until(lambda: scene.record().pid != scene.record().leader)
        await scene.again(shop=titled)
        view = scene.view()
        family = {process.pid for process in processes.members(scene.record().family)}
        stopped = await scene.supervisor.act("shop", "stop")

        assert view["status"] == "running"
        assert view["pid"] in family
        assert (stopped.ok, stopped.already, stopped.status) == (True, False, "stopped")
        assert not any(map(alive, family))
        assert ports.holder(titled.port) is None


@pytest.mark.parametrize("titled", ["nginx"], indirect=True)
async def test_what_workers_a_killed_server_leaves_are_the_service_and_stopped_with_it(
    scene: Scene, titled: Service
):
    await scene.begin(shop=titled)
    await scene.supervisor.act("shop", "start")
    await scene.until(lambda: scene.record().pid != scene.record().leader)
    master = scene.record().pid
    workers = [child.pid for child in psutil.Process(master).children()]

    os.kill(master, signal.SIGKILL)
    await scene.until(lambda: scene.record().pid in workers)
    stopped = await scene.supervisor.act("shop", "stop")

    assert (len(workers), stopped.ok, stopped.status) == (2, True, "stopped")
    assert not any(map(alive, workers))


async def test_a_server_without_an_environment_that_does_not_end_is_not_told_as_stopped(
    scene: Scene, titled: Service, monkeypatch: pytest.MonkeyPatch
):
    await scene.begin(shop=titled)
    await scene.supervisor.act("shop", "start")
    await scene.until(lambda: scene.record().pid != scene.record().leader)

    with monkeypatch.context() as patch:
        patch.setattr(processes, "send", lambda *_: False)
        patch.setattr(waiting, "KILLED_S", 0.2)
        scene.limits = Limits(stop_timeout=0.2)
        told = await scene.supervisor.act("shop", "stop")

    assert (told.ok, told.status) == (False, "running")
    assert alive(told.pid or 0)
    assert (await scene.supervisor.act("shop", "stop")).ok


@pytest.mark.parametrize(
    ("env", "later", "ours"),
    [({}, 0, True), ({"PATH": "/bin"}, 0, False), ({}, processes.YOUNG_S + 1, False),
     ({}, -1, False)],
    ids=["blank", "with an environment", "long after it", "before it"],
)  # fmt: skip
async def test_what_may_be_of_a_run_without_a_mark_began_with_it_and_has_no_environment(
    scene: Scene, env: dict[str, str], later: float, ours: bool
):
    """Another's server on the port of a service that has left is nobody's to end."""
    port = free_port()
    command = python(server(port).command[2])
    with subprocess.Popen(command, env={"PORT": str(port), **env}) as other:
        await scene.until(lambda: ports.holder(port))
        found = table.find(other.pid)
        assert found is not None
        began = found.started - int(later * table.PER_S)
        known = record.Record(
            run="0" * 32, boot=boot.boot_id(), pid=2**22, started=began, leader=2**22,
            leader_started=began,
        )  # fmt: skip
        heir = adopt.survivor(known, None, port)
        unheard = adopt.remains(known, None)
        other.kill()

    assert heir == (found if ours else None)
    assert unheard == []


def test_a_server_that_writes_a_title_over_its_mark_during_a_look_is_not_missed(
    monkeypatch: pytest.MonkeyPatch,
):
    run, environ = "0" * 32, table.environ
    with subprocess.Popen(["sleep", "66"], env={"TITLE": "x"}) as other:
        before = [[f"{processes.MARK}={run}".encode()]]

        def now(pid: int) -> list[bytes]:
            return before.pop() if pid == other.pid and before else environ(pid)

        monkeypatch.setattr(processes, "environ", now)
        found = table.find(other.pid)
        assert found is not None
        known = record.Record(
            run=run, boot=boot.boot_id(), pid=2**22, started=found.started, leader=2**22,
            leader_started=found.started,
        )  # fmt: skip
        left = {one.pid for one in adopt.remains(known, free_port())}
        other.kill()

    assert left == {other.pid}


@pytest.mark.parametrize("service", [UP, server(free_port())], ids=["no port", "port"])
async def test_a_killed_wrapper_leaves_the_service_running_and_known(
    scene: Scene, service: Service
):
    await scene.begin(shop=service)
    await scene.supervisor.act("shop", "start")
    wrapper = scene.record().leader
    child = int(Path(f"/proc/{wrapper}/task/{wrapper}/children").read_text())

    os.kill(wrapper, signal.SIGKILL)
    await scene.until(lambda: scene.view()["pid"] == child)

    assert scene.view()["status"] == "running"
    await scene.supervisor.act("shop", "stop")
    assert not alive(child)


DAEMON = """
import asyncio, os, sys
from pathlib import Path
from django.conf import settings
settings.configure(DATA_DIR=Path(sys.argv[1]), SVC_HOME="")
from dashboard.services.definition import Ready, Service
from dashboard.services.state import World
from dashboard.services.supervise import Supervisor
from dashboard.services.system.clock import Clock

data, count = Path(sys.argv[1]), int(sys.argv[2])

def service(n):
    if n % 4:
        command = "echo up; exec sleep 1000"
    else:  # some end by themselves, whoever is there
        command = f"echo up; until [ -e {data}/end-{n} ]; do sleep 0.05; done; exit {n + 1}"
    return Service(command, ready=Ready(log="up"), autostart=True, restart="no")

async def main():
    world = World(Clock(), print, lambda: {"PATH": os.environ["PATH"], "HOME": str(data)})
    supervisor = Supervisor(world)
    slugs = {f"app-{n}": service(n) for n in range(count)}
    await supervisor.begin(slugs)
    while not all(supervisor.status(slug) in ("running", "failed") for slug in slugs):
        await asyncio.sleep(0.01)
    (data / f"ready-{os.getpid()}").touch()
    while True:
        for slug in slugs:
            if supervisor.status(slug) == "running" and int(slug[4:]) % 4 == 1:
                await supervisor.act(slug, "restart")
        await asyncio.sleep(0)

asyncio.run(main())
"""


def _kills(count: int, services: int, data: Path) -> None:
    """Kill the daemon at random moments; some services are being restarted, some end meanwhile."""
    rng = random.Random(41)
    steady = {n for n in range(services) if n % 4 in (2, 3)}
    ending = [n for n in range(services) if n % 4 == 0]
    pids: dict[int, int] = {}
    for kill in range(count):
        daemon = subprocess.Popen(
            [sys.executable, "-c", DAEMON, str(data), str(services)],
            cwd=ROOT,
            stdout=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        until((data / f"ready-{daemon.pid}").exists, seconds=15)
        try:
            daemon.wait(rng.uniform(0, 0.3))
        except subprocess.TimeoutExpired:
            daemon.kill()
        assert daemon.wait() == -signal.SIGKILL
        records = {n: orjson.loads(layout.record(f"app-{n}").read_bytes()) for n in range(services)}
        for n in steady:
            assert alive(records[n]["pid"])
            assert pids.setdefault(n, records[n]["pid"]) == records[n]["pid"]
        if kill < len(ending):
            n = ending[kill]
            (data / f"end-{n}").touch()
            until(partial(gone, records[n]["pid"]))
    for n in ending[: count - 1]:
        assert records[n]["lastExit"]["code"] == n + 1


@pytest.mark.timeout(120)
async def test_no_kill_of_the_daemon_ends_a_service_or_loses_an_exit_code(scene: Scene):
    await asyncio.to_thread(_kills, ring(fast=7, slow=20), 20, scene.data)

    services = {f"app-{n}": UP for n in range(20)}
    await scene.begin(**services)
    running = [f"app-{n}" for n in range(20) if n % 4]  # a restart that was cut off is finished
    await scene.until(lambda: all(scene.view(slug)["status"] == "running" for slug in running))
    marks = [mark for path in Path("/proc").glob("[0-9]*/environ") if (mark := _run_of(path))]

    assert {scene.record(slug).run for slug in running} == set(marks)
    assert all(scene.view(f"app-{n}")["adopted"] for n in range(20) if n % 4 in (2, 3))


def _run_of(path: Path) -> str | None:
    """The run a process of ours belongs to."""
    try:
        entries = dict(e.split(b"=", 1) for e in path.read_bytes().split(b"\0") if b"=" in e)
    except OSError:
        return None
    mine = entries.get(b"HOME", b"").decode() == str(layout.logs("x").parents[2])
    return entries[b"SVC_RUN"].decode() if mine and b"SVC_RUN" in entries else None
