"""start, stop, restart: cases D40 and D42, with real processes."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from config.errors import Conflict, NotFound
from config.process import table
from config.process.table import Process
from config.storage.files import CannotWrite
from dashboard.services import record
from dashboard.services.actions import Outcome, Queue
from dashboard.services.definition import Ready, Service
from dashboard.services.state import Limits
from dashboard.services.system import ports, processes
from tests.dashboard.health.servers import Server
from tests.dashboard.itself import itself  # noqa: F401 - fixture
from tests.dashboard.services.world import SERVER, Scene, alive, log_of, python, server
from tests.service import free_port, until
from tests.wire import make_certificate


async def test_start_twice_stop_twice_and_restart(scene: Scene):
    await scene.begin(shop=server(free_port()))

    first = await scene.supervisor.act("shop", "start")
    second = await scene.supervisor.act("shop", "start")
    restarted = await scene.supervisor.act("shop", "restart")
    third = await scene.supervisor.act("shop", "stop")
    fourth = await scene.supervisor.act("shop", "stop")

    assert (first.ok, first.already, first.status) == (True, False, "running")
    assert (second.ok, second.already, second.pid) == (True, True, first.pid)
    assert (restarted.ok, restarted.action, restarted.status) == (True, "restart", "running")
    assert restarted.pid != first.pid
    assert (third.ok, third.already, third.status, third.pid) == (True, False, "stopped", None)
    assert (fourth.ok, fourth.already) == (True, True)
    assert not alive(first.pid or 0)
    assert not alive(restarted.pid or 0)


async def test_every_change_is_told_with_its_reason(scene: Scene):
    await scene.begin(shop=server(free_port()))

    await scene.supervisor.act("shop", "start")
    await scene.supervisor.act("shop", "stop")

    assert [(c.status, c.reason, c.asked) for c in scene.changes] == [
        ("starting", "spawned", True),
        ("running", "ok", False),
        ("stopping", "user", True),
        ("stopped", "user", True),
    ]


async def test_another_word_or_no_service_block_is_refused(scene: Scene):
    await scene.begin(shop=Service("sleep 60"))
    scene.supervisor.declare("shop", None)

    with pytest.raises(NotFound, match="use start, stop or restart"):
        await scene.supervisor.act("shop", "kill")
    for slug in ("shop", "other"):
        with pytest.raises(Conflict, match=r"add service\.command to apps/") as refused:
            await scene.supervisor.act(slug, "start")
        assert refused.value.code == "not_managed"


async def test_nothing_is_started_while_services_are_off(scene: Scene):
    scene.limits = Limits(enabled=False)
    await scene.begin(shop=Service("sleep 60", autostart=True))

    with pytest.raises(Conflict, match=r"services\.enabled") as refused:
        await scene.supervisor.act("shop", "start")

    unit = scene.supervisor._units["shop"]
    await unit.queue.do("after the autostart", unit._stop)
    assert refused.value.code == "services_off"
    assert "starting" not in [change.status for change in scene.changes]


async def test_what_runs_is_adopted_while_services_are_off(scene: Scene):
    service = server(free_port())
    await scene.begin(shop=service)
    pid = (await scene.supervisor.act("shop", "start")).pid
    scene.limits = Limits(enabled=False)

    await scene.again(shop=service)

    assert (scene.view()["status"], scene.view()["pid"]) == ("running", pid)


async def test_what_runs_is_stopped_and_not_restarted_while_services_are_off(scene: Scene):
    await scene.begin(shop=server(free_port()))
    pid = (await scene.supervisor.act("shop", "start")).pid
    scene.limits = Limits(enabled=False)

    with pytest.raises(Conflict) as refused:
        await scene.supervisor.act("shop", "restart")
    assert (refused.value.code, scene.view()["pid"]) == ("services_off", pid)
    assert (await scene.supervisor.act("shop", "stop")).ok

    assert scene.view()["status"] == "stopped"


async def test_a_port_held_by_a_stranger_is_named_with_its_holder(scene: Scene):
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
        await scene.begin(shop=server(port))

        with pytest.raises(Conflict) as refused:
            await scene.supervisor.act("shop", "start")

    assert refused.value.code == "port_in_use"
    assert f"Port {port} is held by" in refused.value.text
    assert refused.value.extra["holder"]["pid"] == os.getpid()
    assert scene.view()["status"] == "stopped"


async def test_what_has_the_port_on_another_address_is_in_nobodys_way(scene: Scene):
    port = free_port()  # one that the kernel gives nobody on another address meanwhile
    with (
        socket.create_server(("127.0.0.2", port)),
        socket.create_server(("127.0.0.1", port)) as usual,
    ):
        other = SERVER.replace("127.0.0.1", "127.0.0.3")
        placed = Service(python(other), port=port, address="127.0.0.3", ready=Ready(http="/"))
        await scene.begin(shop=placed, blog=server(port))

        aside = await scene.supervisor.act("shop", "start")
        with pytest.raises(Conflict, match=f"Port {port} is held by"):
            await scene.supervisor.act("blog", "start")
        usual.close()
        at_home = await scene.supervisor.act("blog", "start")

    assert [(told.ok, told.reason) for told in (aside, at_home)] == [(True, "ok")] * 2


@pytest.mark.parametrize("address", ["https://localhost:{}/", "/"])
async def test_a_service_that_speaks_tls_is_ready_by_its_address_or_a_path(
    scene: Scene, tmp_path: Path, address: str
):
    certificate, key = make_certificate(tmp_path)
    port = free_port()
    tls = SERVER.replace(").serve_forever()", ")").replace(
        "http.server.Threading", "s = http.server.Threading"
    )
    tls += (
        "import ssl; c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)\n"
        f"c.load_cert_chain({str(certificate)!r}, {str(key)!r})\n"
        "s.socket = c.wrap_socket(s.socket, server_side=True); s.serve_forever()\n"
    )
    ready = Ready(http=address.format(port))
    await scene.begin(shop=Service(python(tls), port=port, ready=ready))

    told = await scene.supervisor.act("shop", "start")

    assert (told.ok, told.status, told.reason) == (True, "running", "ok")


async def test_a_port_that_stays_taken_is_tried_ever_later_and_no_more_often_than_is_said(
    turned: Scene,
):
    with socket.create_server(("127.0.0.1", 0)) as held:
        service = server(held.getsockname()[1], restart="always", autostart=True, max_restarts=3)
        turned.turn.advance(1000)
        await turned.begin(shop=service)
        tries = set()

        def given_up() -> bool:
            turned.turn.advance(0.05)
            tries.add(turned.view()["nextRetryAt"])
            return bool(turned.view()["status"] == "failed")

        await turned.until(given_up)
    assert len(tries - {None}) == 3
    assert "is held by" in turned.view()["message"]


async def test_a_holder_in_a_directory_that_is_no_text_is_named_all_the_same(
    scene: Scene, tmp_path: Path
):
    port, odd = free_port(), Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    odd.mkdir()
    with subprocess.Popen([*python(SERVER)], cwd=odd, env={"PORT": str(port)}) as stranger:
        await scene.until(lambda: ports.holder(port))

        await scene.begin(shop=server(port, autostart=True))
        await scene.becomes("backoff")
        with pytest.raises(Conflict) as refused:
            await scene.supervisor.act("shop", "start")
        stranger.kill()

    known = record.load("shop")
    told = (refused.value.text, refused.value.extra["holder"]["cwd"], known and known.message)
    assert all(text and "/caf\ufffd" in text for text in told)
    assert refused.value.code == "port_in_use"


async def test_a_command_that_dies_answers_with_its_last_lines(scene: Scene):
    await scene.begin(shop=Service("echo one; echo two >&2; printf boom; exit 3", port=free_port()))

    told = await scene.supervisor.act("shop", "start")

    assert (told.ok, told.status, told.reason) == (False, "failed", "exited")
    assert told.log == ["one", "two", "boom"]
    assert scene.view()["lastExit"]["code"] == 3
    assert scene.view()["lastExit"]["signal"] is None


async def test_the_log_of_an_answer_is_that_of_its_own_run(scene: Scene):
    await scene.begin(shop=Service("echo only once; exit 1"))
    await scene.supervisor.act("shop", "start")

    told = await scene.supervisor.act("shop", "start")

    assert told.log == ["only once"]
    assert log_of() == "only once\nonly once\n"


@pytest.mark.parametrize(
    ("service", "sentence"),
    [
        (Service("true", cwd=Path("/no/such/folder")), "service.cwd: /no/such/folder is not a dir"),
        (Service(()), "service.command: must name a program"),
        (Service("true", env={"a-b": "1"}), 'service.env: "a-b" is not a name'),
        (Service("true", env={"A": "$NOT_THERE"}), r"service.env.A: $NOT_THERE is set neither"),
    ],
)
async def test_what_cannot_be_started_says_why(scene: Scene, service: Service, sentence: str):
    await scene.begin(shop=service)

    told = await scene.supervisor.act("shop", "start")

    assert (told.ok, told.status, told.log) == (False, "failed", [])
    assert told.message is not None
    assert sentence in told.message


async def test_a_list_is_run_without_a_shell(scene: Scene):
    await scene.begin(shop=Service(("/bin/echo", "$HOME; exit 9", "it's")))

    await scene.supervisor.act("shop", "start")

    assert log_of() == "$HOME; exit 9 it's\n"


async def test_a_program_that_is_missing_ends_with_127(scene: Scene):
    await scene.begin(shop=Service(("no-such-program-here",)))

    told = await scene.supervisor.act("shop", "start")

    assert not told.ok
    assert "no-such-program-here" in told.log[0]
    assert scene.view()["lastExit"]["code"] == 127


async def test_stop_ends_a_grandchild_that_left_the_group(scene: Scene):
    code = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen(['sleep', '61'], start_new_session=True)\n"
        "print(child.pid, flush=True); time.sleep(60)"
    )
    await scene.begin(shop=Service(python(code), ready=Ready(log="[0-9]+")))
    started = await scene.supervisor.act("shop", "start")
    grandchild = int(log_of())
    assert os.getsid(grandchild) != os.getsid(started.pid or 0)

    stopped = await scene.supervisor.act("shop", "stop")

    assert stopped.ok
    assert not alive(grandchild)


async def test_who_left_the_group_hears_the_stop_signal_too(scene: Scene):
    loop = "trap 'echo bye; exit' TERM; echo up; while :; do sleep 0.05; done"
    command = f'setsid sh -c "{loop}" & exec sleep 60'
    await scene.begin(shop=Service(command, ready=Ready(log="up")))
    await scene.supervisor.act("shop", "start")

    await scene.supervisor.act("shop", "stop")

    assert "bye" in log_of().splitlines()


async def test_who_leaves_the_group_as_the_signal_comes_hears_it_all_the_same(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    go = tmp_path / "go"
    os.mkfifo(go)
    leaves = f"import os; open({str(go)!r}).read(); os.setsid(); os.execlp('sleep', 'sleep', '60')"
    argv = shlex.join(python(leaves))
    await scene.begin(shop=Service(f"{argv} & echo $!; wait", ready=Ready(log="[0-9]")))
    await scene.supervisor.act("shop", "start")
    child, family = int(log_of()), scene.record().family
    look = processes.members

    def looked(*given: Any) -> list[Process]:
        found = look(*given)
        if os.getpgid(child) == family.leader:
            go.write_text("go")
            until(lambda: os.getpgid(child) == child)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(processes, "members", looked)
        await asyncio.to_thread(processes.tell, family, signal.SIGTERM)

    await scene.until(lambda: not alive(child))


def test_a_process_has_its_mark_while_it_begins_one_program_after_another():
    again = 'i=$1; [ "$i" -eq 0 ] || exec /bin/sh -c "$0" "$0" $((i - 1))'
    marked = {"PATH": os.environ["PATH"], "SVC_RUN": "one"}
    with subprocess.Popen(["/bin/sh", "-c", again, again, "300"], env=marked) as busy:
        seen = [table.environ(busy.pid) for _ in range(2000) if busy.poll() is None]

    assert len(seen) > 100
    assert all(b"SVC_RUN=one" in entries for entries in seen if entries)


async def test_stop_ends_a_child_that_hid_its_environment(scene: Scene):
    deaf = "trap '' TERM; while :; do sleep 1; done"
    command = f'(env -i /bin/sh -c "{deaf}" & echo $!); exec sleep 60'
    await scene.begin(shop=Service(command, ready=Ready(log="[0-9]"), stop_timeout=0.3))
    await scene.supervisor.act("shop", "start")
    hidden = int(log_of())
    assert alive(hidden)

    await scene.supervisor.act("shop", "stop")

    assert not alive(hidden)


async def test_what_ignores_the_stop_signal_is_killed_after_its_time(turned: Scene):
    deaf = "trap '' TERM; echo deaf; while :; do sleep 1; done"
    await turned.begin(shop=Service(deaf, ready=Ready(log="deaf"), stop_timeout=7))
    starting = asyncio.create_task(turned.supervisor.act("shop", "start"))
    await turned.turned_until("running")
    pid = (await starting).pid or 0

    stopping = asyncio.create_task(turned.supervisor.act("shop", "stop"))
    await turned.until(lambda: turned.turn.sleeps(7))
    turned.turn.advance(6.9)
    assert turned.view()["status"] == "stopping"
    assert alive(pid)
    turned.turn.advance(0.2)
    stopped = await stopping

    assert (stopped.ok, stopped.status) == (True, "stopped")
    assert not alive(pid)
    assert turned.view()["lastExit"]["signal"] == "SIGKILL"


@pytest.mark.parametrize("refused_at", [1, 2])
async def test_a_full_disk_refuses_a_start_before_it_and_never_loses_one_after_it(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, refused_at: int
):
    saves, save = [], record.save

    def full(slug: str, known: record.Record) -> None:
        saves.append(known)
        if len(saves) >= refused_at:
            raise CannotWrite("Cannot write shop.json: No space left on device")
        save(slug, known)

    monkeypatch.setattr(record, "save", full)
    await scene.begin(shop=Service("echo up; exec sleep 68", ready=Ready(log="up")))

    told = await scene.supervisor.act("shop", "start")
    started = told.pid
    await scene.supervisor.act("shop", "stop")

    assert told.ok is (refused_at == 2)
    assert (told.message is None) is told.ok
    assert ("up" in log_of()) is told.ok
    assert started is None or not alive(started)


@pytest.mark.parametrize("name", ["TERM", "INT", "HUP", "QUIT", "USR1"])
async def test_the_command_hears_its_own_stop_signal_and_says_goodbye(scene: Scene, name: str):
    code = (
        "import signal, sys, time\n"
        f"signal.signal(signal.SIG{name}, lambda *_: (print('bye', flush=True), sys.exit(5)))\n"
        "print('up', flush=True); time.sleep(60)"
    )
    await scene.begin(shop=Service(python(code), ready=Ready(log="up"), stop_signal=name))
    await scene.supervisor.act("shop", "start")

    await scene.supervisor.act("shop", "stop")

    assert log_of() == "up\nbye\n"
    assert scene.view()["lastExit"]["code"] == 5


async def test_a_restart_waits_until_the_port_is_free(turned: Scene):
    port = free_port()
    await turned.begin(shop=server(port))
    late = socket.create_server(("127.0.0.1", port))

    restarting = asyncio.create_task(turned.supervisor.act("shop", "restart"))
    await turned.until(lambda: turned.turn.sleeps(0.1), what="waits for the port")
    late.close()
    await turned.turned_until("running")

    assert (await restarting).ok


async def test_ready_by_a_page_and_by_a_line(scene: Scene):
    port, other = free_port(), free_port()
    page = server(port, ready=Ready(http="/anything"))
    line = Service("echo warming; sleep 0.2; echo 'Listening on it'; sleep 60",
                   ready=Ready(log=r"^Listening on \w+"), port=other)  # fmt: skip
    await scene.begin(page=page, line=line)

    both = await asyncio.gather(
        scene.supervisor.act("page", "start"), scene.supervisor.act("line", "start")
    )

    assert [(told.ok, told.status, told.reason) for told in both] == [(True, "running", "ok")] * 2
    assert both[1].log == ["warming", "Listening on it"]


async def test_a_service_that_never_gets_ready_is_told_as_late(turned: Scene):
    await turned.begin(shop=Service("sleep 60", ready=Ready(port=free_port(), timeout=4)))

    starting = asyncio.create_task(turned.supervisor.act("shop", "start"))
    await turned.turned_until("running")
    told = await starting

    assert (told.ok, told.reason) == (False, "start-timeout")


async def test_a_pattern_that_takes_for_ever_holds_up_nothing_and_is_never_ready(
    turned: Scene, caplog: pytest.LogCaptureFixture
):
    line = "listening on the address of this machine and then some more!"
    wanted = Ready(log=r"^(\w+\s?)+ready$", timeout=40)
    await turned.begin(
        shop=Service(f"echo '{line}'; sleep 600", ready=wanted),
        blog=Service("echo up; sleep 600", ready=Ready(log="up")),
    )

    starting = asyncio.create_task(turned.supervisor.act("shop", "start"))
    await turned.until(lambda: line in log_of("shop"), what="its line")
    beside = asyncio.create_task(turned.supervisor.act("blog", "start"))
    await turned.turned_until("running", "blog")
    await beside
    # 3 s of a processor, which other tests may want too
    await turned.until(lambda: "takes too long" in caplog.text, seconds=60, what="its end")
    assert turned.view("shop")["status"] == "starting"
    await turned.turned_until("running", "shop")
    await turned.supervisor.wait_for_start("shop", 0)

    assert turned.view("shop")["reason"] == "start-timeout"
    await starting


async def test_a_line_is_found_however_it_is_written(scene: Scene):
    code = (
        "import sys, time\n"
        "for part in ('x' * 200_000, '\\n', 'is rea', 'dy now'):\n"
        "    print(part, end='', flush=True); time.sleep(0.2)\n"
        "time.sleep(60)\n"
    )
    await scene.begin(
        parts=Service(python(code), ready=Ready(log="^is ready")),
        silent=Service("sleep 60", ready=Ready(log="x*")),
        odd=Service("echo 'a ✓ mark'; sleep 60", ready=Ready(log="✓ m")),
        wide=Service(python(code), ready=Ready(log=".*ready.*")),
    )

    told = await asyncio.gather(
        *(scene.supervisor.act(slug, "start") for slug in ("parts", "silent", "odd", "wide"))
    )

    assert [(one.ok, one.reason) for one in told] == [(True, "ok")] * 4


@pytest.mark.parametrize("ready", ["port", "http"])
async def test_the_service_itself_makes_nothing_ready_and_hears_nothing(
    turned: Scene,
    itself: Server,  # noqa: F811
    ready: str,
    caplog,
):
    url = f"http://127.0.0.1:{itself.port}/"
    wanted = Ready(port=itself.port) if ready == "port" else Ready(http=url)
    await turned.begin(shop=Service("sleep 60", ready=replace(wanted, timeout=4)))

    starting = asyncio.create_task(turned.supervisor.act("shop", "start"))
    await turned.until(lambda: "is this service itself" in caplog.text, what="the reason")
    await turned.turned_until("running")

    assert (await starting).reason == "start-timeout"
    assert itself.heard == []


async def test_a_start_is_answered_after_ten_seconds_whatever_comes(turned: Scene):
    await turned.begin(shop=Service("sleep 60", ready=Ready(port=free_port(), timeout=600)))

    starting = asyncio.create_task(turned.supervisor.act("shop", "start"))
    await turned.becomes("starting")
    await turned.until(lambda: turned.turn.sleeps(10))
    turned.turn.advance(9.9)
    assert not starting.done()
    turned.turn.advance(0.2)

    assert (await starting).status == "starting"


async def test_a_stop_need_not_wait_for_a_slow_start(turned: Scene):
    await turned.begin(shop=Service("sleep 60", ready=Ready(port=free_port(), timeout=600)))
    starting = asyncio.create_task(turned.supervisor.act("shop", "start"))
    await turned.becomes("starting")

    stopped = await turned.supervisor.act("shop", "stop")

    assert (await starting).ok
    assert stopped.status == "stopped"


async def test_identical_waiting_actions_are_one_and_too_many_are_refused(turned: Scene):
    await turned.begin(shop=Service("sleep 60", ready=Ready(port=free_port(), timeout=600)))
    act = turned.supervisor.act
    words = ["restart", "restart", *["stop", "start"] * 3, "stop"]
    first = asyncio.create_task(act("shop", "start"))
    await turned.becomes("starting")

    asked = [asyncio.create_task(act("shop", word)) for word in words]
    last = asyncio.create_task(act("shop", "start"))
    with pytest.raises(Conflict) as refused:
        await last
    done = await asyncio.gather(*asked)

    assert refused.value.code == "busy"
    assert (await first).ok
    assert done[0] is done[1]
    assert len({id(one) for one in done}) == 8
    assert turned.view()["status"] == "stopped"


async def test_an_action_is_done_even_when_its_asker_goes_away(scene: Scene):
    await scene.begin(shop=server(free_port()))
    asked = asyncio.create_task(scene.supervisor.act("shop", "start"))
    await scene.until(lambda: scene.changes)

    asked.cancel()

    await scene.becomes("running")


async def test_a_removed_block_leaves_the_process_to_be_stopped(scene: Scene):
    await scene.begin(shop=server(free_port()))
    started = await scene.supervisor.act("shop", "start")

    scene.supervisor.declare("shop", None)

    assert scene.view()["status"] == "running"
    assert (await scene.supervisor.act("shop", "stop")).ok
    assert not alive(started.pid or 0)
    assert scene.supervisor.wire("shop") is None


async def test_a_changed_command_is_stale_and_is_not_restarted(scene: Scene):
    service = server(free_port())
    await scene.begin(shop=service)
    started = await scene.supervisor.act("shop", "start")
    assert not scene.view()["stale"]

    scene.supervisor.declare("shop", server(service.port or 0, env={"A": "1"}))

    assert scene.view()["stale"]
    assert scene.view()["pid"] == started.pid


async def test_many_starts_and_stops_leave_nothing_open(scene: Scene):
    service = Service("echo up; exec sleep 67", ready=Ready(log="up"))
    await scene.begin(shop=service)
    counts, before = [], zombies()

    for _ in range(12):
        await scene.supervisor.act("shop", "start")
        await scene.supervisor.act("shop", "stop")
        counts.append((len(os.listdir("/proc/self/fd")), len(asyncio.all_tasks())))  # noqa: PTH208

    assert min(counts[6:]) <= max(counts[:6])  # one that is kept each time would show
    assert zombies() <= before


def zombies() -> set[int]:
    """Children of ours that have ended and that were not collected."""
    mine = psutil.Process().children()
    return {child.pid for child in mine if child.status() == psutil.STATUS_ZOMBIE}


def test_a_stop_signal_ignored_by_us_is_heard_by_the_service():
    """`nohup` and `&` start us deaf, and what a shell inherits as ignored it cannot undo."""
    code = (
        "import signal; from dashboard.services import wrapper; from pathlib import Path\n"
        "import subprocess\n"
        "argv = wrapper.argv(['sh', '-c', 'kill -INT $$; echo deaf'],"
        " run='0' * 32, exit_file=Path('/dev/null'), files=None)\n"
        "print(subprocess.run(argv).returncode)"
    )
    deaf = lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)  # noqa: E731

    told = subprocess.run(
        [sys.executable, "-c", code], preexec_fn=deaf, capture_output=True, text=True, check=True
    )

    assert told.stdout == "130\n"


async def test_a_fault_in_what_nobody_waits_for_is_logged(caplog):
    async def fails() -> Outcome:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await Queue("shop").put("retry", fails)

    assert "retry of shop failed" in caplog.text
