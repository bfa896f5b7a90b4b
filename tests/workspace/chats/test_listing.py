"""Lists of chats: order, archived ones, search, pages."""

from __future__ import annotations

import pytest
import yaml

from config.errors import Invalid
from tests.workspace.chats.world import USER, World
from workspace import palette
from workspace.chats import actions, files, listing
from workspace.models import Chat
from workspace.projects import store


def aged(world: World, name: str, day: int) -> str:
    """A chat without messages, as old as its record says."""
    chat = world.chat(name=name).chat.id
    path = files.record_path(world.project, chat)
    record = yaml.safe_load(path.read_text()) | {"created": f"2026-01-{day:02}T09:00:00.000Z"}
    path.write_text(yaml.safe_dump(record))
    return chat


def names(found: listing.Listing) -> list[str]:
    return [row.name for row in found.rows]


@pytest.fixture(autouse=True)
def watchful(monkeypatch):
    """Records edited in place are seen by the next list."""
    monkeypatch.setattr("workspace.chats.index.RECORDS_LOOK_S", 0)


def test_the_newest_comes_first(world: World):
    for name, day in (("b", 2), ("c", 3), ("a", 1)):
        aged(world, name, day)

    assert names(listing.listing([world.project])) == ["c", "b", "a"]


def test_a_chat_that_goes_on_leads_the_list_that_was_shown_before(world: World):
    older, newer = aged(world, "older", 1), aged(world, "newer", 2)
    assert names(listing.listing([world.project])) == ["newer", "older"]

    world.finish(older, "Go on")

    assert names(listing.listing([world.project])) == ["older", "newer"]
    files.record_path(world.project, newer).unlink()
    assert names(listing.listing([world.project])) == ["older"]


def test_chats_with_a_branch_of_their_own_are_found_by_it(world: World):
    aged(world, "without", 1)
    row = Chat.objects.get(id=aged(world, "with", 2))
    tree = {"branch": "svc/tides", "repository": "/code/tides", "below": "", "base": ""}
    Chat.objects.filter(id=row.id).update(record={**row.record, "worktree": tree})

    assert [one.label for one in palette.branches(world.project.slug)] == ["svc/tides"]


def test_archived_chats_are_left_out_and_counted(world: World):
    open_chat, archived = aged(world, "open", 1), aged(world, "old", 2)
    actions.archive(principal=USER, project=world.project, session_id=archived, archived=True)

    default = listing.listing([world.project])
    assert (names(default), default.matching, default.omitted) == (["open"], 1, 1)
    assert names(listing.listing([world.project], which="archived")) == ["old"]
    assert len(listing.listing([world.project], which="all").rows) == 2
    assert default.rows[0].id == open_chat


def test_words_are_looked_for_in_name_and_last_message(world: World):
    aged(world, "Build", 1)
    chat = aged(world, "Other", 2)
    world.finish(chat, "Straße is closed")

    assert names(listing.listing([world.project], text="BUILD")) == ["Build"]
    assert names(listing.listing([world.project], text="strasse")) == ["Other"]


def test_pages_meet_without_gap_or_double(world: World):
    for number in range(7):
        aged(world, f"chat {number}", 1 + number // 2)  # some are equally old

    whole = names(listing.listing([world.project]))
    for size in range(1, 8):
        pages: list[str] = []
        before = ""
        while True:
            found = listing.listing([world.project], limit=size, before=before)
            pages += names(found)
            if found.next is None:
                break
            before = found.next
        assert pages == whole, size


@pytest.mark.parametrize("before", ["x", "_", "2026-01-01", "2026-01-01T00:00:00Z", "_abc"])
def test_a_cursor_that_is_none_is_refused(world: World, before: str):
    aged(world, "a", 1)

    with pytest.raises(Invalid, match="before"):
        listing.listing([world.project], before=before)


def test_the_newest_of_all_projects_comes_first(world: World):
    aged(world, "in alpha", 1)
    world.write("name: Beta\n", slug="beta")
    beta = store.get("beta")
    actions.create(principal=USER, project=beta, name="in beta")

    assert names(listing.listing([world.project, beta])) == ["in beta", "in alpha"]
    first = listing.listing([world.project, beta], limit=1)
    rest = listing.listing([world.project, beta], limit=1, before=first.next or "")
    assert (names(rest), rest.next) == (["in alpha"], None)
