"""Whatever is done with worktrees of chats, a person's index, HEAD and files are as they were."""

from __future__ import annotations

import random

import pytest

from config.errors import SvcError
from tests.workspace.chats.world import HELLO
from tests.workspace.worktrees.world import Shop, put
from workspace.worktrees.place import Tree

NAMES = ("a.txt", "src/b.txt", "new.txt", "src", "deep/er/x.txt", "out.log")


def dirty(shop: Shop, chance: random.Random) -> None:
    """A person in the middle of their work: edited, staged, deleted, not tracked."""
    for name in chance.sample(NAMES, 3):
        path = shop.root / name
        if path.is_dir():
            continue
        if path.exists() and chance.random() < 0.3:
            path.unlink()
        else:
            put(shop.root, {name: f"mine {chance.random()}\n"})
        if chance.random() < 0.4:
            shop.repo.git("add", "--all")


def act(shop: Shop, tree: Tree, chance: random.Random, seed: int) -> Tree:
    """One thing that an agent or the service does; never a bring-over that may succeed."""
    match chance.randrange(6):
        case 0:
            return shop.chat(f"Chat {seed}")
        case 1:
            shop.archive(tree, archived=chance.random() < 0.6)
        case 2:
            turn = shop.world.send(tree.chat, HELLO).turn
            assert shop.world.run(turn.id).state in ("done", "failed")
        case 3 if tree.top.exists():
            shop.work(tree, {"a.txt": f"agent {chance.random()}\n"})
        case 4:
            with pytest.raises(SvcError):
                shop.bring(tree, how=chance.choice(["rebase", "merge"]), commit="All")
        case _:
            shop.stands(tree)
    return tree


@pytest.mark.parametrize("seed", range(2))
def test_nothing_of_the_persons_changes_but_by_a_bring_over_that_succeeds(shop: Shop, seed: int):
    chance = random.Random(seed)
    tree = shop.chat("First")
    shop.work(tree, {"a.txt": "agent\n"})
    dirty(shop, chance)
    put(shop.root, {"a.txt": "in the way of every bring-over\n"})
    before = shop.users()

    for _ in range(10):
        tree = act(shop, tree, chance, seed)
        if tree.top.exists() and shop.stands(tree)["ahead"] == 0:
            shop.work(tree, {"a.txt": "agent\n"})

        assert shop.users() == before
