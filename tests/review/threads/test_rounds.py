"""Rounds of a review: on each commit of a stack something is said and mended, again and again."""

from __future__ import annotations

import random

import pytest

from tests.promises.rings import ring
from tests.review.threads.desk import Desk, bodies, text
from tests.review.world import World

pytestmark = pytest.mark.django_db

NAMES = ("alpha", "beta", "gamma")
ROUNDS = 4
SECOND = "2026-02-01T00:00:00Z"


class Rounds:
    """A stack of a commit for each name, with a file of its own, and what was said of each."""

    def __init__(self, world: World, rng: random.Random) -> None:
        self.rng, self.desk = rng, Desk(world)
        self.texts = {
            name: [f"{name} {line} {rng.random()}" for line in range(12)] for name in NAMES
        }
        self.said: dict[str, list[str]] = {name: [] for name in NAMES}
        date = SECOND if rng.random() < 0.3 else None  # as a script makes them
        for name in NAMES:
            self.desk.git.commit({name: text(self.texts[name])}, f"Add {name}", date=date)

    def shas(self) -> dict[str, str]:
        return dict(zip(NAMES, self.desk.git.shas("main..topic"), strict=True))

    def say(self) -> None:
        for name, sha in self.shas().items():
            threads = self.desk.review(sha)["threads"]
            for thread in threads:
                if self.rng.random() < 0.5:
                    self.note(name, f"Answer {len(self.said[name])}")
                    self.desk.reply(sha, thread["id"], self.said[name][-1])
            line = self.rng.randrange(len(self.texts[name])) + 1
            self.note(name, f"Remark {len(self.said[name])}")
            self.desk.comment(sha, self.said[name][-1], name, line)

    def note(self, name: str, body: str) -> None:
        self.said[name].append(body)

    def mend(self) -> None:
        """A fixup for each commit, folded in."""
        todo = []
        for name, sha in self.shas().items():
            lines = self.texts[name]
            for at in self.rng.sample(
                range(len(lines)), min(len(lines), self.rng.choice((1, 3, 6, 9)))
            ):
                lines[at] = f"{name} mended {self.rng.random()}"
            if self.rng.random() < 0.3:
                del lines[: len(lines) // 2]
            lines.append(f"{name} more {self.rng.random()}")
            fixup = self.desk.git.commit({name: text(lines)}, f"fixup! Add {name}")
            todo += [f"pick {sha}", f"fixup {fixup}"]
        self.desk.git.rebase_todo("main", todo)


@pytest.mark.parametrize("seed", range(ring(fast=2, slow=400)))
def test_nothing_that_was_said_is_lost_in_rounds_of_remarks_and_fixups(world: World, seed: int):
    rounds = Rounds(world, random.Random(seed))
    for _ in range(ROUNDS):
        rounds.say()
        rounds.mend()
        shown = {name: bodies(rounds.desk.review(sha)) for name, sha in rounds.shas().items()}
        assert {name: sorted(said) for name, said in shown.items()} == {
            name: sorted(said) for name, said in rounds.said.items()
        }
    assert rounds.desk.listed().orphans == ()
