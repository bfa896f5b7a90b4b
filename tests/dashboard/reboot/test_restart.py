"""Lost items started again, once or as a service, with real processes."""

from __future__ import annotations

import asyncio
import socket
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from config.errors import Conflict, Invalid
from dashboard.files import layout, store
from dashboard.services.definition import Service
from dashboard.services.state import Limits
from tests.dashboard.reboot.world import Machine, listening, server
from tests.dashboard.services.world import Turned, alive, log_of, python
from tests.service import free_port


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    return made


async def test_restart_starts_the_command_as_it_ran_and_the_item_is_gone(
    machine: Machine, folder: Path
):
    port = free_port()
    await machine.reboots_from(server(port, folder))

    answer = await machine.lost.restart("o-shop")

    assert answer == {
        "ok": True, "id": "o-shop", "slug": "shop", "state": "up", "reason": "ok",
        "message": None, "log": [],
    }  # fmt: skip
    assert accepts(port)
    pid = machine.services.wire("shop")["pid"]  # type: ignore[index]
    assert Path(f"/proc/{pid}/cwd").readlink() == folder
    assert machine.lost.wire() is None
    assert machine.events[-1] == []
    assert store.apps() == {}


async def test_what_was_started_once_is_not_lost_while_the_daemon_is_away(
    machine: Machine, folder: Path
):
    await machine.reboots_from(server(free_port(), folder))
    await machine.lost.restart("o-shop")

    await machine.start()
    await machine.grace_is_over()

    assert machine.items() == []


async def test_restart_gives_the_command_the_environment_it_needs(machine: Machine, folder: Path):
    tell = python("import os; print(os.environ.get('NODE_ENV'), os.environ['PORT'])")
    process = await asyncio.create_subprocess_exec(
        *python("import signal; signal.pause()"),
        env={"NODE_ENV": "test", "PORT": "1", "MY_TOKEN": "hunter2", "CONDA_TOKEN": "hunter2"},
    )
    await machine.reboots_from(listening(argv=tell, cwd=str(folder), pid=process.pid))
    process.kill()
    await process.wait()

    await machine.lost.restart("o-shop")

    assert log_of("shop").split() == ["test", "1"]


async def test_a_command_that_had_no_port_variable_gets_none(machine: Machine, folder: Path):
    process = await asyncio.create_subprocess_exec(
        *python("import signal; signal.pause()"), env={"NODE_ENV": "test"}
    )
    tell = python("import os; print(os.environ.get('PORT'))")
    here = listening(argv=tell, cwd=str(folder), pid=process.pid)
    await machine.reboots_from(here, replace(here, id="o-admin", name="admin"))
    process.kill()
    await process.wait()

    await machine.lost.restart("o-shop")
    await machine.lost.restart("o-admin", as_service=True)

    assert log_of("shop").split() == ["None"]
    assert set(log_of("admin").split()) == {"None"}


async def test_a_command_that_dies_is_told_with_its_reason_and_its_last_lines(
    machine: Machine, folder: Path
):
    dies = python("for n in range(30): print('line', n)\nraise SystemExit(3)")
    await machine.reboots_from(listening(argv=dies, cwd=str(folder)))

    answer = await machine.lost.restart("o-shop")

    assert answer["ok"] is False
    assert (answer["state"], answer["reason"]) == ("down", "exited")
    assert answer["log"] == [f"line {number}" for number in range(10, 30)]
    assert machine.item()["status"] == "failed"
    assert machine.item()["note"] == answer["message"]
    assert machine.item()["canRestart"] is True
    await machine.start()
    assert machine.item()["status"] == "failed"


async def test_a_second_try_runs_under_the_same_slug(machine: Machine, folder: Path):
    await machine.reboots_from(
        listening(argv=(sys.executable, "later.py"), cwd=str(folder), port=(port := free_port()))
    )
    first = await machine.lost.restart("o-shop")
    (folder / "later.py").write_text(_source(server(port, folder).argv))

    second = await machine.lost.restart("o-shop")

    assert (first["ok"], second["ok"]) == (False, True)
    assert first["slug"] == second["slug"] == "shop"
    assert accepts(port)


async def test_a_command_that_does_not_open_its_port_is_told_after_fifteen_seconds(
    machine: Machine, folder: Path
):
    clock = machine.service_clock = Turned()
    sleeps = python("import signal; print('busy', flush=True); signal.pause()")
    await machine.reboots_from(listening(argv=sleeps, cwd=str(folder), port=free_port()))

    work = asyncio.create_task(machine.lost.restart("o-shop"))
    await _passes(clock, 10.0)
    assert not work.done()
    await _passes(clock, 5.0)
    answer = await work

    assert answer["ok"] is False
    assert answer["state"] == "starting"
    assert "is silent after 15 s; the command still runs" in str(answer["message"])
    assert alive(machine.services.wire("shop")["pid"])  # type: ignore[index, arg-type]
    assert machine.item()["status"] == "failed"


async def test_while_it_starts_the_item_says_so(machine: Machine, folder: Path):
    clock = machine.service_clock = Turned()
    await machine.reboots_from(
        listening(argv=python("import signal; signal.pause()"), cwd=str(folder), port=free_port())
    )
    work = asyncio.create_task(machine.lost.restart("o-shop"))
    while machine.item()["status"] != "starting":
        await asyncio.sleep(0.005)

    assert machine.item()["canRestart"] is False
    assert machine.events[-1] == ["o-shop"]
    await machine.sees(listening())  # what opens the port now may end before the answer
    assert machine.item()["status"] == "starting"
    with pytest.raises(Conflict, match="being started already"):
        await machine.lost.restart("o-shop", as_service=True)
    await _passes(clock, 10.0)
    await _passes(clock, 5.0)
    await work


async def test_two_who_ask_at_once_start_it_once(machine: Machine, folder: Path):
    await machine.reboots_from(server(free_port(), folder))

    one, other = await asyncio.gather(
        machine.lost.restart("o-shop"), machine.lost.restart("o-shop")
    )

    assert one == other
    assert one["ok"] is True
    assert machine.services.slugs() == {"shop"}


async def test_it_is_started_even_if_the_asker_goes_away(machine: Machine, folder: Path):
    port = free_port()
    await machine.reboots_from(server(port, folder))
    asker = asyncio.create_task(machine.lost.restart("o-shop"))
    await asyncio.sleep(0)

    asker.cancel()

    async with asyncio.timeout(20):
        while machine.items():
            await asyncio.sleep(0.01)
    assert accepts(port)


async def test_a_port_that_somebody_else_holds_is_told(machine: Machine, folder: Path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        await machine.reboots_from(server(taken.getsockname()[1], folder))

        answer = await machine.lost.restart("o-shop")

    assert answer["ok"] is False
    assert answer["reason"] == "port_in_use"
    assert "is held by" in str(answer["message"])


async def test_an_item_whose_directory_is_gone_is_not_started(machine: Machine, folder: Path):
    await machine.reboots_from(server(free_port(), folder))
    folder.rmdir()

    for as_service in (False, True):
        answer = await machine.lost.restart("o-shop", as_service=as_service)
        assert answer["ok"] is False
        assert (answer["reason"], answer["message"]) == ("blocked", "Not started: cwd is gone.")

    assert machine.services.slugs() == set()
    assert store.apps() == {}


async def test_a_declared_service_is_started_as_its_file_says(machine: Machine, folder: Path):
    port = free_port()
    wanted = Service(server(port, folder).argv, port=port, cwd=folder)
    await machine.reboots_from(listening(slug="shop", service=True, cwd="/gone", port=port))
    machine.services.declare("shop", wanted)

    answer = await machine.lost.restart("o-shop")

    assert answer["ok"] is True
    assert accepts(port)


async def test_as_a_service_it_is_written_and_started(machine: Machine, folder: Path):
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        *python("import signal; signal.pause()"), env={"NODE_ENV": "test", "PORT": str(port)}
    )
    await machine.reboots_from(server(port, folder, pid=process.pid))
    process.kill()
    await process.wait()

    answer = await machine.lost.restart("o-shop", "web", as_service=True)

    assert answer["ok"] is True
    assert answer["slug"] == "web"
    assert accepts(port)
    entry = store.get("apps", "web")
    assert entry is not None
    assert not entry.file_errors
    assert entry.value == {
        "name": "shop",
        "port": port,
        "match": {"cwd": str(folder)},
        "service": {
            "command": list(server(port, folder).argv),
            "cwd": str(folder),
            "autostart": True,
            "env": {"PORT": str(port), "NODE_ENV": "test"},
        },
    }
    assert machine.services.wire("web")["autostart"] is True  # type: ignore[index]
    assert machine.lost.wire() is None


async def test_a_declared_app_gets_the_block_and_keeps_the_rest_of_its_file(
    machine: Machine, folder: Path
):
    port = free_port()
    path = layout.home() / "apps" / "shop.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(f"# mine\nname: Shop  # the shop\nport: {port}\n")
    await machine.reboots_from(server(port, folder, slug="shop"))

    answer = await machine.lost.restart("o-shop", as_service=True)

    assert answer["ok"] is True
    text = path.read_text()
    assert text.startswith(f"# mine\nname: Shop  # the shop\nport: {port}\n")
    entry = store.get("apps", "shop")
    assert entry is not None
    assert entry.value is not None
    assert entry.value["service"]["autostart"] is True


async def test_a_service_block_that_exists_is_left_alone(machine: Machine, folder: Path):
    store.put("apps", "shop", {"service": {"command": "mine"}})
    before = (layout.home() / "apps" / "shop.yaml").read_bytes()
    await machine.reboots_from(server(free_port(), folder, slug="shop"))

    with pytest.raises(Conflict) as refused:
        await machine.lost.restart("o-shop", as_service=True)

    assert refused.value.code == "exists"
    assert refused.value.extra == {"etag": store.get("apps", "shop").etag}  # type: ignore[union-attr]
    assert (layout.home() / "apps" / "shop.yaml").read_bytes() == before
    assert machine.item()["status"] == "lost"


async def test_as_a_service_while_services_are_off_nothing_is_written(
    machine: Machine, folder: Path
):
    machine.limits = Limits(enabled=False)
    await machine.reboots_from(server(free_port(), folder))

    with pytest.raises(Conflict) as refused:
        await machine.lost.restart("o-shop", as_service=True)
    answer = await machine.lost.restart("o-shop")

    assert refused.value.code == "services_off"
    assert store.apps() == {}
    assert answer["ok"] is False
    assert "services are off" in str(answer["message"])


@pytest.mark.parametrize("as_service", [False, True])
async def test_a_slug_that_cannot_be_is_refused_and_nothing_changes(
    machine: Machine, folder: Path, as_service: bool
):
    store.put("apps", "shop", {"name": "Shop"})
    store.put("apps", "other", {"service": {"command": "x"}})
    await machine.reboots_from(
        server(free_port(), folder, slug="shop"), server(free_port(), folder, name="free")
    )
    before = {path: path.read_bytes() for path in (layout.home() / "apps").iterdir()}

    with pytest.raises(Invalid) as bad:
        await machine.lost.restart("o-shop", "../x", as_service=as_service)
    with pytest.raises(Invalid, match='must be "shop"'):
        await machine.lost.restart("o-shop", "else", as_service=as_service)
    with pytest.raises(Conflict if as_service else Invalid):
        await machine.lost.restart("o-free", "other", as_service=as_service)

    assert bad.value.code == "bad_slug"
    assert {path: path.read_bytes() for path in (layout.home() / "apps").iterdir()} == before
    assert machine.services.slugs() == set()
    assert {item["status"] for item in machine.items()} == {"lost"}


async def test_the_suggested_slug_is_never_that_of_another_app(machine: Machine, folder: Path):
    store.put("apps", "shop", {"name": "Another shop"})
    await machine.reboots_from(server(free_port(), folder))

    answer = await machine.lost.restart("o-shop")

    assert answer["slug"] == "shop-2"


async def test_a_listener_without_a_name_gets_a_slug_of_its_port(machine: Machine, folder: Path):
    port = free_port()
    await machine.reboots_from(server(port, folder, name="漢字"))

    assert (await machine.lost.restart("o-漢字"))["slug"] == f"app-{port}"


async def test_a_file_that_cannot_say_the_command_is_not_written(machine: Machine, folder: Path):
    await machine.reboots_from(
        replace(server(free_port(), folder), argv=("serve", "x" * (20 << 10)))
    )

    with pytest.raises(Invalid) as refused:
        await machine.lost.restart("o-shop", as_service=True)

    assert refused.value.extra["issues"][0]["path"].startswith("service.command")
    assert store.apps() == {}
    assert machine.item()["status"] == "lost"


async def _passes(clock: Turned, seconds: float) -> None:
    """So much time, as soon as a task waits for it."""
    while not clock.sleeps(seconds):
        await asyncio.sleep(0.005)
    clock.advance(seconds)


def _source(argv: tuple[str, ...]) -> str:
    return argv[2]


def accepts(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0
