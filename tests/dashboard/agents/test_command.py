"""`manage.py dashboard`: what people see, what scripts get, and how each way out ends."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from unittest.mock import patch

import pytest

from dashboard.management.commands.dashboard import Command
from tests.dashboard.agents.conftest import APPS
from tests.dashboard.served import Served
from tests.service import ROOT, until

Done = subprocess.CompletedProcess[str]


@dataclass
class Running:
    """A command that has not ended yet."""

    process: subprocess.Popen[str]
    out: IO[str]
    err: IO[str]


class Terminal:
    """A person who types `manage.py dashboard …`."""

    def __init__(self, served: Served, **environ: str) -> None:
        self.served = served
        self.environ = {
            "SVC_DASHBOARD_URL": served.dashboard_url, "PATH": os.environ["PATH"],
            "HOME": str(served.home), "COLUMNS": "80", **environ,
        }  # fmt: skip

    def run(self, *words: str, code: int = 0) -> Done:
        """The command in this process: sixty interpreters would take a minute to start."""
        out, err = io.StringIO(), io.StringIO()
        status: int | str | None = 0
        with (
            patch.dict(os.environ, self.environ, clear=True),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            try:
                Command().run_from_argv(["manage.py", "dashboard", *words])
            except SystemExit as ended:
                status = ended.code
        assert status == code, out.getvalue() + err.getvalue()
        return Done(words, code, out.getvalue(), err.getvalue())

    @contextlib.contextmanager
    def spawn(self, *words: str) -> Iterator[Running]:
        """The command as a process of its own, which finds the service by its data directory."""
        # what runs in the background of a shell ignores Ctrl-C, and so does what it starts
        argv = ["env", "--default-signal=INT", sys.executable]
        argv += [str(ROOT / "manage.py"), "dashboard", *words]
        process = subprocess.Popen(
            argv, env=self.served.env, cwd=self.served.data, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        with process:
            yield Running(process, process.stdout, process.stderr)

    def told(self, *words: str, code: int = 0) -> Any:
        return json.loads(self.run(*words, "--json", code=code).stdout)

    def lines(self, *words: str) -> list[str]:
        """What is shown; never wider than the terminal, but for what is wrong with files."""
        lines = self.run(*words).stdout.splitlines()
        shown = [line for line in lines if not line.startswith(("error: ", "warning: "))]
        assert all(len(line) <= 80 for line in shown), lines
        return shown


@pytest.fixture(scope="module")
def terminal(served: Served) -> Iterator[Terminal]:
    for name, text in APPS.items():
        served.declare(name, text)
    found = Terminal(served)
    until(lambda: set(APPS) <= {a["slug"] for a in found.told("ls")["apps"]}, what="the apps")
    yield found
    found.run("stop", "--all")


def test_json_is_asked_for_before_or_after_the_verb(terminal: Terminal):
    before, after = (
        json.loads(terminal.run(*words).stdout)["apps"]
        for words in (("--json", "ls"), ("ls", "--json"))
    )

    assert {app["slug"] for app in before} == {app["slug"] for app in after} >= set(APPS)


def test_apps_are_listed_shown_and_filtered(terminal: Terminal):
    lines = terminal.lines("ls", "--tag", "web")

    assert lines[0].split() == ["STATE", "APP", "ADDRESS", "ABOUT"]
    assert lines[1].split()[:4] == ["unknown", "still", "http://localhost:9/", "paused"]
    assert lines[2:] == ["1 unknown"]
    assert terminal.lines("ls", "--tag", "nope") == ["No apps."]
    shown = terminal.lines("show", "still")
    assert shown[0].split(maxsplit=1) == ["app", "Still (still, declared)"]
    assert shown[1].split()[:3] == ["state", "unknown", "(paused,"]


def test_json_is_what_the_api_answers(terminal: Terminal):
    answer = terminal.served.api.get("/api/apps/still").json()

    assert terminal.told("show", "still")["etag"] == answer["etag"]
    assert list(terminal.told("show", "still")) == list(answer)
    assert set(terminal.told("lost")) == {"lost"}


def test_a_service_is_started_restarted_and_stopped(terminal: Terminal):
    assert re.fullmatch(r"sleeper is running \(pid \d+\)", terminal.lines("start", "sleeper")[0])
    assert terminal.lines("start", "sleeper")[0].startswith("sleeper is already running")
    assert terminal.told("restart", "sleeper")["ok"] is True
    assert terminal.lines("stop", "sleeper") == ["sleeper is stopped"]


def test_what_did_not_start_ends_with_1_and_says_why(terminal: Terminal):
    done = terminal.run("start", "fails", code=1)

    assert done.stdout == ""
    assert done.stderr.startswith("fails did not start: ")
    assert "  broken" in done.stderr
    assert terminal.told("start", "fails", code=1)["ok"] is False


def test_stop_all_stops_every_service_and_says_which(terminal: Terminal):
    for slug in ("sleeper", "loud"):
        terminal.run("start", slug)

    assert set(terminal.told("stop", "--all")["stopped"]) == {"sleeper", "loud"}
    assert terminal.lines("stop", "--all") == ["No service runs."]


def test_a_refusal_ends_with_1_and_its_sentence_is_on_stderr(terminal: Terminal):
    done = terminal.run("show", "nope", code=1)
    assert (done.stdout, done.stderr) == ("", 'No app "nope".\n')
    assert terminal.told("show", "nope", code=1)["code"] == "not_found"
    done = terminal.run("start", "still", code=1)
    assert done.stderr.startswith('App "still" has no service')
    done = terminal.run("show", "../../config", code=1)
    assert "is not a valid name" in done.stderr
    done = terminal.run("ls", "--state", "fine", code=1)
    assert 'Query "state" must be' in done.stderr


@pytest.mark.parametrize(
    "words",
    [(), ("fly",), ("show",), ("stop",), ("stop", "sleeper", "--all"), ("lost", "restart"),
     ("logs", "sleeper", "-n", "x"), ("claim", "o-1"), ("ignore", "o-1", "--by", "name")],
)  # fmt: skip
def test_misuse_ends_with_2(terminal: Terminal, words: tuple[str, ...]):
    assert terminal.run(*words, code=2).stderr


@pytest.mark.parametrize("url", ["http://localhost:1", "ftp://x", "http://[::1"])
def test_nobody_there_ends_with_3(served: Served, url: str):
    done = Terminal(served, SVC_DASHBOARD_URL=url).run("ls", code=3)

    assert done.stdout == ""
    assert url in done.stderr


def test_something_else_there_ends_with_3(served: Served):
    dev = served.dev_server("elsewhere")
    until(lambda: _listens(dev.port), what="the server")

    done = Terminal(served, SVC_DASHBOARD_URL=f"http://127.0.0.1:{dev.port}").run("ls", code=3)

    assert "is not the dashboard" in done.stderr
    dev.kill()


def test_as_a_process_it_ends_with_the_same_codes(terminal: Terminal):
    for words, code in ((("ls",), 0), (("show", "nope"), 1), (("fly",), 2)):
        with terminal.spawn(*words) as command:
            assert command.process.wait(20) == code
            assert bool(command.out.read()) is (code == 0)
            assert bool(command.err.read()) is (code != 0)


def test_the_mount_on_the_main_port_serves_it_too(served: Served, terminal: Terminal):
    mounted = Terminal(served, SVC_DASHBOARD_URL=f"{served.url}/dashboard/")

    assert mounted.told("show", "still")["slug"] == "still"


def test_logs_show_their_end(terminal: Terminal):
    terminal.run("start", "loud")

    assert terminal.lines("logs", "loud")[-2:] == ["one", "two"]
    assert terminal.lines("logs", "loud", "-n", "1") == ["two"]
    assert terminal.told("logs", "loud", "-n", "1")["lines"] == ["two"]
    assert "lines" in terminal.run("logs", "loud", "-n", "0", code=1).stderr
    terminal.run("stop", "loud")


def test_a_follower_sees_what_comes_and_leaves_cleanly(terminal: Terminal, tmp_path: Path):
    bell = tmp_path / "bell"
    os.mkfifo(bell)
    terminal.served.declare(
        "talker", f"service: {{command: 'echo first; cat {bell}; exec sleep 1000', cwd: /}}\n"
    )
    until(lambda: terminal.served.app("talker"), what="the app")
    terminal.run("start", "talker")

    with terminal.spawn("logs", "talker", "-f") as follower:
        assert follower.out.readline() == "first\n"
        bell.write_text("second\nthird\n")
        assert [follower.out.readline() for _ in range(2)] == ["second\n", "third\n"]
        follower.process.send_signal(signal.SIGINT)

        assert follower.process.wait(10) == 0
        assert (follower.out.read(), follower.err.read().strip()) == ("", "")
    terminal.run("stop", "talker")
    terminal.run("rm", "talker")


def test_a_reader_that_has_seen_enough_is_no_error(terminal: Terminal):
    terminal.run("start", "loud")

    with terminal.spawn("logs", "loud", "-f") as follower:
        follower.out.readline()
        follower.out.close()
        terminal.run("restart", "loud")  # writes again

        assert (follower.process.wait(10), follower.err.read()) == (0, "")
    terminal.run("stop", "loud")


def test_what_listens_is_found_claimed_and_ignored(terminal: Terminal):
    one, other = (terminal.served.dev_server(name) for name in ("wanted", "unwanted"))

    def ids() -> dict[str, str]:
        rows = [line.split() for line in terminal.lines("scan")[1:]]
        return {row[1]: row[0] for row in rows}

    wanted = {str(one.port), str(other.port)}
    until(lambda: wanted <= set(ids()), what="both")
    found = ids()
    done = terminal.lines("claim", found[str(one.port)], "mine", "--name", "Mine")
    assert done == ["mine is declared in apps/mine.yaml"]
    assert terminal.told("show", "mine")["name"] == "Mine"
    assert terminal.lines("ignore", found[str(other.port)]) == [
        f"ignore.yaml ignores port {other.port}"
    ]
    assert not wanted & set(ids())
    one.kill()
    other.kill()
    (line,) = terminal.lines("rm", "mine")
    assert re.fullmatch(r"mine is in backups/removed/apps/mine\.\w+\.yaml", line)


def test_a_hostile_project_drives_no_terminal(terminal: Terminal):
    dev = terminal.served.dev_server("\x1b[31mred\x1b]0;title\x07")

    until(lambda: f" {dev.port} " in terminal.run("scan").stdout, what="the server")

    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", terminal.run("scan").stdout)
    dev.kill()


def test_a_broken_file_is_told_as_a_compiler_does(terminal: Terminal):
    path = terminal.served.declare("torn", "name: x\nport: [\n")
    until(lambda: "torn" in terminal.run("ls").stdout, what="the file error")

    assert re.search(r"^error: apps/torn\.yaml:\d: ", terminal.run("ls").stdout, re.MULTILINE)
    path.unlink()


def test_nothing_lost_is_said_so(terminal: Terminal):
    assert terminal.lines("lost") == ["Nothing is lost."]
    assert terminal.lines("lost", "dismiss") == ["Nothing is lost."]
    assert 'No lost app "o-1"' in terminal.run("lost", "restart", "o-1", code=1).stderr


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_open_starts_the_browser_with_the_address(served: Served, tmp_path: Path):
    seen = tmp_path / "seen"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {seen}\n')
    browser.chmod(0o755)
    somebody = Terminal(served, BROWSER=f"{browser} %s")

    assert somebody.lines("open", "still") == ["http://localhost:9/"]
    until(seen.exists, what="the browser")
    assert seen.read_text() == "http://localhost:9/"
    assert "has no address" in somebody.run("open", "sleeper", code=1).stderr
