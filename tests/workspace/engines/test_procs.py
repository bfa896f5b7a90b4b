"""Finding and killing a turn's processes, however they hide; sparing everybody else."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from config.process import table
from tests.workspace.chats.turns.world import BASE, until
from workspace import ids
from workspace.engines import procs

DAEMON = "import os,time\nif os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\n"
REST = "open({path!r},'w').write(str(os.getpid()))\ntime.sleep(600)\n"


@pytest.fixture
def turn() -> Iterator[str]:
    turn = ids.turn_id()
    yield turn
    procs.kill_tree(turn=turn)


def alive(pid: int) -> bool:
    process = table.scan().get(pid)
    return process is not None and process.state not in "ZX"


def start(turn: str, code: str, **env: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", code], env={"PATH": os.environ["PATH"], procs.TAG: turn, **env}
    )


def pid_in(path: Path) -> int:
    return int(until(lambda: path.read_text() if path.exists() else "", bool))


def test_a_daemon_that_left_its_family_is_found_by_its_tag(turn, tmp_path):
    child = start(turn, DAEMON + REST.format(path=str(tmp_path / "pid")))
    daemon = pid_in(tmp_path / "pid")
    assert child.wait() == 0

    assert procs.kill_tree(turn=turn) == 1
    assert not alive(daemon)


def test_a_tree_without_a_tag_is_found_by_descent(turn, tmp_path):
    shell = f"echo $$ > {tmp_path}/pid; sleep 600; :"
    code = f"import subprocess; subprocess.run(['env', '-i', 'sh', '-c', {shell!r}])"
    child = start(turn, code)
    inner = pid_in(tmp_path / "pid")

    procs.kill_tree(roots=[child.pid])

    assert child.wait() == -9
    assert not alive(inner)


def test_a_process_that_ignores_signals_and_keeps_forking_is_killed(turn, tmp_path):
    code = (
        "import os, signal, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"open({str(tmp_path / 'pid')!r},'w').write(str(os.getpid()))\n"
        "while True:\n"
        "    if not os.fork():\n"
        "        os.setsid(); time.sleep(600)\n"
        "    time.sleep(0.001)\n"
    )
    child = start(turn, code)
    pid_in(tmp_path / "pid")
    procs.kill_tree(turn=turn, roots=[child.pid])
    assert child.wait() == -9
    tag = f"{procs.TAG}={turn}".encode()
    assert [pid for pid in table.scan() if alive(pid) and tag in table.environ(pid)] == []


def test_another_turns_processes_are_spared(turn, tmp_path):
    other = ids.turn_id()
    neighbour = start(other, "import os,time\n" + REST.format(path=str(tmp_path / "pid")))
    pid_in(tmp_path / "pid")
    assert procs.kill_tree(turn=turn) == 0
    assert neighbour.poll() is None
    procs.kill_tree(turn=other, roots=[neighbour.pid])
    neighbour.wait()


def test_the_caller_and_its_ancestors_are_never_hit():
    """A service that was itself started inside a turn carries that turn's tag."""
    code = (
        "import os, sys\n"
        "from workspace.engines import procs\n"
        "print(procs.kill_tree(turn=os.environ['SVC_TURN_ID']))\n"
        "print(procs.pids_by_turn(os.environ['TMPDIR']))\n"
    )
    turn = ids.turn_id()
    done = subprocess.run(
        ["sh", "-c", '"$0" -c "$1"; exit $?', sys.executable, code],
        env={"PATH": os.environ["PATH"], procs.TAG: turn, "TMPDIR": f"/x/{turn}/"}, cwd=BASE,
        stdout=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "0\n{}\n")


def test_a_service_finds_only_its_own_turns(turn, tmp_path):
    mine, theirs = ids.turn_id(), ids.turn_id()
    sleep = "import time; time.sleep(600)"
    children = [
        start(mine, sleep, TMPDIR=f"{tmp_path}/run/turns/{mine}/tmp"),
        start(theirs, sleep, TMPDIR=f"{tmp_path}/other/{theirs}/tmp"),
    ]
    found = until(lambda: procs.pids_by_turn(f"{tmp_path}/run/turns"), bool)
    assert found == {mine: [children[0].pid]}
    for child in children:
        procs.kill_tree(roots=[child.pid])
        child.wait()


def test_orphans_come_to_a_subreaper_and_are_reaped():
    code = (
        "import os, subprocess\n"
        "from config.process import prctl, table\n"
        "from workspace.engines import procs\n"
        "prctl.become_subreaper()\n"
        "left = 'setsid env -i sleep 600 &'\n"
        "subprocess.run(['sh', '-c', f'{left} {left} exit 0'])\n"
        "print(procs.kill_tree(below=(os.getpid(),)))\n"
        "print([p for p in table.scan().values() if p.parent == os.getpid()])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=BASE, stdout=subprocess.PIPE, text=True, check=True
    )
    assert done.stdout == "2\n[]\n"


def test_without_children_there_is_nothing_to_look_for(monkeypatch):
    code = (
        "import os\n"
        "from workspace.engines import procs\n"
        "procs.scan = None\n"
        "print(procs.kill_tree(below=(os.getpid(),)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=BASE, stdout=subprocess.PIPE, text=True, check=True
    )
    assert done.stdout == "0\n"


def test_a_process_that_hides_its_memory_shows_no_environment_to_its_own_user():
    code = (
        "import ctypes, os\n"
        "from config.process import prctl\n"
        "if os.geteuid() == 0: os.setuid(65534)  # root reads everything\n"
        "def look():\n"
        "    try: open('/proc/self/environ').read(); print('open')\n"
        "    except PermissionError: print('closed')\n"
        "ctypes.CDLL(None).prctl(4, 1, 0, 0, 0); look()\n"
        "prctl.hide_memory(); look()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=BASE, stdout=subprocess.PIPE, text=True, check=True
    )
    assert done.stdout == "open\nclosed\n"
