"""After a kill, a chat has its worktree, or nothing is left of it."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from config.storage.drafts import Folder
from tests.service import until
from tests.workspace.worktrees.world import Shop
from workspace.background.watcher import Background
from workspace.chats import files
from workspace.chats.files import ChatRecord
from workspace.projects.project import Project
from workspace.worktrees import making, place, repository
from workspace.worktrees.place import Tree


def _in_the_note(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Folder, "move", _killed)


def _before_git(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(making, "_add", _killed)


def _after_the_branch(patch: pytest.MonkeyPatch) -> None:
    def branch_only(tree: Tree, *args: str) -> None:
        tree.top.mkdir(parents=True)
        repository.run(tree.repository, "branch", tree.branch, writes=True)
        _killed()

    patch.setattr(making, "_add", branch_only)


def _in_the_checkout(patch: pytest.MonkeyPatch) -> None:
    def unfinished(tree: Tree, *args: str) -> None:
        add(tree, "--no-checkout", *args)
        (place.get_linked(tree).own / Path("index.lock")).touch()
        _killed()

    add = making._add
    patch.setattr(making, "_add", unfinished)


def _before_the_record(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(files, "create", _killed)


def _killed(*args: object, **values: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def make_and_die(shop: Shop, prepare: Callable[[pytest.MonkeyPatch], None]) -> None:
    if not (child := os.fork()):
        with pytest.MonkeyPatch.context() as patch:
            prepare(patch)
            shop.chat()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


@pytest.mark.parametrize(
    "prepare",
    [_in_the_note, _before_git, _after_the_branch, _in_the_checkout, _before_the_record],
)
def test_a_start_removes_what_a_killed_creation_left(
    shop: Shop, prepare: Callable[[pytest.MonkeyPatch], None]
):
    make_and_die(shop, prepare)

    part = Background()
    part.start()
    try:
        until(lambda: not list(making._note("").parent.iterdir()))
    finally:
        part.stop()

    assert (shop.branches(), list(place.home().glob("*"))) == ([], [])
    assert not list((shop.root / ".git/worktrees").glob("*"))
    assert shop.chat().branch == "svc/fix-the-till"


def test_a_start_leaves_a_chat_that_was_made_and_what_others_made_of_its_branch(shop: Shop):
    def made(project: Project, record: ChatRecord) -> None:
        create(project, record)
        _killed()

    create = files.create
    make_and_die(shop, lambda patch: patch.setattr(files, "create", made))
    make_and_die(shop, _after_the_branch)
    shop.repo.git("checkout", "-q", "svc/fix-the-till-2")
    shop.repo.commit({"mine.txt": "mine\n"}, "Mine")
    shop.repo.git("checkout", "-q", "main")

    making.sweep()

    (chat,) = files.session_ids(shop.world.project)
    assert shop.stands(shop.tree(chat))["problem"] is None
    assert shop.branches() == ["svc/fix-the-till", "svc/fix-the-till-2"]
    assert [path.name for path in place.home().iterdir()] == [chat]
