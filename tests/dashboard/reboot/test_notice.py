"""The notice of what a reboot took."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest

from config.errors import NotFound, SvcError
from dashboard.reboot import Settings
from dashboard.services.definition import Service
from tests.dashboard.reboot.world import GRACE, Machine, journal, listening, notice
from tests.dashboard.services.world import python

SHOP, BLOG, DOCS = listening("shop"), listening("blog", 4000), listening("docs", 5000)
SLEEPS = python("import signal; signal.pause()")


async def test_what_ran_before_the_reboot_and_is_not_back_is_lost(machine: Machine):
    await machine.boot("first")
    await machine.sees(SHOP, BLOG, DOCS)

    await machine.boot("second")
    await machine.sees(BLOG)
    assert machine.lost.wire() is None
    await machine.grace_is_over(BLOG)

    assert machine.ids() == {SHOP.id, DOCS.id}
    assert {frozenset(ids) for ids in machine.events} == {frozenset({SHOP.id, DOCS.id})}


async def test_an_item_says_what_was_lost(machine: Machine):
    seen_at = machine.clock.wall() + timedelta(seconds=2)
    await machine.reboots_from(replace(SHOP, slug="shop", service=True))

    assert machine.item() == {
        "id": "o-shop",
        "slug": "shop",
        "name": "shop",
        "port": 3000,
        "cwd": SHOP.cwd,
        "command": "npm run shop",
        "identity": {"process": {"pid": 1}},
        "lastSeenAt": f"{seen_at:%Y-%m-%dT%H:%M:%S}.000Z",
        "wasManaged": True,
        "canRestart": True,
        "canService": True,
        "blocked": None,
        "status": "lost",
        "note": None,
    }
    shown: Any = machine.lost.wire()
    assert shown is not None
    assert shown["lastSeenAt"] == machine.item()["lastSeenAt"]
    assert shown["bootedAt"].endswith("Z")


async def test_a_daemon_that_starts_again_in_the_same_boot_loses_nothing(machine: Machine):
    await machine.boot("first")
    await machine.sees(SHOP)

    await machine.start()
    await machine.grace_is_over()

    assert machine.items() == []


async def test_a_service_that_starts_by_itself_is_not_lost_and_one_that_does_not_is(
    machine: Machine,
):
    services = {
        "auto": Service(SLEEPS, autostart=True),
        "manual": Service(SLEEPS),
    }
    await machine.boot("first", **services)
    await machine.sees(
        replace(SHOP, slug="auto", service=True, autostart=True),
        replace(BLOG, slug="manual", service=True),
    )

    await machine.boot("second", **services)
    await machine.grace_is_over()

    assert machine.ids() == {BLOG.id}


async def test_a_service_whose_autostart_was_taken_away_meanwhile_is_lost(machine: Machine):
    await machine.boot("first")
    await machine.sees(replace(SHOP, slug="shop", service=True, autostart=True))

    await machine.boot("second", shop=Service(SLEEPS))
    await machine.grace_is_over()

    assert machine.ids() == {SHOP.id}


async def test_an_app_that_is_back_under_another_id_is_not_lost(machine: Machine):
    await machine.boot("first")
    await machine.sees(replace(SHOP, slug="shop"))

    await machine.boot("second")
    await machine.grace_is_over(replace(BLOG, slug="shop"))

    assert machine.items() == []


@pytest.mark.parametrize("back", [SHOP, replace(DOCS, slug="shop")])
async def test_an_item_that_comes_back_later_leaves_the_notice(machine: Machine, back):
    await machine.reboots_from(replace(SHOP, slug="shop"), BLOG)

    await machine.sees(back)

    assert machine.ids() == {BLOG.id}
    assert machine.events[-1] == [BLOG.id]


async def test_the_last_one_to_come_back_clears_the_notice(machine: Machine):
    await machine.reboots_from(SHOP)

    await machine.sees(SHOP)

    assert machine.lost.wire() is None
    assert machine.events[-1] == []
    await machine.start()
    assert machine.lost.wire() is None


async def test_what_came_back_within_the_grace_time_and_ended_again_is_not_lost(machine: Machine):
    await machine.boot("first")
    await machine.sees(SHOP)
    await machine.boot("second")

    await machine.sees(SHOP)
    await machine.sees()
    await machine.grace_is_over()

    assert machine.items() == []


async def test_nothing_is_told_before_the_grace_time_is_over(machine: Machine):
    await machine.boot("first")
    await machine.sees(SHOP)
    await machine.boot("second")

    await machine.sees(after=GRACE - 1)
    assert machine.lost.wire() is None
    await machine.sees(after=1)

    assert machine.ids() == {SHOP.id}


async def test_a_good_journal_is_not_replaced_by_an_empty_one_within_the_grace_time(
    machine: Machine,
):
    await machine.boot("first")
    await machine.sees(SHOP)
    before = journal().read_bytes()

    await machine.boot("second")
    await machine.sees()
    await machine.lost.close()
    assert journal().read_bytes() == before
    await machine.grace_is_over()

    assert machine.journal() == set()


async def test_what_ended_before_it_was_written_leaves_no_empty_journal_within_the_grace_time(
    machine: Machine,
):
    await machine.boot("first")
    await machine.sees(SHOP)
    before = journal().read_bytes()
    await machine.boot("second", blog=Service(SLEEPS))
    await machine.services.act("blog", "start")

    machine.lost.take_scan([replace(BLOG, slug="blog", service=True)])
    await machine.services.act("blog", "stop")
    await machine.sees()

    assert journal().read_bytes() == before


async def test_what_ran_is_lost_even_if_the_daemon_is_killed_within_the_grace_time(
    machine: Machine,
):
    await machine.boot("first")
    await machine.sees(SHOP, BLOG)
    await machine.boot("second")
    await machine.sees(BLOG)

    await machine.start()
    await machine.grace_is_over(BLOG)

    assert machine.ids() == {SHOP.id}


async def test_two_reboots_within_the_grace_time_lose_what_both_took(machine: Machine):
    await machine.boot("first")
    await machine.sees(SHOP)
    await machine.boot("second")
    await machine.sees(BLOG)

    await machine.boot("third")
    await machine.grace_is_over()

    assert machine.ids() == {SHOP.id, BLOG.id}


async def test_the_notices_of_several_reboots_merge(machine: Machine):
    await machine.reboots_from(SHOP, replace(DOCS, slug="docs"))
    await machine.sees(BLOG, replace(DOCS, id="o-docs-2", slug="docs"))

    await machine.boot("third")
    await machine.grace_is_over()

    assert machine.ids() == {SHOP.id, BLOG.id, "o-docs-2"}


async def test_a_reboot_with_nothing_running_takes_nothing_in_twice(machine: Machine):
    await machine.reboots_from(SHOP)
    await machine.lost.dismiss()

    await machine.boot("third")
    await machine.grace_is_over()

    assert machine.items() == []


async def test_a_boot_is_taken_in_once_though_its_journal_stays(machine: Machine):
    await machine.boot("first")
    await machine.sees(SHOP)
    await machine.boot("second")
    await machine.sees(SHOP)
    journal().write_bytes(_of_boot(journal().read_bytes(), "first"))

    await machine.start()
    await machine.grace_is_over()

    assert machine.items() == []


async def test_what_ended_more_than_ten_minutes_before_the_last_write_did_not_run(
    machine: Machine,
):
    await machine.boot("first")
    await machine.sees(SHOP, BLOG, DOCS)
    value = json.loads(journal().read_text())
    written = machine.clock.wall()
    for one, minutes in zip(value["listeners"], (9, 11, -60), strict=True):
        one["lastSeen"] = (written - timedelta(minutes=minutes)).isoformat()
    journal().write_text(json.dumps(value))

    await machine.boot("second")
    await machine.grace_is_over()

    ids = [one["id"] for one in value["listeners"]]
    assert machine.ids() == {ids[0], ids[2]}  # the last: the clock was moved back meanwhile


async def test_a_clock_that_was_moved_back_keeps_the_notice(machine: Machine):
    await machine.reboots_from(SHOP)
    machine.clock.at -= timedelta(days=400).total_seconds()

    await machine.start()
    await machine.sees()

    assert machine.ids() == {SHOP.id}


async def test_an_item_leaves_after_fourteen_days(machine: Machine):
    await machine.reboots_from(SHOP)

    await machine.sees(after=timedelta(days=13, hours=23).total_seconds())
    assert machine.ids() == {SHOP.id}
    await machine.sees(after=timedelta(hours=2).total_seconds())

    assert machine.items() == []
    assert machine.events[-1] == []


async def test_a_machine_that_booted_long_ago_may_still_have_lost_something(machine: Machine):
    await machine.boot("first")
    await machine.sees(SHOP)
    machine.clock.advance(timedelta(days=60).total_seconds())

    await machine.boot("second")
    await machine.grace_is_over()

    assert machine.ids() == {SHOP.id}


async def test_the_newest_fifty_items_are_kept(machine: Machine):
    await machine.reboots_from(*(listening(f"old-{n}", 3000 + n) for n in range(30)))
    await machine.sees(*(listening(f"new-{n}", 4000 + n) for n in range(30)))

    await machine.boot("third")
    await machine.grace_is_over()

    kept = machine.ids()
    assert len(kept) == 50
    assert {f"o-new-{n}" for n in range(30)} <= kept


async def test_an_item_whose_directory_is_gone_is_blocked_until_it_is_there_again(
    machine: Machine, tmp_path: Path
):
    folder = tmp_path / "project"
    folder.mkdir()
    await machine.reboots_from(replace(SHOP, cwd=str(folder)))
    assert machine.item()["blocked"] is None

    folder.rmdir()
    await machine.sees()
    assert machine.item()["blocked"] == "cwd is gone"
    assert machine.item()["canRestart"] is False
    assert machine.item()["canService"] is False
    assert machine.events[-1] == [SHOP.id]

    folder.mkdir()
    await machine.sees()
    assert machine.item()["canRestart"] is True


async def test_an_app_with_a_service_block_can_be_started_but_not_made_a_service(
    machine: Machine,
):
    await machine.reboots_from(replace(SHOP, slug="shop", cwd=""))
    assert machine.item()["canRestart"] is False

    machine.services.declare("shop", Service(SLEEPS))

    assert machine.item()["canRestart"] is True
    assert machine.item()["canService"] is False


async def test_one_item_is_dismissed_and_stays_so(machine: Machine):
    await machine.reboots_from(SHOP, BLOG)

    answer: Any = await machine.lost.dismiss(SHOP.id)

    assert [one["id"] for one in answer["lost"]["items"]] == [BLOG.id]
    assert machine.events[-1] == [BLOG.id]
    await machine.start()
    await machine.grace_is_over()
    assert machine.ids() == {BLOG.id}


async def test_the_whole_notice_is_dismissed_as_often_as_one_likes(machine: Machine):
    await machine.reboots_from(SHOP, BLOG)

    assert await machine.lost.dismiss() == {"lost": None}
    assert await machine.lost.dismiss() == {"lost": None}

    assert machine.events[-1] == []
    await machine.start()
    await machine.grace_is_over()
    assert machine.items() == []


async def test_dismissing_what_is_not_lost_is_refused(machine: Machine):
    await machine.reboots_from(SHOP)

    with pytest.raises(NotFound, match='No lost app "o-none"'):
        await machine.lost.dismiss("o-none")
    with pytest.raises(NotFound):
        await machine.lost.restart("o-none")

    assert machine.ids() == {SHOP.id}


async def test_a_dismissal_the_disk_refuses_is_refused_and_changes_nothing(machine: Machine):
    await machine.reboots_from(SHOP)
    folder = notice().parent
    moved = folder.rename(folder.with_name("moved"))
    folder.write_text("in the way")

    with pytest.raises(SvcError) as refused:
        await machine.lost.dismiss()

    assert refused.value.code == "read_only"
    assert machine.ids() == {SHOP.id}
    folder.unlink()
    moved.rename(folder)


async def test_a_journal_is_not_overwritten_while_what_it_lost_cannot_be_stored(
    machine: Machine,
):
    await machine.boot("first")
    await machine.sees(SHOP)
    notice().unlink(missing_ok=True)
    notice().mkdir()
    (notice() / "in-the-way").touch()
    before = journal().read_bytes()
    machine.monkeypatch.setattr(Path, "rename", _refuse)

    await machine.boot("second")
    await machine.sees(BLOG)
    assert journal().read_bytes() == before
    machine.monkeypatch.undo()
    (notice() / "in-the-way").unlink()
    notice().rmdir()
    await machine.sees(BLOG)

    assert json.loads(notice().read_text())["pending"][0]["id"] == SHOP.id
    assert machine.journal() == {BLOG.id}


async def test_switched_off_there_is_no_notice(machine: Machine):
    await machine.reboots_from(SHOP)
    machine.settings = Settings(enabled=False)

    await machine.sees()

    assert machine.lost.wire() is None
    assert machine.events[-1] == []
    with pytest.raises(NotFound):
        await machine.lost.dismiss(SHOP.id)


async def test_what_ran_while_it_was_switched_off_is_not_lost(machine: Machine):
    await machine.boot("first")
    await machine.sees(SHOP)
    machine.settings = Settings(enabled=False)
    await machine.sees(SHOP)

    machine.settings = Settings()
    await machine.boot("second")
    await machine.grace_is_over()

    assert machine.items() == []


async def test_the_notice_can_be_sent_as_json(machine: Machine):
    await machine.reboots_from(listening("sh\N{SNOWMAN}p", argv=("\udcff", "x"), cwd="/\udcff"))

    assert orjson.loads(orjson.dumps(machine.lost.wire())) == machine.lost.wire()


def _of_boot(data: bytes, boot: str) -> bytes:
    return orjson.dumps({**orjson.loads(data), "bootId": boot})


def _refuse(*_args: object) -> None:
    raise PermissionError
