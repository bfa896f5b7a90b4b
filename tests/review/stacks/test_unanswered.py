"""Which threads wait for an agent: open, the last word a person's, and no chat at work on it."""

from __future__ import annotations

from review.files import times
from review.stacks import changes, conversations
from review.stacks import repo as repos
from review.threads import asking
from review.threads.asking import Chat
from tests.review.stacks.world import Payments


def test_a_thread_waits_until_an_agent_has_the_last_word_or_a_chat_was_asked(pay: Payments):
    pay.repo.commit({"a": "a\n"}, "Base")
    pay.repo.branch("topic")
    sha = pay.repo.commit({"a": "b\n"}, "First")
    place = ("pay", "api", sha)
    first = changes.start_thread(*place, me="ann", body="Why?")["id"]
    second = changes.start_thread(*place, me="ann", body="And this?")["id"]

    def unanswered() -> list[str]:
        return [thread["id"] for thread in conversations.unanswered_threads("pay", "api")]

    assert unanswered() == [first, second]
    changes.reply(*place, first, me="agent", body="Because.")
    assert unanswered() == [second]

    chat, now = Chat("work", "c1"), times.now_exact()
    asking.mark_asked(repos.target_at(*place), [second], chat, by="ann", at=now, tip=None)
    assert unanswered() == []

    changes.reply(*place, second, me="agent:builtin", body="So.")
    changes.reply(*place, second, me="ann", body="Really?")
    assert unanswered() == [second]
