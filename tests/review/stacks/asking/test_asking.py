"""Asking an agent about threads: what is said, to whom, what is noted, what the answer shows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from config.errors import Conflict, Invalid, NotFound
from config.web.asking import Desk as Place
from config.web.asking import OpenChat, Sent, Wish
from review.stacks import changes
from review.stacks.asking import asking, turns
from review.stacks.asking.asking import Letter
from review.stacks.asking.chosen import Choice
from review.stacks.asking.since import since
from review.threads import joining, reading, schema
from tests.review.stacks.asking.conftest import FIRST, Desk

ALL = Choice("pay")
HERE: Place = {"project": "home", "name": "Home", "directory": "/", "chats": []}


class Agents:
    """Takes messages as the workspace would."""

    def __init__(self, *places: Place) -> None:
        self.places = list(places)
        self.folders: list[Path] = []
        self.sent: list[tuple[Wish, str, str]] = []

    def desks(self, folders: Sequence[Path]) -> list[Place]:
        self.folders = list(folders)
        return self.places

    def send(self, wish: Wish, message: str, *, name: str) -> Sent:
        self.sent.append((wish, message, name))
        chat = wish.chat or f"c-{len(self.sent)}"
        return {"project": wish.project or "made", "chat": chat, "url": f"/chats/{chat}"}

    def ask(self, choice: Choice = ALL, **letter: Any) -> asking.Answer:
        return asking.ask(choice, Letter(**letter), self.desks, self.send)


@pytest.fixture
def agents() -> Agents:
    return Agents(HERE)


def answered(desk: Desk, body: str = "Done.") -> None:
    """The agent answers through its tool."""
    turns.reply(desk.repo.path, thread=desk.thread, body=body, author="agent:claude", project=None)


def test_the_message_has_id_place_the_lines_now_what_was_said_and_what_is_wanted(
    desk: Desk, agents: Agents
):
    changes.reply("pay", "api", desk.low, desk.thread, me="ann", body="And a test.")

    offer = asking.offer(ALL, agents.desks)

    text = offer["message"]
    assert f"### `{desk.thread}` · a.py:2" in text
    assert f"## Commit {desk.low[:7]} Add the total" in text
    assert "   2      return sum(items)" in text
    assert "**kim**" in text
    assert "> Sum in cents, please." in text
    assert "> And a test." in text
    assert "## What is wanted" in text
    assert "mcp__svc_review__reply" in text
    assert offer["suggested"] == {"project": "home", "chat": None}
    assert agents.folders[0] == desk.repo.path.resolve()


def test_of_an_outdated_thread_the_old_lines_are_told_beside_the_new_ones(
    desk: Desk, agents: Agents
):
    desk.rewrite("def total(items):\n    return round(math.fsum(items), 2)\n")

    text = asking.offer(ALL, agents.desks)["message"]

    assert "They were:\n\n```\n    return sum(items)\n```" in text
    assert "   2      return round(math.fsum(items), 2)" in text


@pytest.mark.parametrize("what", ["project", "repo", "stack", "commit", "thread"])
def test_one_thread_a_commit_a_stack_a_repo_and_a_project_can_be_asked_about(
    desk: Desk, agents: Agents, what: str
):
    other = changes.start_thread("pay", "api", desk.high, me="kim", body="Why?")["id"]
    choice = {
        "project": ALL,
        "repo": Choice("pay", "api"),
        "stack": Choice("pay", "api", stack=1),
        "commit": Choice("pay", "api", desk.high[:9]),
        "thread": Choice("pay", threads=(other,)),
    }[what]

    offer = asking.offer(choice, agents.desks)

    few = what in ("commit", "thread")
    wanted = [other] if few else [desk.thread, other]
    assert [one["thread"] for one in offer["threads"]] == wanted


def test_what_was_changed_by_the_person_is_what_is_sent_and_each_thread_says_who_was_asked(
    desk: Desk, agents: Agents
):
    answer = agents.ask(message="Mine.", project="home")

    assert agents.sent == [(Wish("home"), "Mine.", "Review: Add the total")]
    assert (answer["chat"], answer["url"], answer["unmarked"]) == ("c-1", "/chats/c-1", [])
    shown = desk.shown()
    assert shown["state"] == "asked"
    assert {key: shown["asked"][key] for key in ("project", "chat", "sha")} == {
        "project": "home", "chat": "c-1", "sha": desk.low,
    }  # fmt: skip
    file = yaml.safe_load((desk.pay.root / f"pay/reviews/api/{desk.low}.yaml").read_text())
    (thread,) = file["threads"]
    assert (thread["asked"]["path"], thread["asked"]["line"]) == ("a.py", 2)
    assert thread["asked"]["tip"] == desk.high


def test_the_stack_of_a_chats_branch_goes_on_in_that_chat(desk: Desk, agents: Agents):
    desk.repo.git("checkout", "-q", "-b", "svc/fix")
    sha = desk.repo.commit({"c.py": "print(2)\n"}, "Fix")
    desk.repo.git("checkout", "-q", "work")
    changes.start_thread("pay", "api", sha, me="kim", body="Why?")
    two: OpenChat = {"id": "c-2", "name": "Two", "branch": "svc/fix"}
    agents.places = [{**HERE, "chats": [{"id": "c-1", "name": "One"}, two]}]

    own = asking.offer(Choice("pay", "api", sha), agents.desks)
    all_of_it = asking.offer(ALL, agents.desks)

    assert own["suggested"] == {"project": "home", "chat": "c-2"}
    assert all_of_it["suggested"] == {"project": "home", "chat": None}


def test_a_stack_goes_on_in_the_chat_that_was_asked_before(desk: Desk, agents: Agents):
    agents.ask()
    agents.places = [{**HERE, "chats": [{"id": "c-1", "name": "One"}]}]
    other = changes.start_thread("pay", "api", desk.high, me="kim", body="Why?")["id"]

    again = asking.offer(Choice("pay", threads=(other,)), agents.desks)
    agents.ask(Choice("pay", threads=(other,)))
    agents.places = [HERE]  # the chat is gone
    gone = asking.offer(Choice("pay", threads=(other,)), agents.desks)

    assert again["suggested"] == {"project": "home", "chat": "c-1"}
    assert agents.sent[-1][0] == Wish("home", "c-1")
    assert gone["suggested"] == {"project": "home", "chat": None}


def test_without_a_project_one_can_be_made_and_of_several_one_is_chosen(desk: Desk, agents: Agents):
    agents.places = []
    with pytest.raises(Conflict, match='send "make": true') as none:
        agents.ask()
    agents.ask(make=True)
    agents.places = [HERE, {**HERE, "project": "second"}]
    with pytest.raises(Conflict, match=r"Several projects work there \(home, second\)") as several:
        agents.ask(Choice("pay", threads=(desk.thread,)))

    assert (none.value.code, several.value.code) == ("no_project", "choose")
    assert [wish for wish, _, _ in agents.sent] == [Wish(folder=desk.repo.path)]


def test_nothing_open_is_refused_and_nothing_is_sent(desk: Desk, agents: Agents):
    changes.resolve_thread("pay", "api", desk.low, desk.thread, me="kim")

    with pytest.raises(Invalid, match="No open thread there") as caught:
        agents.ask()
    with pytest.raises(NotFound, match="No such thread: t-nope"):
        agents.ask(Choice("pay", threads=("t-nope",)))

    assert caught.value.code == "nothing_open"
    assert agents.sent == []


def test_states_go_from_open_to_asked_to_answered_to_asked_again_to_resolved(
    desk: Desk, agents: Agents
):
    seen = [desk.shown()["state"]]
    agents.ask()
    seen.append(desk.shown()["state"])
    changes.reply("pay", "api", desk.low, desk.thread, me=me(), body="Also round it.")
    seen.append(desk.shown()["state"])  # the person who asked is no answer
    answered(desk)
    seen.append(desk.shown()["state"])
    agents.ask()
    seen.append(desk.shown()["state"])
    changes.resolve_thread("pay", "api", desk.low, desk.thread, me="kim")
    seen.append(desk.shown()["state"])

    assert seen == ["open", "asked", "asked", "answered", "asked", "resolved"]


def me() -> str:
    from review import reviewer

    return reviewer.me().id


def test_what_was_asked_survives_a_rebase_and_shows_what_changed_in_the_commit(
    desk: Desk, agents: Agents
):
    asked_on = desk.low
    agents.ask()

    desk.rewrite("def total(items):\n    return sum(items) * 100\n")
    answered(desk)

    shown = desk.shown()
    assert (shown["state"], shown["asked"]["sha"]) == ("answered", asked_on)
    changed = since("pay", "api", desk.low, desk.thread)
    assert (changed["where"], changed["from"], changed["to"]) == ("commit", asked_on, desk.low)
    assert changed["text"].split("\n") == [
        "@@ -1,2 +1,2 @@",
        " def total(items):",
        "-    return sum(items)",
        "+    return sum(items) * 100",
    ]


def test_a_fixup_above_the_commit_and_then_the_work_tree_are_looked_at(desk: Desk, agents: Agents):
    agents.ask()
    nothing = since("pay", "api", desk.low, desk.thread)
    desk.repo.write({"a.py": FIRST.replace("sum", "fsum")})
    in_tree = since("pay", "api", desk.low, desk.thread)
    desk.repo.commit(subject="fixup! Add the total")
    above = since("pay", "api", desk.low, desk.thread)

    assert (nothing["where"], nothing["text"]) == (None, "")
    assert (in_tree["where"], in_tree["to"]) == ("worktree", "WORKTREE")
    assert above["where"] == "stack"
    assert "+    return fsum(items)" in in_tree["text"]
    assert "+    return fsum(items)" in above["text"]


def test_only_what_changed_near_the_lines_is_shown(desk: Desk, agents: Agents):
    lines = [f"line {n}\n" for n in range(100)]
    desk.rewrite("".join(lines))
    tid = changes.start_thread(
        "pay", "api", desk.low, me="kim", body="x", path="a.py", side="RIGHT", line=50
    )["id"]
    agents.ask(Choice("pay", threads=(tid,)))
    lines[1], lines[51], lines[53] = "far\n", "near\n", "nearer\n"

    desk.rewrite("".join(lines))

    text = since("pay", "api", desk.low, tid)["text"]
    assert "+near\n" in text
    assert "+nearer\n" in text
    assert "far" not in text
    assert text.count("@@ -") == 1


def test_of_a_thread_nobody_was_asked_about_there_is_no_since(desk: Desk):
    with pytest.raises(NotFound, match="No agent was asked"):
        since("pay", "api", desk.low, desk.thread)


def test_a_file_of_an_older_version_reads_as_open_and_odd_fields_are_warned_of(desk: Desk):
    file = desk.pay.root / f"pay/reviews/api/{desk.low}.yaml"
    assert "asked" not in file.read_text()
    before = desk.shown()["state"]
    value = yaml.safe_load(file.read_text())
    value["threads"][0] |= {"asked": "yes", "proposed": {"by": ""}}
    file.write_text(yaml.safe_dump(value))

    shown = desk.shown()

    assert (before, shown["state"]) == ("open", "open")
    assert "asked" not in shown


def test_where_the_file_cannot_be_written_the_message_goes_and_the_commit_is_named(
    desk: Desk, agents: Agents
):
    file = desk.pay.root / f"pay/reviews/api/{desk.low}.yaml"
    file.write_text(f"{file.read_text()}\nversion: 1\nversion: 2\n")

    answer = agents.ask()

    assert len(agents.sent) == 1
    assert [one["sha"] for one in answer["unmarked"]] == [desk.low]


def test_of_two_files_that_are_joined_the_later_asking_and_proposal_count(desk: Desk):
    def said(at: str, chat: str) -> schema.ReviewFile:
        asked = {"at": at, "by": "kim", "chat": chat}
        comments = [{"id": "c-1", "author": "kim", "body": "x"}]
        proposed = {"by": chat, "at": at}
        thread = {"id": "t-1", "asked": asked, "proposed": proposed, "comments": comments}
        return reading.parse({"threads": [thread]}, desk.low)

    old, new = said("2026-01-05T09:00:00Z", "old"), said("2026-01-05T09:00:00.500Z", "new")

    for first, second in ((old, new), (new, old)):
        (thread,) = joining.join(first, [second]).threads
        assert thread.asked is not None
        assert thread.proposed is not None
        assert (thread.asked.chat, thread.proposed.by) == ("new", "new")
