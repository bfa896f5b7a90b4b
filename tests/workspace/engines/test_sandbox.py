"""The sandbox: what the prefix holds, what a command inside can see, what a missing one means."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.workspace.chats.turns.world import World, book, fence, kinds, only
from workspace.engines import sandbox
from workspace.engines.confinement import Confinement
from workspace.engines.network import Network
from workspace.engines.sandbox import Sandbox

BWRAP = sandbox.probe("bwrap", hide=(), scratch="/tmp")
inside = pytest.mark.skipif(
    BWRAP.mode != "bwrap", reason=f"{BWRAP.reason}: apt-get install bubblewrap"
)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def confined(world: World) -> dict[str, Any]:
    hide = (str(world.root / "user"), str(world.root / "data"), str(world.root / "projects"))
    return {"sandbox": Sandbox("bwrap", "auto", None, hide)}


def bare(argv: list[str], hidden: Sandbox, **fields: Any) -> list[str]:
    """`argv` in a sandbox that covers no socket: one of another program may go away before it
    starts, which the service answers by trying again, and a test that starts it itself does not."""
    return sandbox.wrap(argv, hidden, writable=[], covered=False, **fields)


def failing_once(folder: Path) -> str:
    """A PATH whose bubblewrap finds, at its first start, that something is gone meanwhile."""
    (folder / "bin").mkdir()
    fake, tried = folder / "bin" / "bwrap", folder / "tried"
    fake.write_text(
        f'#!/bin/sh\n[ -e {tried} ] && exec {shutil.which("bwrap")} "$@"\ntouch {tried}\n'
        'echo "bwrap: Can\'t create file at /usr/x: Read-only file system" >&2\nexit 1\n'
    )
    fake.chmod(0o755)
    return f"{fake.parent}:{os.environ['PATH']}"


def test_without_bwrap_a_command_stays_as_it_is():
    assert sandbox.wrap(["x"], Sandbox(), cwd="/", writable=[]) == ["x"]


def test_the_prefix_has_the_order_of_the_contract(tmp_path):
    (tmp_path / ".chats").mkdir()
    found = sandbox.wrap(
        ["true"], Sandbox("bwrap", "auto", None, (str(tmp_path),)), cwd=str(tmp_path),
        writable=["/w"], read_only=[str(tmp_path / ".chats"), str(tmp_path / "absent")],
    )  # fmt: skip
    words = [word for word in found if word.startswith("--")]
    assert words[:11] == [
        "--unshare-net", "--die-with-parent", "--new-session", "--unshare-pid", "--unshare-ipc",
        "--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "--ro-bind", "--dev", "--proc",
    ]  # fmt: skip
    assert words[-4:] == ["--bind", "--ro-bind", "--chdir", "--"]
    assert str(tmp_path / "absent") not in found
    assert found.index("/w") > len(found) - 12


def test_in_plan_mode_the_project_is_read_only(tmp_path):
    found = sandbox.wrap(["x"], Sandbox("bwrap"), cwd=str(tmp_path), writable=[], plan=True)
    assert "--bind" not in found


def test_a_forced_sandbox_that_is_missing_is_unavailable_and_auto_is_off(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    for requested, mode in (("auto", "off"), ("bwrap", "unavailable"), ("off", "off")):
        found = sandbox.probe(requested, hide=(), scratch=str(tmp_path))
        assert (found.mode, found.requested) == (mode, requested)
        assert found.reason
    assert found.reason == "switched off by SVC_SANDBOX"


def test_a_bwrap_that_fails_says_why(monkeypatch, tmp_path):
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    found = sandbox.probe("auto", hide=(), scratch=str(tmp_path))
    assert found.mode == "off"
    assert found.reason == (
        "bubblewrap does not work here: bwrap: No permissions to create new namespace"
    )


def test_one_failure_of_bwrap_does_not_stand_for_the_machine(monkeypatch, tmp_path):
    fake = tmp_path / "bwrap"
    said = "bwrap: Unable to remount recursively with correct flags: Invalid argument"
    fake.write_text(
        f"#!/bin/sh\nmkdir {tmp_path}/tried 2>/dev/null || exit 0\necho '{said}' >&2; exit 1\n"
    )
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert sandbox.probe("auto", hide=(), scratch=str(tmp_path)).mode == "bwrap"
    assert (tmp_path / "tried").is_dir()


@pytest.mark.parametrize(
    "script",
    [
        "echo 'bwrap: Creating new namespace failed: Resource temporarily unavailable' >&2; exit 1",
        "echo 'bwrap: Creating new namespace failed: Cannot allocate memory' >&2; exit 1",
        "kill -9 $$",
        "exec sleep 60",
    ],
)
def test_auto_never_goes_without_a_sandbox_that_had_no_room_or_time(monkeypatch, tmp_path, script):
    fake = tmp_path / "bwrap"
    fake.write_text(f"#!/bin/sh\n{script}\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(sandbox, "PROBE_S", 0.5)
    found = sandbox.probe("auto", hide=(), scratch=str(tmp_path))
    assert found.mode == "unavailable"
    assert str(found.reason).startswith("bubblewrap ")


def test_an_unavailable_sandbox_starts_no_turn(world):
    missing = Sandbox("unavailable", "bwrap", "bubblewrap is not installed")
    records = world.run(book(fence("Write", "x", "file_path=ran")), sandbox=missing)
    end = records[-1]
    assert (end["status"], end["reason"]) == ("error", "sandbox_unavailable")
    assert end["text"] == "The sandbox is unavailable: bubblewrap is not installed."
    assert not (world.project / "ran").exists()


def test_a_wrapper_that_fails_later_fails_the_turn(world, tmp_path, monkeypatch):
    fake = tmp_path / "bin" / "bwrap"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    records = world.run(book(fence("Bash", "touch ran", "allow_failure")), **confined(world))
    assert (records[-1]["status"], records[-1]["reason"]) == ("error", "sandbox_unavailable")
    assert only(records, "tool_result")["text"] == "stopped"
    assert not (world.project / "ran").exists()


def test_a_network_that_is_off_needs_bubblewrap(world):
    records = world.run(book(fence("Bash", "true")), network=Network("off"))
    assert (records[-1]["status"], records[-1]["reason"]) == ("error", "refused")
    assert records[-1]["text"] == (
        "network off needs a sandbox (bubblewrap), and there is none here"
    )


def bash(world: World, command: str, **fields: Any) -> str:
    records = world.run(book(fence("Bash", command, "allow_failure")), **confined(world), **fields)
    text: str = only(records, "tool_result")["text"]
    return text


@inside
def test_a_command_sees_its_project_and_not_the_others(world):
    for name in ("user/.ssh/id", "data/svc.sqlite3", "projects/beta/secret"):
        path = world.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("secret")
    (world.project / "mine").write_text("mine")
    text = bash(
        world,
        f"cat mine; cd {world.root}; cat user/.ssh/id data/svc.sqlite3 projects/beta/secret;"
        " ls user data projects",
    )
    assert text.startswith("mine")
    assert "secret\n" not in text.replace("/secret", "")
    assert "beta" not in text.rsplit("projects:", 1)[1]


@inside
def test_a_command_writes_its_project_home_and_scratch_only(world):
    text = bash(
        world,
        'for d in . "$HOME" "$TMPDIR" /usr/local; do touch "$d/x" && echo "$d ok"; done 2>&1',
    )
    assert text.count(" ok") == 3
    assert "Read-only file system" in text
    assert (world.project / "x").exists()
    assert (world.home / "x").exists()


@inside
@pytest.mark.parametrize("mode", ["bypassPermissions", "default"])
def test_transcripts_cannot_be_changed_from_inside(world, mode):
    (world.project / "project.yaml").write_text("name: a\n")
    (world.project / ".svc").mkdir()
    text = bash(
        world,
        f"echo x >> .chats/{world.chat}.jsonl; rm -rf .chats; mv .chats gone; touch .chats/n;"
        " echo x >> project.yaml && echo armed; touch .svc/t && echo armed",
        mode=mode,
        tools=["Bash"],
    )
    assert "Read-only file system" in text
    assert text.count("armed") == (1 if mode == "bypassPermissions" else 0)
    assert (world.project / "project.yaml").read_text() == "name: a\n"
    assert [record["seq"] for record in world.records()] == list(range(1, len(world.records()) + 1))


@inside
def test_root_in_bypass_is_not_marked_when_it_is_confined(world):
    records = world.run(book(fence("Bash", "true")), **confined(world))
    assert "notice" not in kinds(records)
    assert records[0]["sandbox"] == "bwrap"


@inside
def test_no_process_of_a_command_is_left_in_its_namespace(world):
    text = bash(world, "setsid sleep 610 >/dev/null 2>&1 & (setsid env -i sleep 611 &) ; ls /proc")
    assert "[exit" not in text
    found = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    assert "sleep 610" not in found.stdout
    assert "sleep 611" not in found.stdout


@inside
@pytest.mark.parametrize(
    ("network", "answer"),
    [
        (lambda port: Network("off"), "refused"),
        (lambda port: Network("guarded"), "refused"),
        (lambda port: Network("guarded", ports=(port,)), "hello"),
        (lambda port: Network("host"), "hello"),
    ],
)
def test_a_port_of_this_machine_is_reached_where_it_is_open(world, network, answer):
    with Greeter() as port:
        text = bash(world, f"exec 3<>/dev/tcp/127.0.0.1/{port} && cat <&3", network=network(port))
    assert answer in text


class Greeter:
    """A server of this machine that says hello to each connection."""

    def __enter__(self) -> int:
        self.server = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._greet, daemon=True).start()
        return int(self.server.getsockname()[1])

    def __exit__(self, *_: object) -> None:
        self.server.close()

    def _greet(self) -> None:
        while True:
            try:
                peer = self.server.accept()[0]
            except OSError:
                return
            with peer:
                peer.sendall(b"hello")


@inside
def test_a_server_that_one_command_starts_answers_the_next(world):
    serve = "cd /; python3 -m http.server 3000 --bind 127.0.0.1 >/dev/null 2>&1 & echo started"
    wait = "until exec 3<>/dev/tcp/127.0.0.1/3000; do :; done 2>/dev/null; echo answered"
    records = world.run(book(fence("Bash", serve), fence("Bash", wait)), **confined(world))
    assert only(records, "turn_end")["status"] == "ok"
    results = [record["text"] for record in records if record["type"] == "tool_result"]
    assert results == ["started", "answered"]


@inside
def test_a_file_tool_sees_no_more_than_a_command(world):
    for name in ("user/.ssh/id", "data/svc.sqlite3", "projects/beta/secret"):
        path = world.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("secret")
        read = fence("Read", json.dumps({"file_path": str(path)}), "allow_failure")
        found = only(world.run(book(read), **confined(world)), "tool_result")
        assert (found["is_error"], "secret\n" in found["text"]) == (True, False)
    for tool, args in (
        ("Glob", {"pattern": "**/*", "path": str(world.root / "user")}),
        ("Grep", {"pattern": "secret", "path": str(world.root / "data")}),
        ("Edit", {"file_path": str(path), "old_string": "secret", "new_string": "x"}),
        ("Read", {"file_path": f"/proc/{os.getpid()}/environ"}),
    ):
        records = world.run(book(fence(tool, json.dumps(args), "allow_failure")), **confined(world))
        found = only(records, "tool_result")
        assert found["text"] in ("No files found", "No matches found") or found["is_error"], tool
    assert path.read_text() == "secret"


@inside
def test_a_command_has_no_capability(world):
    text = bash(world, "grep -E 'Cap(Eff|Prm|Inh|Amb)' /proc/self/status | cut -f2 | sort -u")
    assert text == "0" * 16


@inside
def test_a_killed_sandbox_costs_the_call_and_not_the_turn(world):
    steps = book(fence("Bash", "kill -9 $PPID", "allow_failure"), fence("Bash", "echo again"))
    records = world.run(steps, **confined(world))
    results = [record for record in records if record["type"] == "tool_result"]
    assert [record["is_error"] for record in results] == [True, False]
    assert results[1]["text"] == "again"


@inside
def test_the_triggers_cannot_be_armed_where_there_are_none_yet(world):
    text = bash(world, "mkdir -p .svc/triggers && echo armed", mode="default", tools=["Bash"])
    assert "Read-only file system" in text


@inside
def test_names_resolve_when_the_resolver_file_is_a_link_into_run(tmp_path, monkeypatch):
    """/run is covered, so the target of /etc/resolv.conf has to be brought back."""
    target = Path("/run/svc-test-resolv.conf")
    try:
        target.write_text("nameserver 192.0.2.1\n")
    except OSError:
        pytest.skip("/run cannot be written here")
    try:
        real = os.path.realpath
        links = {"/etc/resolv.conf": str(target)}
        monkeypatch.setattr(os.path, "realpath", lambda path: links.get(path) or real(path))
        argv = bare(["cat", str(target)], Sandbox("bwrap"), cwd=str(tmp_path))
        shown = subprocess.run(argv, capture_output=True, text=True, check=False)
        assert shown.stdout == "nameserver 192.0.2.1\n", shown.stderr
    finally:
        target.unlink()


def test_what_hiding_takes_away_is_listed(monkeypatch):
    monkeypatch.setattr(sys, "prefix", "/home/me/venv")
    monkeypatch.setattr(os.path, "exists", lambda path: True)
    assert sandbox._needed_paths(["/home/me"], ["/opt/x", "/home/me/cli"]) == [
        "/home/me/venv",
        "/home/me/cli",
    ]
    assert shutil.which("bwrap") is not None or BWRAP.mode != "bwrap"


@inside
def test_a_needed_link_stays_a_link_and_what_lies_below_a_needed_folder_comes_with_it(tmp_path):
    """A program finds its neighbours from where it really lies."""
    package = tmp_path / "lib"
    package.mkdir()
    (package / "run").write_text('#!/bin/sh\ncat "$(dirname "$(readlink -f "$0")")/beside"\n')
    (package / "run").chmod(0o755)
    (package / "beside").write_text("found")
    link = tmp_path / "bin"
    link.symlink_to(package / "run")
    place = tmp_path / "work"
    place.mkdir()
    needed = [str(link), str(package / "run"), str(package)]
    hidden = Sandbox("bwrap", hide=(str(tmp_path),))

    argv = bare([str(link)], hidden, cwd=str(place), needed=needed)

    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("found", "")
    assert argv.count(str(package / "run")) == 1  # where the link leads, and no bind of its own


def test_a_path_that_left_the_project_since_it_was_judged_is_not_opened_outside_the_sandbox(world):
    """A command may swap a folder for a link between the look and the opening."""
    for sandbox_of, refused in (({}, False), (confined(world), True)):
        confinement = Confinement(world.job("x", mode="bypassPermissions", **sandbox_of))
        assert (confinement.denial("/etc/passwd", write=False) is not None) == refused
        assert confinement.denial(str(world.project / "a"), write=True) is None
