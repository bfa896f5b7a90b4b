"""Archived and deleted, a clean worktree goes, another stays, and each comes back."""

from __future__ import annotations

import time
from pathlib import Path

from config.storage import displaced
from tests.review.repos import Repo
from tests.workspace.chats.world import HELLO
from tests.workspace.worktrees.world import Shop, put
from workspace.chats import trash
from workspace.models import Turn
from workspace.trees import checkpoints, records, undo


def test_an_archived_chat_leaves_its_branch_where_that_has_work_of_its_own(shop: Shop):
    tree = shop.chat()
    sha = shop.work(tree, {"new.txt": "new\n"})

    left = shop.archive(tree).left

    assert left == {"branch": tree.branch, "branchDeleted": False, "kept": None}
    assert not tree.top.exists()
    assert shop.branches() == [tree.branch]
    assert "worktrees" not in shop.repo.git("worktree", "list")

    assert shop.archive(tree, archived=False).problem is None
    assert Repo(tree.top).git("rev-parse", "HEAD") == sha


def test_a_branch_that_was_brought_over_goes_as_well_and_comes_back(shop: Shop):
    tree = shop.chat()
    shop.work(tree, {"new.txt": "new\n"})
    tip = shop.bring(tree)["tip"]

    left = shop.archive(tree).left

    assert left == {"branch": tree.branch, "branchDeleted": True, "kept": None}
    assert shop.branches() == []
    assert shop.archive(tree, archived=False).problem is None
    assert Repo(tree.top).git("rev-parse", tree.branch) == tip


def test_a_worktree_that_is_not_clean_stays_and_says_why(shop: Shop):
    tree = shop.chat()
    put(tree.top, {f"{n}.txt": "x\n" for n in range(5)})

    left = shop.archive(tree).left

    assert left
    assert left["kept"] == "not committed: 0.txt, 1.txt, 2.txt and 2 more"
    assert (tree.top / "4.txt").exists()
    assert shop.archive(tree, archived=False).problem is None
    assert (tree.top / "4.txt").exists()


def test_commits_on_no_branch_keep_the_worktree(shop: Shop):
    tree = shop.chat()
    Repo(tree.top).git("checkout", "-q", "--detach")
    shop.work(tree, {"new.txt": "new\n"})

    left = shop.archive(tree).left

    assert left
    assert left["kept"] == f"The worktree is on no branch: check {tree.branch} out there"
    assert tree.top.exists()


def test_a_running_turn_keeps_it(shop: Shop):
    tree = shop.chat()
    turn = shop.world.send(tree.chat).turn
    Turn.objects.filter(id=turn.id).update(state="running")

    left = shop.archive(tree).left

    assert left
    assert left["kept"] == "a turn runs in it"


def test_checkpoints_of_a_worktree_that_went_are_there_when_it_is_back_and_go_when_they_are_old(
    shop: Shop,
):
    tree = shop.chat()
    turn = shop.world.send(tree.chat, HELLO).turn
    assert shop.world.run(turn.id).state == "done"
    shop.work(tree, {}, "What the turn wrote")
    shop.archive(tree)
    shop.archive(tree, archived=False)
    assert undo.restore_files(shop.world.project, tree.chat, turn.id, "undo").restored == [
        "hello.txt"
    ]
    undo.restore_files(shop.world.project, tree.chat, turn.id, "redo")
    displaced.settle()
    assert shop.archive(tree).left == {
        "branch": tree.branch, "branchDeleted": False, "kept": None,
    }  # fmt: skip
    record = records.find(tree.chat, turn.id)
    assert record
    records.update(record, ended=time.time() - 31 * 86_400)

    checkpoints.prune()

    assert shop.repo.git("for-each-ref", "refs/svc/checkpoints") == ""


def test_a_deleted_chat_leaves_as_an_archived_one_and_comes_back_whole(shop: Shop):
    tree = shop.chat()
    sha = shop.work(tree, {"new.txt": "new\n"})

    gone = shop.delete(tree)

    assert gone.left == {"branch": tree.branch, "branchDeleted": False, "kept": None}
    assert not tree.top.exists()
    trash.restore(project=shop.world.project, session_id=tree.chat)
    assert Repo(tree.top).git("rev-parse", "HEAD") == sha


def test_a_chat_is_archived_also_where_its_repository_is_gone(shop: Shop, tmp_path: Path):
    tree = shop.chat()
    shop.root.rename(tmp_path / "moved")

    done = shop.archive(tree)

    assert done.changed
    assert done.left
    assert done.left["kept"]
    assert tree.top.exists()
