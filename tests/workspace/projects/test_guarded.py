"""What a client or a turn has cloned comes from where turns reach; of elsewhere nothing is told."""

from __future__ import annotations

import asyncio
import errno
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from config.errors import Invalid
from tests.service import free_port, until
from tests.workspace.projects.test_projects import names, repository
from workspace.access.principals import User
from workspace.engines.network import Network
from workspace.projects import guarded, store

pytestmark = [pytest.mark.process, pytest.mark.django_db]

USER = User()
FAILED = f'repo: {guarded.FAILED}, e.g. "https://example.com/team/notes.git"'


@pytest.fixture
def folder(settings, tmp_path: Path) -> Path:
    settings.PROJECTS_DIR = tmp_path / "projects"
    settings.PROJECTS_DIR.mkdir()
    return tmp_path / "projects"


@pytest.fixture
def home(tmp_path: Path, monkeypatch) -> Path:
    """A user whose git goes where the rules do not lead, for whatever host."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1,localhost")
    (home / ".gitconfig").write_text(
        '[http]\n\tproxy = http://127.0.0.1:9\n[http "http://127.0.0.1"]\n\tproxy = \n'
        "[clone]\n\tdefaultRemoteName = up\n"
    )
    return home


def cloned(url: str, *ports: int, **network: Any) -> Any:
    """The project that a caller who reaches these ports of this machine makes of it."""
    reached = Network(ports=ports, **network)
    return store.create(principal=USER, name="Cloned", repo=url, over_mcp=True, network=reached)


def refused(url: str, *ports: int, **network: Any) -> str:
    with pytest.raises(Invalid) as told:
        cloned(url, *ports, **network)
    return told.value.text


@contextmanager
def serving(handler: Any) -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


class Heard:
    """A listener that takes connections, and what it was told first in each."""

    def __init__(self) -> None:
        self.said: list[bytes] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._take, daemon=True).start()

    def _take(self) -> None:
        while True:
            try:
                with self._listener.accept()[0] as taken:
                    self.said.append(taken.recv(8192))
            except OSError:
                return

    def close(self) -> None:
        self._listener.close()


@pytest.fixture
def heard() -> Iterator[Heard]:
    with closing(Heard()) as one:
        yield one


def published(tmp_path: Path) -> Path:
    """The folder of a repository that a server of files can give away."""
    source = repository(tmp_path / "notes.git")
    subprocess.run(["git", "-C", source, "update-server-info"], check=True)
    return tmp_path


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("http://127.0.0.1:9/x", "127.0.0.1:9 is on this machine: open it with network.hostPorts"),
        ("http://[0:0:0:0:0:0:0:1]:9/x", "0:0:0:0:0:0:0:1:9 is on this machine"),
        ("https://localhost/x", "localhost:443 is on this machine"),
        ("git://2130706433/x", "2130706433:9418 is on this machine"),
        ("git@127.0.0.1:x", "127.0.0.1:22 is on this machine"),
        ("ssh://127.0.0.1:2222/x", "127.0.0.1:2222 is on this machine"),
        ("http://127.0.0.1:4255/x", "127.0.0.1:4255 is this service"),
        ("http://169.254.169.254/x", "169.254.169.254 is a link-local, metadata or multicast"),
        ("http://[0:0:0:0:0:ffff:a9fe:a9fe]/x", "is a link-local, metadata or multicast"),
        ("http://127.0.0.1:99999/x", "has a port that is none"),
    ],
)
def test_a_host_that_turns_do_not_reach_is_refused_before_it_is_asked(
    folder: Path, url: str, told: str
):
    assert told in refused(url, own=(4255,))
    assert names(folder) == []


def test_the_lists_and_the_mode_of_the_network_hold(folder: Path):
    assert "is denied by network.deny" in refused("http://127.0.0.1:9/x", 9, deny=("127.0.0.1",))
    assert "is not in network.allow" in refused("http://127.0.0.1:9/x", 9, allow=(("x.org",),))
    assert "the network is off" in refused("http://127.0.0.1:9/x", 9, mode="off")


def test_what_is_reached_is_cloned_whatever_the_users_git_says_of_proxies(
    folder: Path, home: Path, tmp_path: Path
):
    files = partial(SimpleHTTPRequestHandler, directory=str(published(tmp_path)))
    with serving(files) as port:
        project = cloned(f"http://127.0.0.1:{port}/notes.git/.git", port)

    assert (project.working_dir / "read.me").read_text() == "hi"


def test_what_is_reached_is_cloned_by_gits_own_protocol(folder: Path, home: Path, tmp_path: Path):
    port = free_port()
    base = published(tmp_path)
    daemon = subprocess.Popen(
        ["git", "daemon", "--export-all", "--listen=127.0.0.1", f"--port={port}",
         f"--base-path={base}", str(base)],
        stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        until(partial(_answers, port), what="the daemon answers")
        project = cloned(f"git://127.0.0.1:{port}/notes.git", port)
    finally:
        daemon.terminate()
        daemon.wait()

    assert (project.working_dir / "read.me").read_text() == "hi"


def _answers(port: int) -> bool:
    with socket.socket() as asked:
        return asked.connect_ex(("127.0.0.1", port)) == 0


def test_ssh_goes_the_same_way(folder: Path, home: Path, heard: Heard):
    assert refused(f"ssh://git@127.0.0.1:{heard.port}/x", heard.port) == FAILED

    assert [said[:8] for said in heard.said if said] == [b"SSH-2.0-"]


@pytest.mark.parametrize("scheme", ["http", "git", "ssh"])
def test_a_name_that_leads_elsewhere_by_the_time_git_asks_leads_nowhere(
    folder: Path, home: Path, heard: Heard, scheme: str
):
    """Here by the user's own configuration, which stands for a name with another address then."""
    with (home / ".gitconfig").open("a") as config:
        there = f"{scheme}://127.0.0.1:{heard.port}/"
        config.write(f'[url "{there}"]\n\tinsteadOf = {scheme}://elsewhere.invalid/\n')

    assert refused(f"{scheme}://elsewhere.invalid/x") == FAILED
    assert heard.said == []


def test_a_redirect_is_judged_like_the_first_address(folder: Path, home: Path, heard: Heard):
    class Redirects(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(302)
            self.send_header("Location", f"http://127.0.0.1:{heard.port}{self.path}")
            self.end_headers()

    with serving(Redirects) as port:
        assert refused(f"http://127.0.0.1:{port}/x", port) == FAILED

    assert heard.said == []


def test_an_open_and_a_closed_port_and_a_strange_name_fail_alike(
    folder: Path, home: Path, heard: Heard
):
    closed = free_port()

    told = {
        refused(f"http://127.0.0.1:{heard.port}/x", heard.port),
        refused(f"http://127.0.0.1:{closed}/x", closed),
        refused("http://elsewhere.invalid/x"),
    }

    assert told == {FAILED}
    assert heard.said
    assert names(folder) == []


def test_where_no_loop_can_be_made_a_clone_fails_and_nobody_waits(monkeypatch):
    def full() -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(asyncio, "new_event_loop", full)

    with pytest.raises(OSError, match="Too many open files"), guarded.way(Network()):
        pass
