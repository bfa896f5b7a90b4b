"""The event stream of a chat: exact offsets, live text, queue changes, refusals."""

from __future__ import annotations

import asyncio
import errno
import json
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest

from config.process import wakeup
from config.web.http import threads
from tests.service import until
from tests.workspace.chats.world import HELLO, USER, World
from workspace.chats import forks, live, transcript, trash
from workspace.chats.actions import Started
from workspace.chats.streams import channel, watching
from workspace.chats.streams.stream import ChatStream
from workspace.chats.turns import queue
from workspace.engines.base import AGAIN
from workspace.models import Turn

DEADLINE_S = 10


@dataclass
class Event:
    name: str
    id: str | None
    data: Any


class Client:
    """One reader of a chat's stream, over ASGI."""

    def __init__(
        self, chat: str, *, slug: str = "alpha", query: str = "", last_id: str = ""
    ) -> None:
        headers = [(b"last-event-id", last_id.encode())] if last_id else []
        self.scope = {
            "type": "http", "method": "GET", "headers": headers, "query_string": query.encode(),
            "url_route": {"kwargs": {"slug": slug, "session_id": chat}},
        }  # fmt: skip
        self.status = 0
        self.body = b""
        self.grew = asyncio.Event()
        self.leave = asyncio.Event()

    async def receive(self) -> dict[str, Any]:
        await self.leave.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        self.status = message.get("status", self.status)
        self.body += message.get("body", b"")
        self.grew.set()

    @property
    def events(self) -> list[Event]:
        found = []
        for block in self.body.decode().split("\n\n")[:-1]:
            fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line)
            if "event" in fields:
                found.append(Event(fields["event"], fields.get("id"), json.loads(fields["data"])))
        return found

    def named(self, name: str) -> list[Event]:
        return [event for event in self.events if event.name == name]

    async def until(self, seen: Callable[[Client], Any]) -> Any:
        async with asyncio.timeout(DEADLINE_S):
            while not (found := seen(self)):
                self.grew.clear()
                await self.grew.wait()
        return found


@asynccontextmanager
async def reading(chat: str, **values: Any) -> AsyncIterator[Client]:
    client = Client(chat, **values)
    task = asyncio.create_task(ChatStream()(client.scope, client.receive, client.send))
    try:
        await client.until(lambda c: c.status)
        if client.status == 200:
            await client.until(lambda c: c.named("state"))
        yield client
    finally:
        client.leave.set()
        await asyncio.wait_for(task, DEADLINE_S)


@pytest.fixture
def chat(world: World) -> str:
    return world.chat().chat.id


@pytest.fixture(autouse=True)
def nobody_left() -> Any:
    yield
    assert watching.WATCH._channels == {}
    until(lambda: not watching.WATCH._ticking, what="the end of the watching thread")


async def write(world: World, chat: str, *texts: str, **end: Any) -> None:
    await threads.run(world.finish, chat, *texts, **end)


async def test_the_first_line_asks_for_two_seconds_and_state_follows(world: World, chat: str):
    async with reading(chat) as client:
        assert client.body.startswith(b"retry: 2000\n")
        (state,) = client.named("state")
        rest: dict[str, Any] = {
            "running": False,
            "queued": 0,
            "held": 0,
            "turn": None,
            "waiting": None,
            "asks": [],
        }
        assert state.data == rest


async def test_after_zero_gives_the_whole_transcript(world: World, chat: str):
    await write(world, chat, "One", "Two")

    async with reading(chat, query="after=0") as client:
        lines = client.named("line")

    assert [line.data.get("role") or line.data["state"] for line in lines] == [
        "started", "user", "assistant", "completed",
    ]  # fmt: skip
    ends = [len(data) for data in _prefixes(world, chat)]
    assert [int(line.id or 0) for line in lines] == ends


def _has(lines: int, client: Client) -> bool:
    return len(client.named("line")) >= lines


def _prefixes(world: World, chat: str) -> list[bytes]:
    lines = world.transcript(chat).read_bytes().splitlines(keepends=True)
    return [b"".join(lines[: n + 1]) for n in range(len(lines))]


async def test_without_a_place_only_what_is_new_comes(world: World, chat: str):
    await write(world, chat, "Old")

    async with reading(chat) as client:
        await write(world, chat, "New")
        await client.until(lambda c: len(c.named("line")) == 3)

    texts = [line.data["content"] for line in client.named("line") if "content" in line.data]
    assert texts == ["New"]


async def test_cut_anywhere_and_resumed_nothing_is_missed_or_repeated(world: World, chat: str):
    chance = random.Random(7)
    seen: list[str] = []
    last = "0"
    for number in range(12):
        await write(world, chat, f"ask {number}", f"say {number}")
        async with reading(chat, last_id=last) as client:
            wanted = chance.randrange(0, 3)
            await client.until(partial(_has, wanted))
            taken = client.named("line")[: wanted or None]
        seen += [event.id or "" for event in taken]
        last = seen[-1] if seen else "0"

    async with reading(chat, last_id=last) as client:
        seen += [event.id or "" for event in client.named("line")]
    assert seen == [str(len(prefix)) for prefix in _prefixes(world, chat)]


async def test_cut_inside_a_line_and_resumed_with_the_last_id_nothing_is_missed_or_repeated(
    world: World, chat: str
):
    for number in range(3):
        await write(world, chat, f"ask {number}", "x" * 300)
    async with reading(chat, query="after=0") as client:
        whole, expected = client.body, client.named("line")

    for cut in range(0, len(whole), 97):
        client = Client(chat)
        client.body = whole[:cut]  # what had arrived; half an event counts for nothing
        seen = client.named("line")
        async with reading(chat, last_id=(seen[-1].id or "") if seen else "0") as resumed:
            assert seen + resumed.named("line") == expected


async def test_every_id_of_a_fork_of_a_fork_resumes_exactly(world: World, chat: str):
    place = chat
    for number in range(2):
        await write(world, place, f"ask {number}", f"say {number}")
        started = await threads.run(_fork, world, place)
        place = started.chat.id
    await write(world, place, "own", "answer")
    ids = [str(len(prefix)) for prefix in _prefixes(world, place)]

    for position, last in enumerate(["0", *ids]):
        async with reading(place, last_id=last) as client:
            assert [line.id for line in client.named("line")] == ids[position:]
    assert [int(one) for one in ids] == sorted({int(one) for one in ids})
    assert ids[:4] == [str(len(prefix)) for prefix in _prefixes(world, chat)]


def _fork(world: World, chat: str) -> Started:
    return forks.fork(principal=USER, project=world.project, session_id=chat)


@pytest.mark.parametrize("place", ["7", "99999999", "abc", "-1", "1e3", "9" * 40, "٣"])
async def test_a_place_that_is_none_gives_resync_and_everything(
    world: World, chat: str, place: str
):
    await write(world, chat, "One")

    for given in ({"query": f"after={place}"}, {"last_id": place}):
        async with reading(chat, **given) as client:
            events = client.events

        assert events[0].name == "resync"
        assert events[0].data["reason"]
        assert len([event for event in events if event.name == "line"]) == 3


async def test_a_long_transcript_comes_in_pieces_and_whole(world: World, chat: str, monkeypatch):
    monkeypatch.setattr(channel, "BATCH_BYTES", 2000)
    monkeypatch.setattr("workspace.chats.streams.stream.BATCH_BYTES", 2000)
    for number in range(40):
        await write(world, chat, f"ask {number}")

    async with reading(chat, query="after=0") as client:
        ids = [event.id for event in client.named("line")]

    assert ids == [str(len(prefix)) for prefix in _prefixes(world, chat)]


async def test_live_text_comes_once_also_to_who_joins_late(world: World, chat: str):
    path = str(world.transcript(chat))
    with transcript.Writer(path) as writer:
        async with reading(chat) as early:
            writer.append("turn_start", "t1", engine="claude")
            text = live.Appender(path.removesuffix(".jsonl") + ".live", "t1")
            text.add("b1", "text", "Hel")
            text.flush()
            await early.until(lambda c: c.named("delta"))

            async with reading(chat) as late:
                await late.until(lambda c: c.named("delta"))
                text.add("b1", "text", "lo")
                text.flush()
                for client in (early, late):
                    await client.until(lambda c: len(c.named("delta")) == 2)
                    joined = "".join(event.data["text"] for event in client.named("delta"))
                    assert joined == "Hello"
                writer.append("assistant", "t1", text="Hello", block="b1")
                await late.until(lambda c: c.named("line"))

            async with reading(chat) as after:
                assert after.named("delta") == []
            writer.append("turn_end", "t1", status="ok")
            text.close()
            await early.until(lambda c: c.named("line")[-1].data.get("state") == "completed")


async def test_live_text_that_is_said_again_is_taken_back_and_not_told_to_who_joins_late(
    world: World, chat: str
):
    path = str(world.transcript(chat))
    with transcript.Writer(path) as writer:
        async with reading(chat) as early:
            writer.append("turn_start", "t1", engine="claude")
            text = live.Appender(path.removesuffix(".jsonl") + ".live", "t1")
            text.add("b1", "text", "Hel")
            text.flush()
            await early.until(lambda c: c.named("delta"))
            text.add("b1", AGAIN, "")
            text.add("b1", "text", "Hi")
            text.flush()
            await early.until(lambda c: len(c.named("delta")) == 3)
            told = [(one.data["text"], one.data.get("again")) for one in early.named("delta")]
            assert told == [("Hel", None), ("", True), ("Hi", None)]

            async with reading(chat) as late:
                await late.until(lambda c: c.named("delta"))
                assert [one.data["text"] for one in late.named("delta")] == ["Hi"]


async def test_thinking_is_told_while_it_comes_and_is_a_line_of_its_own(world: World, chat: str):
    path = str(world.transcript(chat))
    with transcript.Writer(path) as writer:
        async with reading(chat) as early:
            writer.append("turn_start", "t1", engine="claude")
            text = live.Appender(path.removesuffix(".jsonl") + ".live", "t1")
            text.add("b1", "thinking", "Let me ")
            text.flush()
            await early.until(lambda c: c.named("thinking"))
            async with reading(chat) as late:
                await late.until(lambda c: c.named("thinking"))
                assert late.named("thinking")[0].data == {"turnId": "t1", "text": "Let me "}
            text.add("b1", AGAIN, "")
            text.flush()
            await early.until(lambda c: len(c.named("thinking")) == 2)
            assert early.named("thinking")[1].data["again"] is True
            assert early.named("delta") == []

            writer.append("thinking", "t1", text="Let me see.", block="b1")
            await early.until(lambda c: len(c.named("line")) == 2)
            line = early.named("line")[-1].data
            assert (line["type"], line["content"]) == ("thinking", "Let me see.")
            async with reading(chat) as after:
                assert after.named("thinking") == []


async def test_a_tool_call_is_told_while_it_runs_and_gone_behind_its_line(world: World, chat: str):
    def calls(client: Client) -> list[list[str]]:
        return [[call["name"] for call in event.data["calls"]] for event in client.named("calls")]

    path = str(world.transcript(chat))
    with transcript.Writer(path) as writer:
        async with reading(chat) as early:
            writer.append("turn_start", "t1", engine="claude")
            writer.append("tool_use", "t1", tool="Read", call="c2", input={}, target="a.py")
            writer.append("permission", "t1", tool="Read", call="c2", state="asked", by="policy")
            used = writer.append("tool_use", "t1", tool="Bash", call="c1", input={}, target="make")
            await early.until(lambda c: calls(c)[-1] == ["Bash"])

            async with reading(chat) as late:
                now = early.named("calls")[-1].data
                assert (await late.until(lambda c: c.named("calls")))[-1].data == now
            told = {"call": "c1", "name": "Bash", "target": "make", "startedAt": used["ts"]}
            assert now == {"turnId": "t1", "calls": [told]}

            writer.append("permission", "t1", tool="Read", call="c2", state="allowed", by="user")
            await early.until(lambda c: calls(c)[-1] == ["Read", "Bash"])
            writer.append("tool_result", "t1", call="c1", is_error=False, text="", ms=1)
            await early.until(lambda c: calls(c)[-1] == ["Read"])
            assert [event.name for event in early.events][-2:] == ["line", "calls"]
            writer.append("turn_end", "t1", status="ok")
            await early.until(lambda c: c.named("calls")[-1].data == {"turnId": None, "calls": []})


async def test_text_of_the_turn_before_is_never_shown(world: World, chat: str):
    path = str(world.transcript(chat))
    await write(world, chat, "One")
    stale = live.Appender(path.removesuffix(".jsonl") + ".live", "old")
    stale.add("b1", "text", "stale")
    stale.flush()

    with transcript.Writer(path) as writer:
        async with reading(chat) as client:
            writer.append("turn_start", "t2", engine="claude")
            writer.append("user", "t2", text="x", sender={"kind": "user"})
            await client.until(lambda c: len(c.named("line")) == 2)
            writer.append("turn_end", "t2", status="ok")
            await client.until(lambda c: len(c.named("line")) == 3)

    assert client.named("delta") == []


class Seen:
    """A client of a channel that is told synchronously."""

    offset, closed, data = 0, False, b""

    def push(self, data: bytes) -> None:
        self.data += data

    def text(self, turn: str) -> str:
        lines = [line for line in self.data.split(b"\n") if line.startswith(b"data: ")]
        told = [json.loads(line.removeprefix(b"data: ")) for line in lines]
        return "".join(d["text"] for d in told if d.get("turnId") == turn and "text" in d)


def test_a_reader_stalled_across_a_turn_change_sees_the_new_text_whole(world: World, chat: str):
    path, seen = str(world.transcript(chat)), Seen()
    tail = path.removesuffix(".jsonl") + ".live"
    Path(path).touch()
    stalled = channel.Channel("alpha", chat, path)
    stalled.join(cast("channel.Watcher", seen))
    with transcript.Writer(path) as writer:
        old = live.Appender(tail, "t1")
        writer.append("turn_start", "t1", engine="claude")
        old.add("b1", "text", "old words")
        old.flush()
        stalled.tick()
        writer.append("turn_end", "t1", status="ok")
        old.close()
        writer.append("turn_start", "t2", engine="claude")
        new = live.Appender(tail, "t2")
        for _ in range(50):
            new.add("b1", "text", "new words ")
        new.flush()

        stalled.tick()

    assert (seen.text("t1"), seen.text("t2")) == ("old words", "new words " * 50)


async def test_a_tool_is_one_line_also_for_who_resumes_between_use_and_result(
    world: World, chat: str
):
    with transcript.Writer(str(world.transcript(chat))) as writer:
        writer.append("turn_start", "t1", engine="runbook")
        writer.append("tool_use", "t1", tool="Bash", call="c1", input={}, target="make")
        place = str(writer.end)
        async with reading(chat, last_id=place) as client:
            writer.append("tool_result", "t1", call="c1", is_error=False, text="ok", ms=1)
            (line,) = await client.until(lambda c: c.named("line"))
            assert line.data["content"] == "Bash make — ok"
        writer.append("turn_end", "t1", status="ok")


async def test_queue_changes_are_told(world: World, chat: str):
    async with reading(chat) as client:
        await threads.run(world.send, chat, HELLO)
        await client.until(lambda c: len(c.named("queue")) >= 2)
        (row,) = client.named("queue")[-1].data["queue"]
        assert (row["state"], row["prompt"]) == ("queued", HELLO)
        await client.until(lambda c: c.named("state")[-1].data["queued"] == 1)

        await threads.run(Turn.objects.filter(chat=chat).update, state="deleted")
        await client.until(lambda c: c.named("state")[-1].data["queued"] == 0)

    assert await threads.run(queue.active_rows, "alpha", chat) == []


async def test_a_transcript_put_back_from_elsewhere_starts_everybody_again(world: World, chat: str):
    await write(world, chat, "One")
    async with reading(chat) as client:
        path = world.transcript(chat)
        draft = path.with_name("draft")
        draft.write_bytes(path.read_bytes())
        draft.replace(path)
        await client.until(lambda c: c.named("resync"))
        await client.until(lambda c: len(c.named("line")) == 3)


async def test_a_failed_look_at_the_queues_ends_nobody_s_stream(
    world: World, chat: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    def broken(channels: object) -> None:
        raise RuntimeError("no rows today")

    async with reading(chat) as client:
        monkeypatch.setattr(watching, "look_at_queues", broken)
        await asyncio.to_thread(until, lambda: "could not be read" in caplog.text)
        monkeypatch.undo()
        await write(world, chat, "One")
        await client.until(lambda c: c.named("line"))


async def test_streams_that_could_not_be_followed_for_a_moment_go_on(
    world: World, chat: str, monkeypatch
):
    made, refusals = wakeup.Wakeup, [OSError(errno.EMFILE, "Too many open files")]

    def scarce(name: str) -> wakeup.Wakeup:
        if refusals:
            raise refusals.pop()
        return made(name)

    monkeypatch.setattr(wakeup, "Wakeup", scarce)
    monkeypatch.setattr(watching, "IDLE_AFTER_S", 0.01)
    async with reading(chat, query="after=0") as client:
        await client.until(lambda client: client.named("queue"))
        world.finish(chat, "Hello")

        await client.until(lambda client: client.named("line"))
    assert not refusals


async def test_a_deleted_chat_says_so_and_goes_on_when_it_comes_back(world: World, chat: str):
    await write(world, chat, "One")
    project = await threads.run(lambda: world.project)
    act: dict[str, Any] = {"project": project, "session_id": chat}
    async with reading(chat) as client:
        await threads.run(partial(trash.delete, **act))
        await client.until(lambda c: c.named("deleted"))

        await threads.run(partial(trash.restore, **act))
        await client.until(lambda c: c.named("restored"))
        await write(world, chat, "Two")
        await client.until(lambda c: c.named("line"))

    assert client.named("resync") == []
    assert [len(client.named(name)) for name in ("deleted", "restored")] == [1, 1]


@pytest.mark.parametrize(
    ("slug", "session", "status"),
    [
        ("nope", "7f8a1c9e-7d6f-4c5b-8f6e-0a1b2c3d4e5f", 404),
        ("alpha", "7f8a1c9e-7d6f-4c5b-8f6e-0a1b2c3d4e5f", 404),
        ("alpha", "..%2f..", 404),
        ("../x", "x", 404),
    ],
)
async def test_what_is_no_chat_is_told_as_json(world: World, slug: str, session: str, status: int):
    async with reading(session, slug=slug) as client:
        pass

    assert client.status == status
    assert json.loads(client.body)["code"] == "not_found"


async def test_only_get_is_allowed(world: World, chat: str):
    client = Client(chat)
    client.scope["method"] = "POST"

    await ChatStream()(client.scope, client.receive, client.send)

    assert client.status == 405


async def test_a_client_that_leaves_at_once_leaves_nothing_behind(world: World, chat: str):
    for _ in range(20):
        client = Client(chat, query="after=0")
        task = asyncio.create_task(ChatStream()(client.scope, client.receive, client.send))
        await client.until(lambda c: c.status)
        client.leave.set()
        await asyncio.wait_for(task, DEADLINE_S)
