"""A chat is given a worktree of its own, or a sentence that says why it cannot have one."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import connections

from config.errors import Conflict
from tests.review.repos import Repo
from tests.workspace.chats.world import HELLO, USER, World
from tests.workspace.worktrees.world import Shop
from workspace.chats import files, forks
from workspace.chats.turns import jobs
from workspace.models import Turn
from workspace.worktrees import place


def test_a_chat_gets_a_branch_named_after_it_and_works_there(shop: Shop):
    before = shop.users()

    tree = shop.chat("Fix the till, please!")

    assert (tree.branch, tree.base) == ("svc/fix-the-till-please", "main")
    assert (tree.top / "a.txt").read_text() == "one\ntwo\nthree\n"
    assert Repo(tree.top).git("symbolic-ref", "HEAD") == f"refs/heads/{tree.branch}"
    assert shop.users() == before
    stands = shop.stands(tree)
    assert (stands["target"], stands["ahead"], stands["behind"]) == ("main", 0, 0)
    assert (stands["changed"], stands["problem"]) == ([], None)


def test_its_turns_run_there_and_nothing_of_the_project_directory_changes(shop: Shop, world: World):
    before = shop.users()
    started = world.chat(HELLO, worktree=True)
    assert started.turn

    assert world.run(started.turn.id).state == "done"

    tree = shop.tree(started.chat.id)
    assert (tree.dir / "hello.txt").read_text() == "hello\n"
    assert shop.stands(tree)["changed"] == ["hello.txt"]
    assert shop.users() == before


def test_without_a_name_the_first_words_name_the_branch_and_names_are_used_once(shop: Shop):
    words = "Please mend the door of the shed and then the roof of the house as well"
    first = shop.tree(shop.world.chat(words, worktree=True).chat.id)
    second = shop.tree(shop.world.chat(words, worktree=True).chat.id)
    odd = shop.chat("日本語")

    assert first.branch == "svc/please-mend-the-door-of-the-shed-and"
    assert second.branch == f"{first.branch}-2"
    assert odd.branch == f"svc/chat-{odd.chat[:8]}"


def test_one_chat_that_is_started_twice_at_once_under_a_key_has_one_worktree(shop: Shop):
    made: list[str] = []

    def one() -> None:
        made.append(shop.world.chat("Once", worktree=True, key="k1").chat.id)
        connections.close_all()

    threads = [threading.Thread(target=one) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(made) == 3
    assert len({*made}) == 1
    assert shop.tree(made[0]).branch == "svc/once"
    assert (shop.tree(made[0]).top / "a.txt").exists()


def test_many_chats_are_given_worktrees_at_once(shop: Shop):
    made: list[str] = []

    def one() -> None:
        made.append(shop.chat("Same words").branch)
        connections.close_all()

    threads = [threading.Thread(target=one) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(made) == ["svc/same-words", *(f"svc/same-words-{n}" for n in (2, 3, 4))]


def test_what_has_no_repository_with_a_commit_is_refused_and_no_chat_is_made(
    shop: Shop, world: World, tmp_path: Path
):
    plain, bare, empty = (tmp_path / name for name in ("plain", "bare", "empty"))
    plain.mkdir()
    Repo(bare, bare=True)
    Repo(empty)
    told = {}
    for path in (plain, bare, empty):
        shop.at(path)
        with pytest.raises(Conflict) as refused:
            shop.chat()
        told[path.name] = refused.value.text

    assert told == {
        "plain": "The project's directory is in no git repository: run git init there, and commit",
        "bare": "The project's directory is a bare repository: open a checkout of it instead",
        "empty": "The repository has no commit yet: commit something first",
    }
    assert files.all(world.project) == []


def test_a_branch_called_svc_is_in_the_way_and_said(shop: Shop, world: World):
    shop.repo.git("branch", "svc")

    with pytest.raises(Conflict, match="has a branch svc, below which"):
        shop.chat()

    assert (files.all(world.project), list(place.home().glob("*"))) == ([], [])


def test_a_project_in_a_folder_of_a_repository_works_in_the_same_folder(
    world: World, tmp_path: Path
):
    shop = Shop(world, tmp_path / "shop", "src")

    tree = shop.chat()

    assert (tree.below, tree.dir) == ("src", tree.top / "src")
    assert (tree.dir / "b.txt").read_text() == "b\n"
    turn = world.send(tree.chat, HELLO).turn
    assert world.run(turn.id).state == "done"
    assert shop.stands(tree)["changed"] == ["src/hello.txt"]


def test_a_repository_with_a_submodule_is_taken_without_it_and_leaves_clean(
    shop: Shop, tmp_path: Path
):
    part = Repo(tmp_path / "part")
    part.commit({"p.txt": "p\n"}, "Part")
    add = ("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(part.path), "part")
    shop.repo.git(*add)
    shop.repo.git("commit", "-q", "-m", "With part")

    tree = shop.chat()

    assert list((tree.top / "part").iterdir()) == []
    assert shop.stands(tree)["changed"] == []
    left = shop.archive(tree).left
    assert left
    assert left["kept"] is None


def test_commands_of_the_repositorys_configuration_are_not_run(shop: Shop, tmp_path: Path):
    ran = tmp_path / "ran"
    shop.repo.commit({".gitattributes": "*.txt filter=evil\n"}, "Attributes")
    for key in ("filter.evil.smudge", "filter.evil.clean", "core.fsmonitor"):
        shop.repo.git("config", key, f"touch {ran}; cat")
    shop.repo.git("config", "filter.evil.required", "true")
    hook = shop.root / ".git/hooks/post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {ran}\n")
    hook.chmod(0o755)

    tree = shop.chat()
    shop.stands(tree)
    shop.archive(tree)

    assert not ran.exists()


def test_a_repository_that_was_moved_behind_a_link_is_told_as_that(shop: Shop, tmp_path: Path):
    tree = shop.chat()
    shop.root.symlink_to(shop.root.rename(tmp_path / "moved"))

    told = shop.stands(tree)["problem"] or ""

    assert told.startswith(f"{shop.root} is now reached by a link: put it back there")


def test_a_prune_where_the_worktree_is_not_seen_leaves_it(shop: Shop):
    """As in the sandbox of a turn that was at work in the project's directory when it was made."""
    tree = shop.chat()
    unseen = tree.top.rename(f"{tree.top}.unseen")

    shop.repo.git("worktree", "prune")

    unseen.rename(tree.top)
    assert shop.stands(tree)["problem"] is None
    shutil.rmtree(tree.top)
    shop.again(tree)
    assert shop.stands(tree)["problem"] is None
    left = shop.archive(tree).left
    assert left == {"branch": tree.branch, "branchDeleted": True, "kept": None}
    assert not list((shop.root / ".git/worktrees").glob("*"))


def test_one_that_its_repository_does_not_know_is_put_aside_and_made_again(
    shop: Shop, world: World
):
    tree = shop.chat()
    (tree.top / "mine.txt").write_text("mine\n")
    shutil.rmtree(place.get_linked(tree).own)
    assert "no longer belongs to its repository" in (shop.stands(tree)["problem"] or "")

    shop.again(tree)

    assert place.workable(world.project, files.read(world.project, tree.chat)) == tree.dir
    assert (tree.top / "a.txt").read_text() == "one\ntwo\nthree\n"
    assert (tree.top.with_name(f"{tree.chat}.1") / "mine.txt").read_text() == "mine\n"


def test_a_worktree_that_went_refuses_turns_until_it_is_made_again(shop: Shop, world: World):
    tree = shop.chat()
    sha = shop.work(tree, {"new.txt": "new\n"})
    shutil.rmtree(tree.top)
    turn = world.send(tree.chat, HELLO).turn

    assert world.run(turn.id).state == "failed"
    assert "worktree of this chat is not there" in Turn.objects.get(id=turn.id).reason
    stands = shop.stands(tree)
    assert (stands["gone"], stands["ahead"]) == (True, 1)

    shop.again(tree)

    assert Repo(tree.top).git("rev-parse", "HEAD") == sha
    shop.again(tree)
    assert shop.stands(tree)["problem"] is None


def test_a_branch_that_is_checked_out_elsewhere_is_named(shop: Shop, tmp_path: Path):
    tree = shop.chat()
    shop.repo.git("worktree", "remove", "-f", "-f", str(tree.top))
    shop.repo.git("worktree", "add", "-q", str(tmp_path / "mine"), tree.branch)

    with pytest.raises(Conflict, match=r"is checked out at .*/mine"):
        shop.again(tree)


def test_a_worktree_that_names_another_repository_is_not_worked_in(shop: Shop, tmp_path: Path):
    tree = shop.chat()
    other = Repo(tmp_path / "other")
    other.commit({"x": "x"}, "Other")
    (tree.top / ".git").write_text(f"gitdir: {other.path}/.git\n")

    with pytest.raises(Conflict, match="no longer belongs to its repository"):
        place.workable(shop.world.project, files.read(shop.world.project, tree.chat))


def _as_gitdir(git: Path, other: Path) -> None:
    git.rename(git.with_name("was"))
    git.write_text(f"gitdir: {other}/.git\n")


def _as_link(git: Path, other: Path) -> None:
    git.rename(git.with_name("was"))
    git.symlink_to(other / ".git")


def _as_commondir(git: Path, other: Path) -> None:
    (git / "commondir").write_text(f"{other}/.git\n")


def _as_worktree(git: Path, other: Path) -> None:
    """Another worktree of that repository."""
    Repo(other).git("worktree", "add", "-q", "-b", "side", str(other.parent / "side"))
    git.rename(git.with_name("was"))
    git.write_text((other.parent / "side/.git").read_text())


@pytest.mark.parametrize("led", [_as_gitdir, _as_link, _as_commondir, _as_worktree])
def test_a_repository_that_does_not_name_the_directory_is_none(
    shop: Shop, world: World, tmp_path: Path, led: Callable[[Path, Path], None]
):
    other = Repo(tmp_path / "other")
    other.commit({"x": "x"}, "Other")
    tree = shop.chat()
    led(shop.root / ".git", other.path)

    with pytest.raises(Conflict, match="in no git repository that names it") as refused:
        shop.chat("More")

    assert refused.value.code == "no_repository"
    assert other.git("for-each-ref", "refs/heads/svc") == ""
    with pytest.raises(Conflict, match="no longer belongs to its repository"):
        place.workable(world.project, files.read(world.project, tree.chat))


def test_a_git_file_that_leads_to_a_bare_repository_is_told_what_to_do(shop: Shop, tmp_path: Path):
    root = tmp_path / "place"
    shop.repo.git("clone", "-q", "--bare", ".", str(root / ".bare"))
    (root / ".git").write_text("gitdir: ./.bare\n")
    shop.at(root)

    with pytest.raises(Conflict, match="leads to a bare repository, open a worktree of that"):
        shop.chat()


def test_every_repository_that_names_the_directory_will_do(shop: Shop, tmp_path: Path):
    root = tmp_path / "places"
    shop.repo.git("worktree", "add", "-q", "-b", "side", str(root / "linked"))
    shop.repo.git("clone", "-q", "--bare", ".", str(root / "bare.git"))
    Repo(root / "bare.git", bare=True).git("worktree", "add", "-q", str(root / "of-bare"), "main")
    outer = Repo(root / "outer")
    add = ("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(shop.root), "part")
    outer.git(*add)
    shop.repo.git(
        "clone", "-q", "--separate-git-dir", str(root / "apart.git"), ".", f"{root}/apart"
    )
    Repo(root / "apart.git").git("config", "core.worktree", str(root / "apart"))

    for name in ("linked", "of-bare", "outer/part", "apart"):
        shop.at(root / name)
        tree = shop.chat(name)
        assert (tree.top / "a.txt").read_text() == "one\ntwo\nthree\n"
        assert shop.stands(tree)["problem"] is None
        shop.work(tree, {"new.txt": name})
        assert shop.bring(tree)["commits"] == 1
        assert (root / name / "new.txt").read_text() == name
        assert shop.archive(tree).left == {
            "branch": tree.branch, "branchDeleted": True, "kept": None,
        }  # fmt: skip


@pytest.mark.parametrize("link", ["pkg", "pkg/app"])
def test_a_link_where_the_directory_of_the_chat_belongs_is_never_worked_in(
    shop: Shop, world: World, tmp_path: Path, link: str
):
    shop.repo.commit({"pkg/app/a.txt": "a\n"}, "App")
    shop.at(shop.root / "pkg/app")
    tree = shop.chat()
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "app").mkdir(parents=True)
    (tree.top / link).rename(tmp_path / "away")
    (tree.top / link).symlink_to(elsewhere)
    turn = world.send(tree.chat, HELLO).turn

    assert world.run(turn.id).state == "failed"

    assert f"take {link} away" in Turn.objects.get(id=turn.id).reason
    assert [path.name for path in elsewhere.rglob("*")] == ["app"]


def test_a_link_that_is_committed_there_is_not_worked_in_by_a_fork(
    shop: Shop, world: World, tmp_path: Path
):
    shop.at(shop.root / "src")
    tree = shop.chat()
    at = Repo(tree.top)
    at.git("rm", "-r", "-q", "src")
    (tree.top / "src").symlink_to(tmp_path)
    at.git("add", "src")
    at.git("commit", "-q", "-m", "Link")

    started = forks.fork(principal=USER, project=world.project, session_id=tree.chat, prompt=HELLO)

    assert started.turn
    assert world.run(started.turn.id).state == "failed"
    assert "take src away" in Turn.objects.get(id=started.turn.id).reason
    assert not (tmp_path / "hello.txt").exists()


def test_a_fork_gets_a_worktree_of_its_own_from_the_branch(shop: Shop, world: World):
    tree = shop.chat()
    sha = shop.work(tree, {"new.txt": "new\n"})

    fork = forks.fork(principal=USER, project=world.project, session_id=tree.chat).chat

    own = shop.tree(fork.id)
    assert own.branch == "svc/fork-of-fix-the-till"
    assert Repo(own.top).git("rev-parse", "HEAD") == sha


def test_the_agent_is_told_where_it_works_and_what_its_branch_is(shop: Shop):
    tree = shop.chat(prompt="hello")

    job = jobs.job_for(Turn.objects.get(chat=tree.chat), pin=False)

    assert job.cwd == str(tree.dir)
    assert f"branch {tree.branch}: commit there" in job.instructions
    assert job.linked
    assert job.linked.common == str(shop.root / ".git")
