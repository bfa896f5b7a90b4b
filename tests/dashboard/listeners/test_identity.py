"""Who listens, told by real processes in real directories."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from dashboard.listeners import records
from dashboard.listeners.container import Engines
from dashboard.listeners.identity import Answer, Identity, identify
from dashboard.listeners.kinds import kind
from dashboard.listeners.names import name, slug
from dashboard.listeners.processes import Parent, Process
from tests.dashboard.listeners.listening import NAME
from tests.dashboard.listeners.servers import Servers, on
from tests.service import free_port, until

SERVER = """
const [port, host] = [Number(process.argv[2]), "127.0.0.1"];
require("http").createServer((request, answer) => answer.end("ok")).listen(port, host);
"""
RUNS = {"subprocess.Popen", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty", "os.system"}
_ran: list[str] = []
_watched = threading.Event()


def _audit(event: str, _args: object) -> None:
    if _watched.is_set() and event in RUNS:
        _ran.append(event)


sys.addaudithook(_audit)


@contextmanager
def nothing_is_run() -> Iterator[None]:
    _ran.clear()
    _watched.set()
    try:
        yield
    finally:
        _watched.clear()
    assert _ran == []


def who(port: int) -> Identity:
    """Found within five seconds of processor time or the test fails: reading never waits."""
    [one] = on(port)
    began = time.process_time()
    with nothing_is_run():
        found = identify(one.pid, port, uid=one.uid, engines=Engines([]))
    assert time.process_time() - began < 5
    return found


def repository(folder: Path, branch: str = "main") -> None:
    folder.mkdir(exist_ok=True)
    who_am_i = ["-c", "user.name=A", "-c", "user.email=a@example.com"]
    for args in (["init", "-q", "-b", branch], ["commit", "-q", "--allow-empty", "-m", "One"]):
        subprocess.run(["git", *who_am_i, *args], cwd=folder, check=True)


def test_a_server_in_a_repository_is_known_by_process_package_branch_and_framework(
    servers: Servers, tmp_path: Path
):
    shop = tmp_path / "checkout"
    repository(shop, "fix/cart")
    (shop / "pyproject.toml").write_text('[project]\nname = "shop"\nversion = "1.0"')
    part = shop / "site"
    part.mkdir()
    port = servers.http(cwd=part)

    told: Any = records.identity(who(port))

    process = told["process"]
    assert (process["pid"], process["ppid"]) == (servers.last.pid, os.getpid())
    assert process["argv"][1:4] == ["-m", "http.server", str(port)]
    assert process["exe"] == str(Path(sys.executable).resolve())
    assert process["parents"][0]["pid"] == os.getpid()
    assert all(parent["pid"] > 1 for parent in process["parents"])
    assert process["startedAt"].endswith("Z")
    assert told["cwd"] == str(part)
    assert told["git"]["root"] == str(shop)
    assert told["git"]["branch"] == "fix/cart"
    assert told["package"] == {
        "file": str(shop / "pyproject.toml"), "name": "shop", "version": "1.0", "manager": "pip",
    }  # fmt: skip
    assert (told["framework"]["id"], told["framework"]["confidence"]) == ("http.server", 0.9)
    assert (told["container"], told["title"], told["partial"]) == (None, None, False)


def test_a_server_started_by_npm_is_node_and_its_command_is_npms(servers: Servers, tmp_path: Path):
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    port = free_port()
    script = {"dev": f"node server.js {port} --token s3cret"}
    needs = {"express": "^4"}
    (tmp_path / "package.json").write_text(
        json.dumps({"name": "@acme/shop", "scripts": script, "dependencies": needs})
    )
    (tmp_path / "server.js").write_text(SERVER)
    (tmp_path / "node_modules/express").mkdir(parents=True)
    (tmp_path / "node_modules/express/package.json").write_text('{"version": "4.19.2"}')
    quiet = {"npm_config_update_notifier": "false"}
    servers.run("npm", "run", "dev", "--", "--verbose", "2", env=quiet)
    until(lambda: on(port), seconds=30)

    found = who(port)

    assert found.process.name == "node"
    told: Any = records.identity(found)["process"]["argv"]
    assert told == ["node", "server.js", str(port), "--token", "***", "--verbose", "2"]
    assert found.command == ("npm", "run", "dev", "--", "--verbose", "2")
    assert (name(found, port), slug(found, port), kind(found, port)) == ("shop", "shop", "dev")
    assert found.framework is not None
    assert (found.framework.id, found.framework.version) == ("express", "4.19.2")


def test_without_a_wrapper_the_command_is_its_own(servers: Servers):
    port = servers.http()

    assert who(port).command[1:] == ("-m", "http.server", str(port), "--bind", "127.0.0.1")


def test_a_wrapper_above_the_shell_somebody_types_in_is_no_part_of_the_command():
    dev = Parent(5, "make", ("make", "dev"))
    script, typed = Parent(6, "sh", ("sh", "-c", "vite")), Parent(4, "bash", ("-bash",))
    above = Parent(3, "uv", ("uv", "run", "bash"))

    def command(*parents: Parent) -> tuple[str, ...]:
        return Identity(Process(7, argv=("node", "vite"), parents=parents), "/x").command

    assert command(script, dev, typed, above) == ("make", "dev")
    assert command(script, typed, above) == ("node", "vite")
    assert command(typed, above) == ("node", "vite")


def test_a_worktree_is_named_with_its_branch(servers: Servers, tmp_path: Path):
    repository(tmp_path / "shop")
    subprocess.run(
        ["git", "worktree", "add", "-q", "-b", "fix/cart", str(tmp_path / "other")],
        cwd=tmp_path / "shop",
        check=True,
    )
    port = servers.http(cwd=tmp_path / "other")

    found = who(port)

    assert (name(found, port), slug(found, port)) == ("shop", "shop-fix-cart")
    assert slug(found, port, {"shop-fix-cart", "shop-fix-cart-2"}) == "shop-fix-cart-3"


def test_a_process_name_of_control_characters_is_shown_plainly(servers: Servers):
    found = who(servers.listening("named"))

    assert found.process.name == NAME
    assert records.identity(found)["process"]["name"] == "a) b�[31m�c�"


def test_a_command_line_written_into_a_name_shows_no_secret():
    title = "server --token=s3cret --port 3000"
    found = Identity(Process(7, name=title, parents=(Parent(6, title, ()),)), "/")

    told: Any = records.identity(found)

    shown = "server --token=*** --port 3000"
    assert (told["process"]["name"], name(found, 3000)) == (shown, shown)
    assert told["process"]["parents"] == [{"pid": 6, "name": shown}]


def test_an_argument_list_of_a_megabyte_is_cut_and_said_to_be(servers: Servers):
    many = [f"--password=s3cret{'x' * 100_000}"] * 10

    found = who(servers.listening("127.0.0.1", 0, *many))

    assert found.partial
    assert sum(map(len, found.process.argv)) <= 128 * 1024
    assert len(json.dumps(records.identity(found))) < 4_000
    assert "s3cret" not in json.dumps(records.identity(found))


def test_a_deleted_directory_is_still_told(servers: Servers, tmp_path: Path):
    home = tmp_path / "gone"
    repository(home)
    port = servers.listening("127.0.0.1", cwd=home)
    shutil.rmtree(home)

    found = who(port)

    assert found.cwd == str(home)
    assert (found.git, found.package) == (None, None)


def test_a_directory_full_of_traps_is_read_without_waiting(servers: Servers, tmp_path: Path):
    trap = tmp_path / "trap"
    trap.mkdir()
    os.mkfifo(trap / "package.json")
    os.mkfifo(trap / ".git")
    (trap / "pyproject.toml").symlink_to("pyproject.toml")
    (trap / "Gemfile").symlink_to("/dev/zero")
    with (trap / "go.mod").open("wb") as file:
        file.truncate(50_000_000)
    port = servers.listening("127.0.0.1", cwd=trap)

    found = who(port)

    assert found.git is None
    assert found.package is not None
    assert (found.package.file.name, found.package.name, found.partial) == ("go.mod", None, True)


def test_a_manifest_in_the_home_directory_does_not_name_what_lies_below(
    servers: Servers, tmp_path: Path, monkeypatch
):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "package.json").write_text('{"name": "stray"}')
    below = tmp_path / "notes"
    below.mkdir()

    assert who(servers.listening("127.0.0.1", cwd=below)).package is None
    in_it = who(servers.listening("127.0.0.1", cwd=tmp_path)).package
    assert in_it is not None
    assert in_it.name == "stray"


def test_a_manifest_above_the_repository_does_not_count(servers: Servers, tmp_path: Path):
    (tmp_path / "package.json").write_text('{"name": "stray"}')
    repository(tmp_path / "shop")

    assert who(servers.listening("127.0.0.1", cwd=tmp_path / "shop")).package is None


def test_of_a_process_that_is_gone_or_not_told_only_the_user_comes():
    found = records.identity(identify(None, 5432, uid=0, engines=Engines([])))

    assert found["process"] == {
        "pid": None, "ppid": None, "name": None, "exe": None, "argv": [], "user": "root",
        "startedAt": None, "parents": [],
    }  # fmt: skip
    assert (found["cwd"], found["partial"]) == (None, True)
    assert identify(2**22 + 1, 1, engines=Engines([])).partial


def test_an_answer_adds_title_favicon_and_a_surer_framework(servers: Servers):
    before = who(servers.listening("127.0.0.1"))

    after = before.with_answer(
        Answer(
            "http",
            title="Shop\x1b[31m",
            favicon="http://bob:pw@localhost/icon.svg",
            headers={"server": "Werkzeug/3.0.1 Python/3.11.7"},
        )
    )

    told: Any = records.identity(after)
    assert before.framework is None
    assert (told["title"], told["favicon"]) == ("Shop�[31m", "http://***@localhost/icon.svg")
    assert told["framework"]["id"] == "flask"
    assert before.with_answer(None) is before
