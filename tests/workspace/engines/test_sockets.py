"""Unix sockets of the machine: what a command in the sandbox connects to, and what it does not."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.workspace.chats.turns.world import Hands, World, book, fence, only
from tests.workspace.engines.test_sandbox import confined, inside
from workspace.engines import sandbox, sockets
from workspace.engines.base import EngineError
from workspace.engines.confinement import Confinement
from workspace.engines.network import Network
from workspace.engines.sandbox import Sandbox

ASK = """python3 -c "
import socket
for path in {paths!r}:
    s = socket.socket(socket.AF_UNIX)
    try:
        s.connect(path)
        print(s.recv(9).decode())
    except OSError as error:
        print(error.strerror)
" """


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that no sandbox hides."""
    folder = Path(tempfile.mkdtemp(prefix="svc-test-", dir="/var/tmp"))
    yield folder
    shutil.rmtree(folder)


class Program:
    """A program of the machine that says its name to whoever connects."""

    def __init__(self, address: Path | str) -> None:
        self.server = socket.socket(socket.AF_UNIX)
        self.server.bind(str(address))
        self.server.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                peer = self.server.accept()[0]
            except OSError:
                return
            with peer:
                peer.sendall(b"machine")

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self.server.close()


def ask(world: World, *paths: Path | str, **fields: Any) -> list[str]:
    """What a command of a turn hears at each address."""
    command = ASK.format(paths=[str(path) for path in paths])
    records = world.run(book(fence("Bash", command, "allow_failure")), **confined(world), **fields)
    text: str = only(records, "tool_result")["text"]
    return text.splitlines()


@inside
@pytest.mark.parametrize("mode", ["guarded", "off"])
def test_a_program_of_the_machine_is_not_reached_by_its_unix_socket(world, place, mode):
    (place / "real").mkdir()
    (place / "link").symlink_to("real")
    with Program(place / "agent.sock"), Program(place / "link" / "b.sock"):
        asked = [place / "agent.sock", place / "real" / "b.sock", place / "link" / "b.sock"]
        assert ask(world, *asked, network=Network(mode)) == ["Connection refused"] * 3
        assert ask(world, *asked, network=Network("host")) == ["machine"] * 3


@inside
def test_a_socket_without_a_path_belongs_to_its_network(world):
    name = f"\0svc-test-{os.getpid()}"
    with Program(name):
        assert ask(world, name, network=Network("off")) == ["Connection refused"]
        assert ask(world, name, network=Network("host")) == ["machine"]


@inside
def test_sockets_of_the_turns_own_folders_are_reached(world):
    with Program(world.project / "dev.sock"), Program(world.home / "agent.sock"):
        heard = ask(world, world.project / "dev.sock", world.home / "agent.sock")
    assert heard == ["machine", "machine"]


@inside
def test_a_needed_folder_shows_no_socket_but_one_that_it_names(world, place, listed):
    hidden = Sandbox("bwrap", "auto", None, (str(place),))
    argv = ["sh", "-c", ASK.format(paths=[str(place / "lib/a"), str(place / "lib/b")])]
    (place / "lib").mkdir()
    listed([place / "lib/a", place / "lib/b"])
    with Program(place / "lib/a"), Program(place / "lib/b"):
        needed = [str(place / "lib"), str(place / "lib/b")]
        found = sandbox.wrap(argv, hidden, cwd=str(world.project), writable=[], needed=needed)
        assert said(found) == ["Connection refused", "machine"]


def said(argv: list[str]) -> list[str]:
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    return [*done.stdout.splitlines(), *done.stderr.splitlines()]


@pytest.fixture
def listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[list[Path]], None]:
    """Lets the machine have these sockets alone: what others open meanwhile does not count."""

    def list_them(paths: list[Path]) -> None:
        rows = [f"0: 00000002 00000000 00010000 0001 01 {at} {p}" for at, p in enumerate(paths)]
        (tmp_path / "listed").write_text("\n".join(["Num Path", *rows, ""]))
        monkeypatch.setattr(sockets, "LISTED", str(tmp_path / "listed"))
        monkeypatch.setattr(sockets, "MOST", 3)

    return list_them


@inside
def test_too_many_sockets_are_covered_with_their_folder(world, place, listed):
    (place / "many").mkdir()
    paths = [place / "alone", *(place / "many" / str(at) for at in range(9))]
    listed(paths)
    with ExitStack() as programs:
        for path in paths:
            programs.enter_context(Program(path))
        argv = sandbox.wrap(
            ["sh", "-c", ASK.format(paths=list(map(str, paths[:2])))],
            Sandbox("bwrap"), cwd=str(world.project), writable=[],
        )  # fmt: skip
        assert said(argv) == ["Connection refused", "No such file or directory"]
    assert str(place / "many" / "1") not in argv


def test_sockets_that_share_no_folder_are_covered_one_by_one_however_many(
    place, listed, monkeypatch
):
    paths = [place / name / "socket" for name in "abcdef"]
    listed(paths)
    with ExitStack() as programs:
        for path in paths:
            path.parent.mkdir()
            programs.enter_context(Program(path))
        covered = sockets.covers([], [], [])
    assert covered == [word for path in paths for word in ("--ro-bind", "/dev/null", str(path))]


@pytest.mark.parametrize("holds", ["project", "the system"])
def test_sockets_that_cannot_be_covered_start_no_turn(place, listed, monkeypatch, holds):
    paths = [place / str(at) for at in range(4)]
    listed(paths)
    monkeypatch.setattr(sockets, "LIMIT", 3)
    if holds == "the system":
        monkeypatch.setattr(sockets, "SYSTEM", (str(place),))
    with ExitStack() as programs:
        for path in paths:
            programs.enter_context(Program(path))
        with pytest.raises(EngineError) as refused:
            sockets.covers([], [], [str(place / "project")] if holds == "project" else [])
    assert refused.value.reason == "sandbox_unavailable"
    assert refused.value.text == (
        "The unix sockets of this machine are 4 that a command could reach, more than the 3 that "
        f"can be covered; many of them in {place}: end what listens there, or let the project have "
        "`network: host`, which covers none."
    )


def test_a_machine_that_does_not_list_its_sockets_starts_no_turn(tmp_path, monkeypatch):
    monkeypatch.setattr(sockets, "LISTED", str(tmp_path / "absent"))
    with pytest.raises(EngineError, match="cannot be listed"):
        sandbox.wrap(["x"], Sandbox("bwrap"), cwd="/", writable=[])
    assert sandbox.wrap(["x"], Sandbox(), cwd="/", writable=[]) == ["x"]


@inside
def test_a_socket_that_goes_away_while_the_sandbox_starts_costs_no_call(world, place, monkeypatch):
    job = world.job("x", **confined(world))
    for name, value in world.environ(job).items():
        monkeypatch.setenv(name, value)
    covers = iter([["--ro-bind", "/dev/null", str(place / "gone")], []])
    monkeypatch.setattr(sockets, "covers", lambda *_: next(covers))
    hands, confinement = Hands(job), Confinement(job)
    monkeypatch.setattr(hands, "runner", confinement.runner)
    try:
        assert hands.ok("Bash", command="echo ran") == "ran"
    finally:
        confinement.close()
