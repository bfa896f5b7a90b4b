"""Random operations by API and by hand on one review file, against a model in memory: nothing is
lost, ids are unique and stay, the file is always valid.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
import yaml

from config.errors import Conflict, Denied
from config.storage import displaced, yamlio
from review.threads import commenting, records, viewed
from tests.promises.rings import ring, seeded
from tests.review.world import World

pytestmark = pytest.mark.django_db
ME = "me"
PATHS = ("a.py", "dir/b c.py")
ODD = ("plain", "two\nlines", "# hash", "'quote\" \\", "- item: x", "\u2028 sep", "tab\t\x07", "no")


@dataclass
class Talk:
    """A thread as the model knows it: by comment, its id, author and body."""

    id: str | None
    resolved: bool = False
    place: tuple[str, int] | None = None
    comments: list[tuple[str | None, str | None, str]] = field(default_factory=list)


@dataclass
class Model:
    world: World
    sha: str
    rng: random.Random
    talks: list[Talk] = field(default_factory=list)
    marks: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    count: int = 0

    def body(self) -> str:
        """Words that no other comment has."""
        self.count += 1
        return f"{self.count} {self.rng.choice(ODD)} {self.count}"

    @property
    def target(self) -> Any:
        return self.world.target(self.sha)

    def step(self) -> None:
        steps: list[Callable[[], None]] = [
            self.create, self.create, self.reply, self.reply, self.resolve, self.edit, self.delete,
            self.foreign, self.mark, self.hand_note, self.hand_rewrite, self.hand_thread,
            self.hand_words, self.hand_forgets_ids, self.hand_removes, self.hand_breaks,
        ]  # fmt: skip
        self.rng.choice(steps)()
        self.check()

    # -- by API --------------------------------------------------------------------------------

    def create(self) -> None:
        place = (
            (self.rng.choice(PATHS), self.rng.randint(1, 9)) if self.rng.random() < 0.6 else None
        )
        where = {"path": place[0], "line": place[1]} if place else {}
        body, author = self.body(), self.rng.choice([ME, "agent"])
        tid = commenting.create(self.target, body=body, author=author, **where)
        self.talks.append(Talk(tid, place=place, comments=[(None, author, body)]))

    def reply(self) -> None:
        if talk := self.any():
            body = self.body()
            cid = commenting.reply(self.target, str(talk.id), body=body, author=ME)
            talk.comments.append((cid, ME, body))

    def resolve(self) -> None:
        if talk := self.any():
            wanted = self.rng.random() < 0.5
            changed = commenting.resolve(self.target, str(talk.id), wanted, ME)
            assert changed == (talk.resolved != wanted)
            talk.resolved = wanted

    def edit(self) -> None:
        for talk, index in self.own():
            cid, author, _ = talk.comments[index]
            body = self.body()
            assert commenting.edit(self.target, str(talk.id), str(cid), body, ME)
            talk.comments[index] = (cid, author, body)

    def delete(self) -> None:
        for talk, index in self.own():
            cid = talk.comments.pop(index)[0]
            assert commenting.delete(self.target, str(talk.id), str(cid), ME) == (not talk.comments)
            if not talk.comments:
                self.talks.remove(talk)

    def foreign(self) -> None:
        for talk in self.talks:
            for cid, author, _ in talk.comments:
                if author != ME:
                    with pytest.raises(Denied):
                        commenting.edit(self.target, str(talk.id), str(cid), "x", ME)
                    return

    def mark(self) -> None:
        path, wanted = self.rng.choice(PATHS), self.rng.random() < 0.6
        assert viewed.set_viewed(self.target, path, wanted) == ((path in self.marks) != wanted)
        self.marks = self.marks | {path} if wanted else self.marks - {path}

    # -- by hand -------------------------------------------------------------------------------

    def hand_note(self) -> None:
        """A comment above or below everything."""
        file = self.world.file(self.sha)
        if file.exists():
            self.notes.append(note := f"# note {len(self.notes)}\n")
            text = file.read_text()
            below = text if text.endswith("\n") else text + "\n"
            file.write_text(note + text if self.rng.random() < 0.5 else below + note)

    def hand_rewrite(self) -> None:
        """Another tool writes the whole file in its own style, which drops YAML comments."""
        self.rewrite(lambda value: None)

    def hand_thread(self) -> None:
        body = self.body()
        self.rewrite(
            lambda value: value.setdefault("threads", []).append(
                {"path": "a.py", "line": 3, "comments": [{"author": ME, "body": body}]}
            )
        )
        self.talks.append(Talk(None, place=("a.py", 3), comments=[(None, ME, body)]))

    def hand_words(self) -> None:
        """A hand changes a comment's text and leaves its id."""
        if talk := self.any():
            index = self.rng.randrange(len(talk.comments))
            cid, author, _ = talk.comments[index]
            body = self.body()
            at = self.talks.index(talk)

            def change(value: Any) -> None:
                value["threads"][at]["comments"][index].update(id=cid, body=body)
                if "id" not in value["threads"][at]:
                    talk.id = None  # it is made of the thread's words until it is written down

            self.rewrite(change)
            talk.comments[index] = (cid, author, body)

    def hand_forgets_ids(self) -> None:
        if talk := self.any():
            at = self.talks.index(talk)

            def forget(value: Any) -> None:
                for one in (value["threads"][at], *value["threads"][at]["comments"]):
                    one.pop("id", None)

            self.rewrite(forget)
            talk.id = None
            talk.comments = [(None, author, body) for _, author, body in talk.comments]

    def hand_removes(self) -> None:
        if talk := self.any():
            at = self.talks.index(talk)
            self.rewrite(lambda value: value["threads"].pop(at))
            self.talks.remove(talk)

    def hand_breaks(self) -> None:
        """The file is broken for a while: what was read last is shown, and nothing is written."""
        file = self.world.file(self.sha)
        if file.exists():
            whole = file.read_bytes()
            file.write_bytes(broken := whole + b"\n<<<<<<< HEAD\n")
            with pytest.raises(Conflict):
                commenting.create(self.target, body="x", author=ME)
            assert file.read_bytes() == broken
            self.check(broken=True)
            file.write_bytes(whole)

    def rewrite(self, change: Callable[[Any], Any]) -> None:
        file = self.world.file(self.sha)
        value = yaml.safe_load(file.read_bytes()) if file.exists() else {}
        change(value := value or {})
        text = yaml.safe_dump(
            value,
            default_flow_style=self.rng.choice([True, False, None]),
            sort_keys=self.rng.random() < 0.5,
            allow_unicode=self.rng.random() < 0.5,
            indent=self.rng.choice([2, 4]),
            line_break=self.rng.choice(["\n", "\r\n"]),
        )
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
        self.notes = []

    # -- what must hold ------------------------------------------------------------------------

    def any(self) -> Talk | None:
        return self.rng.choice(self.talks) if self.talks else None

    def own(self) -> list[tuple[Talk, int]]:
        """One comment of mine at random, if there is one."""
        found = [
            (talk, index)
            for talk in self.talks
            for index, (_, author, _) in enumerate(talk.comments)
            if author == ME
        ]
        return [self.rng.choice(found)] if found else []

    def check(self, *, broken: bool = False) -> None:
        review = records.review(self.target)
        if not broken:
            assert review["parse_error"] is None
            self.check_file()
        shown = review["threads"]
        names = [one["id"] for one in shown]
        comments = [c["id"] for one in shown for c in one["comments"]]
        assert len(set(names)) == len(names)
        assert len(set(comments)) == len(comments)
        assert len(shown) == len(self.talks)
        for talk, one in zip(self.talks, shown, strict=True):
            self.check_talk(talk, one)
        assert set(review["viewed"]) == self.marks

    def check_talk(self, talk: Talk, one: records.Thread) -> None:
        """Known ids are the same; those the hand left out are learned, and then stay."""
        assert talk.id in {None, one["id"]}
        talk.id = one["id"]
        assert one["resolved"] == talk.resolved
        assert (one["path"], one["line"]) == (talk.place or (None, None))
        assert len(one["comments"]) == len(talk.comments)
        for index, ((cid, author, body), c) in enumerate(
            zip(talk.comments, one["comments"], strict=True)
        ):
            assert cid in {None, c["id"]}
            assert (c["author"], c["body"]) == (author, body)
            talk.comments[index] = (c["id"], author, body)

    def check_file(self) -> None:
        file = self.world.file(self.sha)
        if file.exists():
            text = file.read_bytes().decode()
            yamlio.parse(text.encode(), aliases=False)
            assert all(note in text.replace("\r\n", "\n") for note in self.notes)


@pytest.mark.timeout(600)
def test_operations_by_api_and_by_hand_lose_nothing(world: World):
    rng = seeded()
    for run in range(ring(fast=4, slow=600)):
        text = "".join(f"{run} line {n}\n" for n in range(1, 10))
        sha = world.repo.commit(dict.fromkeys(PATHS, text), f"Run {run}")
        model = Model(world, sha, rng)
        for _ in range(30):
            model.step()
    displaced.settle()
    assert list(world.home.rglob(".svc-tmp-*")) == []
    assert list(world.home.rglob("*.conflict-*")) == []
