"""A review never lands on a commit that did not become its own, whatever was done to the stack."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from review import caches, projects
from review.stacks import repo as repos
from review.stacks.prs import pr_files
from review.stacks.values import Item, Repo
from review.threads import commenting, commit_review
from tests.config.disks import quick_folder
from tests.promises.rings import ring, seeded
from tests.promises.stacks import Git, Node, Stacks, became
from tests.review.places import put

LIVES = 50  # steps of one repository


class Desk:
    """A reviewer of the branch checked out, who knows what every commit became."""

    def __init__(self, folder: Path, rng: random.Random, tally: Counter[str]) -> None:
        self.rng, self.tally = rng, tally
        self.stacks = Stacks(Git(folder / "repo", logs=rng.random() < 0.8), rng)
        self.born: dict[str, Node] = {}  # by thread, or title of a PR record
        self.steps: list[str] = []
        self.wrong: list[str] = []
        text = f"repos: [{{name: api, path: {folder / 'repo'}, trunk: main}}]\n"
        put(folder / "projects" / "pay" / "project.yaml", text.encode())

    def listed(self) -> Repo:
        project = projects.get("pay")
        return repos.load(project, projects.repo(project, "api"))

    def step(self) -> None:
        for _ in range(self.rng.choice((1, 1, 2))):
            self.steps.append(self.stacks.step())
            self.tally["steps"] += 1
        found = self.listed()
        assert found.errors == (), found.errors
        self.check(found)
        if self.rng.random() < 0.5:
            self.write(self.rng.choice(found.items))

    def write(self, item: Item) -> None:
        found = self.listed()
        node = self.stacks.listed()[item.commit.sha]
        target = repos.target(found, item)
        there = commit_review.of(target).review.conversations
        kind = self.rng.random()
        if there and kind < 0.3:
            commenting.reply(target, self.rng.choice(there).id, body="Reply", author="ann")
        elif kind < 0.8:
            tid = commenting.create(target, body=f"Thread {len(self.born)}", author="ann")
            self.born[tid] = node
        elif item.pr_source is None:
            title = f"PR {len(self.born)}"
            self.born[title] = node
            pr_files.set_pr(target, {"title": title}, landed_sha=None, pr=item.pr, source_sha=None)
        self.steps.append(f"write on {'+'.join(sorted(node.strands))}")

    def check(self, found: Repo) -> None:
        seen: Counter[str] = Counter()
        nodes = self.stacks.listed()
        for item in found.items:
            node = nodes[item.commit.sha]
            here = [
                one.id for one in commit_review.of(repos.target(found, item)).review.conversations
            ]
            seen.update(here)
            for name in [*here, *([item.pr.title] if item.pr.title else [])]:
                self.tally["placed"] += 1
                if not became(self.born[name], node):
                    by = item.match and item.match.by
                    self.wrong.append(
                        f"{name} of {sorted(self.born[name].strands)} is on {sorted(node.strands)} "
                        f"by {by} after {self.steps}"
                    )
        orphaned = {one.id for orphan in found.orphans for one in orphan.conversations}
        tids = {name for name in self.born if name.startswith("t-")}
        self.wrong += [f"{name} twice after {self.steps}" for name, n in seen.items() if n > 1]
        unseen = tids - seen.keys() - orphaned
        self.tally["unseen"] += len(unseen)
        for name in tids - seen.keys():
            self.tally["missed"] += any(became(self.born[name], node) for node in nodes.values())


@pytest.mark.promise("G16")
@pytest.mark.django_db
@pytest.mark.timeout(7200)
def test_no_review_is_ever_shown_on_a_commit_that_did_not_become_its_own(settings):
    wanted = ring(fast=100, slow=20_000)
    rng, tally, wrong = seeded(), Counter[str](), list[str]()
    while tally["steps"] < wanted:
        with quick_folder() as folder:
            settings.PROJECTS_DIR, settings.DATA_DIR = folder / "projects", folder / "data"
            caches.clear()
            desk = Desk(folder, rng, tally)
            until = tally["steps"] + LIVES
            while tally["steps"] < until:
                desk.step()
                if desk.wrong:  # what follows from it would count again and again
                    wrong += desk.wrong[:1]
                    break
    print(f"G16: {dict(tally)}, {len(wrong)} wrong")
    assert wrong == []
    assert tally["missed"] < tally["placed"] / 2, "what can be told apart is not left to a person"
    assert tally["unseen"] == 0, "what is said stays in sight, on a commit or among the orphans"
