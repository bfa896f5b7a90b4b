"""The journal of what runs."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from config.logs import timestamp
from dashboard.reboot import Settings, environment
from dashboard.reboot import journal as journals
from dashboard.reboot.entry import ARGV
from dashboard.reboot.running import Running
from dashboard.services.definition import Service
from tests.dashboard.reboot.world import GRACE, Machine, journal, listening, notice
from tests.dashboard.services.world import python
from tests.promises.rings import few
from tests.service import ROOT, until

SHOP, BLOG = listening("shop"), listening("blog", 4000)


async def test_a_listener_is_written_at_the_next_round_and_rounds_are_two_seconds_apart(
    machine: Machine,
):
    lost = await machine.boot("first")
    running = asyncio.create_task(lost.run())
    for _ in range(100):
        await asyncio.sleep(0)
    lost.take_scan([SHOP])

    assert machine.clock.sleeps(2.0)
    machine.clock.advance(1.9)
    await asyncio.sleep(0)
    assert not journal().exists()
    machine.clock.advance(0.1)
    while not journal().exists():
        await asyncio.sleep(0.005)

    assert machine.journal() == {SHOP.id}
    running.cancel()


async def test_it_says_all_that_brings_a_listener_back(machine: Machine):
    await machine.boot("first")
    await machine.sees(replace(SHOP, slug="shop", service=True))

    value = json.loads(journal().read_text())

    assert value["bootId"] == "first"
    (one,) = value["listeners"]
    assert one["id"] == SHOP.id
    assert one["slug"] == "shop"
    assert (one["argv"], one["cwd"], one["port"]) == (list(SHOP.argv), SHOP.cwd, 3000)
    assert one["service"] is True
    assert journal().stat().st_mode & 0o777 == 0o600


async def test_nothing_is_written_while_nothing_changes(machine: Machine):
    await machine.boot("first")
    await machine.sees(SHOP)
    before = journal().stat()

    for _ in range(5):
        await machine.sees(SHOP)

    assert journal().stat().st_ino == before.st_ino
    assert journal().stat().st_mtime_ns == before.st_mtime_ns


async def test_what_ended_stays_for_ten_minutes(machine: Machine):
    await machine.boot("first")
    await machine.sees(SHOP, BLOG)
    await machine.sees(BLOG)
    await machine.sees(BLOG, after=590)
    assert machine.journal() == {SHOP.id, BLOG.id}

    await machine.sees(BLOG, after=10)

    assert machine.journal() == {BLOG.id}


async def test_the_last_one_leaves_an_empty_journal_behind_when_the_grace_time_is_over(
    machine: Machine,
):
    await machine.boot("first")
    await machine.sees(SHOP)
    await machine.sees()
    await machine.sees(after=601)

    assert machine.journal() == set()


async def test_a_server_that_is_back_on_another_port_is_remembered_once(machine: Machine):
    await machine.boot("first")
    await machine.sees(SHOP)

    await machine.sees(replace(SHOP, id="o-moved", port=3001))

    assert machine.journal() == {"o-moved"}


async def test_an_app_that_is_back_by_its_slug_is_remembered_once(machine: Machine):
    await machine.boot("first")
    await machine.sees(replace(SHOP, slug="shop"))

    await machine.sees(replace(BLOG, slug="shop"))

    assert machine.journal() == {BLOG.id}


async def test_a_service_that_a_user_stopped_is_not_remembered(machine: Machine):
    await machine.boot("first", shop=Service(python("import signal; signal.pause()")))
    await machine.services.act("shop", "start")
    await machine.sees(replace(SHOP, slug="shop", service=True))
    await machine.services.act("shop", "stop")

    await machine.sees(after=2)

    assert await _left(machine) == set()


async def test_it_is_forgotten_at_once_when_nothing_else_listens(machine: Machine):
    service = Service(python("import signal; signal.pause()"))
    await machine.boot("first", shop=service)
    await machine.services.act("shop", "start")
    await machine.sees(replace(SHOP, slug="shop", service=True))
    await machine.services.act("shop", "stop")

    await machine.sees(after=2)

    assert machine.journal() == set()


async def test_a_service_that_a_user_stopped_just_before_the_reboot_is_not_lost(machine: Machine):
    service = Service(python("import signal; signal.pause()"))
    await machine.boot("first", shop=service)
    await machine.services.act("shop", "start")
    await machine.sees(replace(SHOP, slug="shop", service=True), BLOG)
    await machine.services.act("shop", "stop")
    assert machine.journal() == {SHOP.id, BLOG.id}, "no scan has seen it"

    await machine.services.close()
    await machine.boot("second", shop=service)
    await machine.grace_is_over()

    assert machine.ids() == {BLOG.id}


async def test_a_service_that_was_stopped_and_removed_is_not_remembered(machine: Machine):
    await _stopped_and_removed(machine)

    await machine.sees(after=2)

    assert await _left(machine) == set()


async def test_a_service_that_was_stopped_and_removed_just_before_the_reboot_is_not_lost(
    machine: Machine,
):
    await _stopped_and_removed(machine)
    assert machine.journal() == {SHOP.id}, "no scan has seen it"

    await machine.services.close()
    await machine.boot("second")
    await machine.grace_is_over()

    assert machine.ids() == set()


async def _stopped_and_removed(machine: Machine) -> None:
    await machine.boot("first", shop=Service(python("import signal; signal.pause()")))
    await machine.services.act("shop", "start")
    await machine.sees(replace(SHOP, slug="shop", service=True))
    await machine.services.act("shop", "stop")
    machine.services.declare("shop", None)


async def test_a_service_that_ended_by_itself_is_remembered(machine: Machine):
    await machine.boot("first", shop=Service(python("raise SystemExit(3)")))
    await machine.sees(replace(SHOP, slug="shop", service=True))
    await machine.services.act("shop", "start")

    await machine.sees(after=2)

    assert await _left(machine) == {SHOP.id}


async def _left(machine: Machine) -> set[str]:
    """The journal when an empty one may be written, too."""
    machine.settings = replace(machine.settings, grace=0.0)
    await machine.lost.step()
    return machine.journal()


@pytest.mark.parametrize(
    "argv",
    [
        ("serve", "--token", "hunter2"),
        ("serve", "--api-key=hunter2"),
        ("serve", "DB_PASSWORD=hunter2"),
        ("serve", "postgres://me:hunter2@db/shop"),
        ("sh", "-c", "API_TOKEN=hunter2 exec serve"),
        ("serve", *["x"] * 300, "--token", "hunter2"),
        ("serve", "x" * 2000 + " --token hunter2"),
    ],
)
async def test_no_secret_of_a_command_line_reaches_the_disk(
    machine: Machine, argv: tuple[str, ...]
):
    await machine.reboots_from(listening(argv=argv))

    assert machine.item()["blocked"] == "its command line holds a secret, which is never kept"
    assert machine.item()["canRestart"] is False
    assert machine.item()["canService"] is False
    assert b"hunter2" not in notice().read_bytes()


async def test_no_secret_of_a_command_line_is_in_the_journal(machine: Machine):
    await machine.boot("first")
    await machine.sees(listening(argv=("serve", "--token", "hunter2")))

    assert b"hunter2" not in journal().read_bytes()
    assert b"***" in journal().read_bytes()


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (listening(argv=("serve", "x" * ARGV)), "its command line is too long to be kept"),
        (listening(argv=("\udcff",)), "its command line or its directory is not text"),
        (listening(cwd="/\udcff"), "its command line or its directory is not text"),
        (listening(argv=()), "its command line or its directory is not known"),
        (listening(argv=("",)), "its command line or its directory is not known"),
        (listening(cwd=""), "its command line or its directory is not known"),
        (
            listening(identity={"container": {"name": "web"}}),
            "it is a container; start it with its engine",
        ),
    ],
)
async def test_a_listener_that_cannot_be_kept_whole_is_told_but_not_started(
    machine: Machine, broken, why
):
    await machine.reboots_from(broken)

    assert machine.item()["blocked"] == why
    answer = await machine.lost.restart(broken.id)
    assert answer["ok"] is False
    assert answer["message"] == f"Not started: {why}."


def test_of_an_environment_only_what_finds_tools_is_kept_and_no_secret():
    said = [
        b"PATH=/bin", b"NVM_DIR=/n", b"CONDA_PREFIX=/c", b"HOST=h", b"EMPTY", b"", b"HOME=/me",
        b"CONDA_TOKEN=hunter2", b"NVM_PASS=hunter2", b"CONDA_URL=https://me:hunter2@conda/",
        b"NODE_ENV=\xff", b"VIRTUAL_ENV=" + b"x" * 9000,
    ]  # fmt: skip

    kept = environment.kept_variables(said)

    assert kept == {"PATH": "/bin", "NVM_DIR": "/n", "CONDA_PREFIX": "/c", "HOST": "h"}


async def test_a_huge_identity_is_left_out(machine: Machine):
    await machine.reboots_from(listening(identity={"title": "x" * 100_000}))

    assert machine.item()["identity"] is None


@pytest.mark.parametrize(
    "data",
    [
        b"", b"{", b"null", b"[]", b"\xff\xfe", b'{"version": 2}', b'{"version": 1}',
        b'{"version": 1, "bootId": "x", "writtenAt": "2026-11-20T00:00:00", "listeners": []}',
        b'{"version": 1, "bootId": 7, "writtenAt": "2026-11-20T00:00:00Z", "listeners": []}',
        b'{"version": 2, "bootId": "x", "writtenAt": "2026-11-20T00:00:00Z", "listeners": []}',
        b'{"version": 1, "bootId": "x", "writtenAt": "2026-11-20T00:00:00Z", "listeners": [{}]}',
        b'{"version": 1, "bootId": "x", "writtenAt": "2026-11-20T00:00:00Z", "listeners": [7]}',
    ],
)  # fmt: skip
async def test_a_journal_that_is_not_ours_is_put_aside(machine: Machine, data: bytes):
    for path in (journal(), notice()):
        path.write_bytes(data)

    await machine.boot("first")
    await machine.grace_is_over(SHOP)

    assert machine.items() == []
    assert machine.journal() == {SHOP.id}
    for path in (journal(), notice()):
        (aside,) = path.parent.glob(f"{path.name}.unreadable-*")
        assert aside.read_bytes() == data


async def test_a_journal_that_is_a_folder_is_put_aside(machine: Machine):
    journal().mkdir()

    await machine.boot("first")
    await machine.sees(SHOP)

    assert machine.journal() == {SHOP.id}


async def test_a_disk_that_refuses_is_asked_again(machine: Machine):
    await machine.boot("first")
    folder = journal().parent
    moved = folder.rename(folder.with_name("moved"))
    folder.write_text("in the way")

    await machine.sees(SHOP)
    folder.unlink()
    moved.rename(folder)
    await machine.sees(SHOP)

    assert machine.journal() == {SHOP.id}


async def test_switched_off_nothing_is_kept(machine: Machine):
    await machine.boot("first")
    await machine.sees(SHOP)
    machine.settings = Settings(enabled=False)

    await machine.sees(SHOP, BLOG)

    assert not journal().exists()


async def test_switched_on_again_it_is_kept_again(machine: Machine):
    machine.settings = Settings(enabled=False)
    await machine.boot("first")
    await machine.sees(SHOP)
    machine.settings = Settings()

    await machine.sees(SHOP)

    assert machine.journal() == {SHOP.id}


async def test_closing_writes_what_waits(machine: Machine):
    await machine.boot("first")
    machine.lost.take_scan([SHOP])

    await machine.lost.close()

    assert machine.journal() == {SHOP.id}


async def test_closing_writes_when_each_was_last_seen(machine: Machine):
    await machine.boot("first")
    await machine.grace_is_over(SHOP)
    await machine.sees(SHOP, after=200)
    seen = machine.clock.wall()
    machine.clock.advance(60)

    await machine.lost.close()

    (one,) = json.loads(journal().read_bytes())["listeners"]
    assert one["lastSeen"] == timestamp(seen)


async def test_a_machine_that_goes_down_without_a_word_knows_it_to_five_minutes(machine: Machine):
    await machine.boot("first")
    for _ in range(90):
        await machine.sees(SHOP, after=10)

    await machine.boot("second")
    await machine.grace_is_over()

    shown = datetime.fromisoformat(machine.item()["lastSeenAt"])
    assert machine.clock.wall() - shown <= timedelta(seconds=GRACE + 310)


async def test_what_was_seen_last_stays_so_when_no_scan_comes_any_more(machine: Machine):
    await machine.boot("first")
    await machine.sees(SHOP)
    for _ in range(10):
        machine.clock.advance(600)
        await machine.lost.step()
    await machine.lost.close()

    await machine.boot("second")
    await machine.grace_is_over()

    assert machine.ids() == {SHOP.id}


async def test_a_daemon_that_starts_again_goes_on_with_the_journal(machine: Machine):
    await machine.boot("first")
    await machine.sees(SHOP, BLOG)

    await machine.start()
    await machine.sees(BLOG)

    assert machine.journal() == {SHOP.id, BLOG.id}
    await machine.sees(BLOG, after=600)
    assert machine.journal() == {BLOG.id}


@pytest.mark.parametrize("moment", few(range(8), 1))
def test_a_kill_at_any_moment_leaves_a_whole_journal(tmp_path: Path, settings, moment: int):
    settings.DATA_DIR = tmp_path
    writer = subprocess.Popen(
        [sys.executable, "-m", "tests.dashboard.reboot.writer"],
        cwd=ROOT,
        env={**os.environ, "SVC_DATA_DIR": str(tmp_path), "SVC_TEST_BOOT_ID": "first"},
        stdout=subprocess.PIPE,
    )
    assert writer.stdout is not None
    until(lambda: writer.stdout.readline() == b"begun\n", seconds=30)  # type: ignore[union-attr]
    for _ in range(3 + 5 * moment):
        os.read(writer.stdout.fileno(), 1)
    writer.kill()
    writer.communicate()

    found = journals.load()

    assert found is not None
    assert found.boot == "first"
    assert len(found.entries) in (20, 21)
    assert [*tmp_path.rglob("*unreadable*")] == []


def test_the_very_listeners_of_the_scan_before_were_seen_again():
    running, same = Running(), (listening("shop"), listening("blog", 4000))
    first = datetime(2026, 11, 20, 12, tzinfo=UTC)
    again = first + timedelta(seconds=10)

    assert running.take_scan(same, now=0, at=first, ended=lambda _entry: False)
    assert not running.take_scan(same, now=10, at=again, ended=lambda _entry: False)
    assert [one.last_seen for one in running.entries()] == [again, again]

    later = again + timedelta(seconds=10)
    assert running.take_scan(same[1:], now=20, at=later, ended=lambda _entry: False)
    assert [one.last_seen for one in running.entries()] == [again, later]
