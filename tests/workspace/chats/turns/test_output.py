"""The log of a turn: bounded, whatever it prints, and its end is always there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.workspace.chats.world import HELLO, World
from workspace.chats.turns import output

MUCH = 100_000_000
PRINTS = f"""#!/bin/sh
echo the first words >&2
head -c {MUCH} /dev/zero | tr '\\0' 'x' >&2
echo the last words >&2
"""


@pytest.fixture
def loud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What is run instead of Python for a turn: it prints 100 MB, then does what `then` says."""
    path = tmp_path / "loud"
    path.write_text(f"{PRINTS}python={sys.executable}\n")
    path.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(path))
    return path


def log_of(turn: str) -> bytes:
    return (Path(os.environ["SVC_DATA_DIR"]) / "logs" / "turns" / f"{turn}.log").read_bytes()


def test_a_turn_that_prints_100_mb_and_crashes_leaves_its_first_and_last_words(
    world: World, loud: Path
):
    turn = world.chat(HELLO).turn
    assert turn is not None
    with loud.open("a") as file:
        file.write("exit 1\n")

    done = world.run(turn.id)

    text = log_of(turn.id)
    assert done.state == "failed"
    assert len(text) <= output.MOST
    assert text.startswith(b"the first words\nxxx")
    assert text.endswith(b"xxxthe last words\n")
    (note,) = [line for line in text.split(b"\n") if b"bytes left out" in line]
    kept = len(text) - len(note) - 2
    assert int(note.split()[0].strip(b"[")) + kept == MUCH + len(
        "the first words\nthe last words\n"
    )


def test_a_turn_that_prints_100_mb_does_its_work_all_the_same(world: World, loud: Path):
    turn = world.chat(HELLO).turn
    assert turn is not None
    with loud.open("a") as file:
        file.write('exec "$python" "$@"\n')

    assert world.run(turn.id).state == "done"
    assert len(log_of(turn.id)) <= output.MOST


def test_a_full_disk_holds_nobody_up(tmp_path: Path):
    program = (
        "import resource, subprocess, sys; from pathlib import Path;"
        "from workspace.chats.turns.output import Output;"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096));"
        f"output = Output(Path({str(tmp_path / 'log')!r})).__enter__();"
        "done = subprocess.run(['head', '-c', '3000000', '/dev/zero'], stdout=output.into);"
        "output.__exit__(); print(done.returncode)"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )

    assert done.stdout == "0\n"
    assert (tmp_path / "log").stat().st_size <= 4096


def test_what_an_earlier_try_printed_stays(tmp_path: Path):
    for word in (b"first ", b"second"):
        with output.Output(tmp_path / "log") as made:
            os.write(made.into, word)

    assert (tmp_path / "log").read_bytes() == b"first second"


def test_a_process_that_keeps_the_pipe_ends_no_later_than_the_bound(tmp_path: Path):
    with output.Output(tmp_path / "log") as made:
        kept = os.dup(made.into)
        os.write(kept, b"said")

    os.write(kept, b" and more")
    os.close(kept)
    assert (tmp_path / "log").read_bytes().startswith(b"said")
