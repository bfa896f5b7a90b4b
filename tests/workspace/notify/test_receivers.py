"""What the parts and the workspace tell, each to its end: the message that a channel gets."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from config import signals as kernel
from config.signals import AppChanged, ThreadWritten
from review import reviewer
from tests.stubs.receiver import Receiver
from tests.workspace.notify.world import channels
from workspace import signals
from workspace.models import Chat, Turn
from workspace.notify import causes, delivery, presence, setting
from workspace.notify.causes import Cause
from workspace.signals import Answered, Asked, RunEnded, TurnEnded

CHAT, TURN = "0198c0de-0000-7000-8000-000000000001", "msg_01"
NOW = datetime(2026, 3, 29, 0, 30, tzinfo=UTC)
ASKED = Asked("alpha", CHAT, TURN, "c1", "Bash", "rm -r build", NOW, NOW + timedelta(minutes=10))


@pytest.fixture(autouse=True)
def world(transactional_db: None, settings, receiver: Receiver, tmp_path: Path) -> None:
    channels(settings, {"url": receiver.url, "events": [*setting.EVENTS]})
    settings.DATA_DIR = tmp_path
    (tmp_path / "run").mkdir()
    (tmp_path / "state" / "locks").mkdir(parents=True)
    Chat.objects.create(id=CHAT, project="alpha", name="Mend it", origin="user", created=NOW,
                        updated=NOW, record_stat="", transcript_stat="")  # fmt: skip


def turn(kind: str = "user") -> Turn:
    return Turn.objects.create(
        id=TURN, project="alpha", chat=CHAT, state="done", prompt="", message="", mode="default",
        max_turns=1, created=NOW, sender={"kind": kind},
    )  # fmt: skip


def ended(state: str = "done", seconds: float = 61.0, **more: Any) -> TurnEnded:
    given = {"reason": "", "run": "", "trigger": "", **more}
    return TurnEnded("alpha", CHAT, TURN, state, seconds=seconds, **given)


def app(
    state: Any, before: Any = "up", reason: str = "no-listener", *, expected: bool = True
) -> AppChanged:
    return AppChanged("shop", "Shop", None, state, reason, expected, before)


def thread(act: Any = "replied", author: str = "agent:claude") -> ThreadWritten:
    return ThreadWritten(Path("/r"), "pay", "api", "a" * 40, "t1", act, author, "Done.", "x.py", 7)


def told(receiver: Receiver) -> list[tuple[str, str, str]]:
    """(event, title, text) of what was sent."""
    delivery.drain()
    return [(one["event"], one["title"], one["text"]) for one in receiver.got]


def test_a_question_is_told_with_what_it_asks_and_leads_to_its_chat(receiver: Receiver):
    kernel.tell(signals.asked, ASKED)

    assert told(receiver) == [("asked", "Mend it asks: Bash", "rm -r build")]
    assert receiver.got[0]["url"].endswith(f"/projects/alpha/chats/{CHAT}")


def test_a_question_that_was_answered_first_is_told_no_more(receiver: Receiver):
    kernel.tell(signals.asked, ASKED)
    kernel.tell(signals.answered, Answered("alpha", CHAT, TURN, "c1", "Bash", True, "user"))

    assert told(receiver) == []


def test_the_next_question_of_a_chat_waits_for_no_window(receiver: Receiver):
    for call in ("c1", "c2"):
        kernel.tell(signals.asked, Asked("alpha", CHAT, TURN, call, "Bash", call, NOW, NOW))

    assert [text for _, _, text in told(receiver)] == ["c1", "c2"]


@pytest.mark.parametrize(
    ("happening", "said"),
    [
        (ended(), ("Mend it is done", "after 1 min")),
        (ended("failed", 7300, reason="out of money"),
         ("Mend it failed", "after 2 h 2 min: out of money")),
        (ended("interrupted"), ("Mend it was interrupted", "after 1 min")),
        (ended(seconds=60), None),
        (ended("stopped"), None),
        (ended(run="run_1", trigger="nightly"), None),
    ],
)  # fmt: skip
def test_a_persons_long_turn_is_told_of_when_it_is_over(receiver: Receiver, happening, said):
    turn()

    kernel.tell(signals.turn_ended, happening)

    assert told(receiver) == ([("finished", *said)] if said else [])


def test_a_turn_that_another_program_began_is_its_own_to_wait_for(receiver: Receiver):
    turn("client")

    kernel.tell(signals.turn_ended, ended())

    assert told(receiver) == []


def test_a_turn_that_a_visible_page_shows_is_not_told_of(receiver: Receiver):
    turn()
    presence.look(CHAT, "one")
    presence.look(CHAT, "two")
    presence.leave(CHAT, "one")
    kernel.tell(signals.turn_ended, ended())
    assert told(receiver) == []

    presence.leave(CHAT, "two")
    kernel.tell(signals.turn_ended, ended())

    assert [event for event, *_ in told(receiver)] == ["finished"]


def test_a_page_that_died_without_a_word_counts_for_a_little_while(settings):
    presence.look(CHAT, "one")
    file = settings.DATA_DIR / "run" / "looking" / f"{CHAT}.one"
    for age, counts in ((40, True), (60, False), (-3600, False)):
        os.utime(file, (time.time() - age,) * 2)

        assert presence.looked_at(CHAT) == counts

    presence.look(CHAT, "two")
    assert not file.exists()


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ("failed", "Trigger nightly of alpha failed"),
        ("interrupted", "Trigger nightly of alpha was interrupted"),
        ("completed", ""),
        ("cancelled", ""),
    ],
)
def test_a_run_that_failed_is_told_and_leads_to_the_runs(receiver: Receiver, status, said):
    kernel.tell(signals.run_ended, RunEnded("alpha", "nightly", "run_1", status, "it broke"))

    assert told(receiver) == ([("failed", said, "it broke")] if said else [])
    if said:
        end = f"/projects/alpha/runs?status={status}&trigger=nightly"
        assert receiver.got[0]["url"].endswith(end)


@pytest.mark.parametrize(
    ("happening", "said"),
    [
        (app("down"), ("app_down", "Shop is down", "no listener")),
        (app("crash_loop", reason="crash-loop"),
         ("crash_loop", "Shop crashes again and again", "crash loop")),
        (app("up", "down", "ok"), ("app_up", "Shop is up again", "ok")),
        (app("up", "crash_loop", "ok"), ("app_up", "Shop is up again", "ok")),
        (app("up", "stopped"), None),
        (app("up", ""), None),
        (app("down", expected=False), None),
        (app("up", "down", "ok", expected=False), None),
    ],
)  # fmt: skip
def test_an_expected_app_that_falls_or_comes_back_is_told_and_one_that_starts_is_not(
    receiver: Receiver, happening, said
):
    kernel.tell(kernel.app_changed, happening)

    assert told(receiver) == ([said] if said else [])
    if said:
        assert receiver.got[0]["url"].endswith("/dashboard/#app=shop")


def test_an_answer_in_a_thread_is_told_and_leads_to_the_thread(receiver: Receiver):
    assert thread().author != reviewer.me().id
    kernel.tell(kernel.thread_written, thread())

    assert told(receiver) == [("review", "agent:claude answered at x.py:7", "Done.")]
    assert receiver.got[0]["url"].endswith(f"/review/p/pay/api/{'a' * 40}#thread-t1")


def test_what_an_agent_thinks_is_done_is_told(receiver: Receiver):
    assert thread().author != reviewer.me().id
    kernel.tell(kernel.thread_written, thread("proposed"))

    assert [title for _, title, _ in told(receiver)] == ["agent:claude thinks it is done: x.py:7"]


@pytest.mark.parametrize("written", [thread("opened"), thread("resolved")])
def test_only_answers_in_threads_are_told(receiver: Receiver, written):
    kernel.tell(kernel.thread_written, written)

    assert told(receiver) == []


def test_a_persons_own_answer_is_no_news_to_them(receiver: Receiver):
    kernel.tell(kernel.thread_written, thread(author=reviewer.me().id))

    assert told(receiver) == []


def test_what_an_agent_wrote_is_one_bounded_line_without_controls_or_secrets(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-0123456789")
    text = "a\x1b[31m\u202e b\n\tc\x00 sk-ant-0123456789 " + "x" * 900

    made = Cause("k", "asked", text, text, "main", "/")

    assert made.text.startswith("a[31m b c *** xxx")
    assert (len(made.title), len(made.text)) == (causes.TITLE, causes.TEXT)
    assert made.text.isprintable()


def test_a_receiver_that_fails_undoes_nothing_of_what_it_is_told(monkeypatch, receiver: Receiver):
    monkeypatch.setattr(causes, "chat_name", lambda _chat: 1 / 0)

    kernel.tell(signals.asked, ASKED)

    assert told(receiver) == []
