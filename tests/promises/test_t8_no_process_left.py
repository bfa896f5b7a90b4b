"""T8: whatever a turn's commands become, nothing of them is left when the turn has ended."""

from __future__ import annotations

import random
import signal
import time
from pathlib import Path

import pytest

from config.process import table
from tests.promises.rings import ring, seeded
from tests.workspace.chats.turns.world import World, book, fence, until
from workspace.engines import procs

ROUNDS = ring(fast=5, slow=1000)
pytestmark = pytest.mark.timeout(60 + 2 * ROUNDS)

PYTHON = """python3 - <<'END'
import os, signal, time
def mark(): open('pids/' + str(os.getpid()), 'w').close()
for number in range(1, 64):
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        try: signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError): pass
mark()
if not os.fork():
    os.setsid()
    if os.fork(): os._exit(0)
    mark(); time.sleep(600)
time.sleep(600)
END"""
KINDS = (
    "setsid sh -c 'touch pids/$$; sleep 600; :' & {wait}",
    "(setsid sh -c 'touch pids/$$; sleep 600; :' &) ; {wait}",
    "trap '' TERM INT HUP; touch pids/$$; sleep 600; {wait}",
    "sh -c 'touch pids/$$; nohup sleep 600 & wait' & disown -a; {wait}",
    PYTHON,
)
UNTAGGED = 'setsid env -i sh -c \'cd "$0"; touch pids/$$; sleep 600; :\' "$PWD" & {wait}'
WAIT = "sleep 600; :"


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def alive(world: World) -> list[int]:
    known = {int(path.name) for path in (world.project / "pids").iterdir()}
    return [pid for pid, p in table.scan().items() if pid in known and p.state not in "ZX"]


def begin(world: World, commands: list[str], dice: random.Random):
    """A turn in the middle of one of its commands, at some moment."""
    pids = world.project / "pids"
    pids.mkdir(exist_ok=True)
    for path in pids.iterdir():
        path.unlink()
    running = world.start(world.job(book(fence("Bash", dice.choice(commands).format(wait=WAIT)))))
    until(lambda: list(pids.iterdir()), bool)
    time.sleep(dice.random() * 0.03)  # the moment of the stop is the random part of the promise
    return running


@pytest.mark.promise("T8")
def test_a_stopped_turn_leaves_no_process(world):
    dice = seeded()
    for _ in range(ROUNDS):
        running = begin(world, [*KINDS, UNTAGGED], dice)
        running.stop(dice.choice(["user", "timeout", "shutdown"]))
        code, log = running.end()

        assert (code, log) == (0, "")
        assert world.records(running.job.turn)[-1]["type"] == "turn_end"
        assert alive(world) == []
        assert procs.pids_by_turn(str(world.root)) == {}


@pytest.mark.promise("T8")
def test_a_killed_turn_is_cleared_by_its_tag(world):
    dice = seeded()
    for _ in range(max(4, ROUNDS // 4)):
        running = begin(world, list(KINDS), dice)
        running.child.send_signal(signal.SIGKILL)
        procs.kill_tree(turn=running.job.turn, roots=[running.child.pid])
        assert running.end()[0] == -9

        assert alive(world) == []
        assert procs.pids_by_turn(str(world.root)) == {}
