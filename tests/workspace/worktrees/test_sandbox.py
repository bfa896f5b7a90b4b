"""A turn commits in its worktree and reaches nothing by which another git would run a command."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.review.repos import Repo
from tests.workspace.chats.test_directory import fence, inside
from tests.workspace.chats.world import World
from tests.workspace.worktrees.world import Shop, put
from workspace.chats.turns import jobs
from workspace.engines.base import EngineError
from workspace.models import Turn
from workspace.worktrees import place
from workspace.worktrees.linked import writable
from workspace.worktrees.place import Tree

WHO = "-c user.name=A -c user.email=a@b"
PROTECTED = """
common=$(cd "$(git rev-parse --git-common-dir)" && pwd); own=$(git rev-parse --absolute-git-dir)
for file in $common/config $common/hooks/post-commit $common/HEAD $common/index \
    $common/refs/heads/main $common/info/attributes $common/packed-refs \
    $own/gitdir $own/commondir $own/config.worktree "$(git rev-parse --show-toplevel)/.git"; do
  ( echo evil >> "$file" ) 2>/dev/null && echo "WROTE $file"
  ( rm -f "$file" && ! [ -e "$file" ] && mv /dev/null "$file" ) 2>/dev/null && echo "TOOK $file"
done
true
"""


def run(world: World, tree: Tree, *steps: str) -> tuple[Turn, str]:
    turn = world.send(tree.chat, "#!runbook\n" + "".join(steps)).turn
    done = world.run(turn.id)
    said = "\n".join(str(one.get("text")) for one in world.records(tree.chat, "tool_result"))
    return done, said


@inside
def test_a_turn_commits_on_its_branch(walled: Shop, world: World):
    tree, before = walled.chat(), walled.users()

    done, said = run(
        world,
        tree,
        fence("Write", "new", "file_path=new.txt"),
        fence("Bash", f"git add new.txt && git {WHO} commit -qm Mine && git status --short"),
    )

    assert done.state == "done", said
    assert walled.repo.git("log", "--format=%s", tree.branch).splitlines() == ["Mine", "First"]
    assert walled.users() == before


@inside
def test_what_git_cannot_do_there_is_told_beforehand(walled: Shop, world: World):
    tree = walled.chat()
    put(tree.top, {"a.txt": "changed\n"})

    done, said = run(world, tree, fence("Bash", "git stash; git tag v1", "allow_failure"))
    told = jobs.job_for(done, pin=False).instructions

    assert "git stash (Cannot save the current status) fail; commit instead" in told
    assert "Cannot save the current status" in said
    assert "cannot lock ref 'refs/tags/v1'" in said
    assert (tree.top / "a.txt").read_text() == "changed\n"


@inside
def test_git_begins_no_collection_in_the_background(walled: Shop, world: World):
    tree = walled.chat()

    _, said = run(world, tree, fence("Bash", "git config gc.auto"))

    assert said.strip() == "0"


@inside
def test_a_turn_in_a_folder_of_the_repository_commits_without_taking_the_rest_away(
    walled: Shop, world: World
):
    walled.at(walled.root / "src")
    tree = walled.chat()

    done, said = run(world, tree, fence("Bash", f"echo x > x; git add -A; git {WHO} commit -qm X"))

    assert done.state == "done", said
    told = walled.repo.git("show", "--format=", "--name-status", tree.branch)
    assert told == "A\tsrc/x"


@inside
def test_hooks_configuration_and_ties_of_the_repository_stay_as_they_are(
    walled: Shop, world: World
):
    hooks = walled.root / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    tree, before = walled.chat(), walled.users()
    linked = place.get_linked(tree)

    done, said = run(world, tree, fence("Bash", PROTECTED))

    assert done.state == "done", said
    assert "WROTE" not in said
    assert "TOOK" not in said
    assert walled.users() == before
    assert place.get_linked(tree) == linked
    assert (Path(linked.own) / "config.worktree").read_bytes() == b""


@inside
def test_a_worktree_of_an_earlier_version_gets_what_it_lacks(walled: Shop, world: World):
    tree = walled.chat()
    own = Path(place.get_linked(tree).own)
    (own / "config.worktree").unlink(missing_ok=True)

    run(world, tree, fence("Bash", f"echo evil > {own}/config.worktree", "allow_failure"))

    assert (own / "config.worktree").read_bytes() == b""


@inside
def test_in_bypass_the_file_tools_keep_the_tie_as_well(walled: Shop, world: World):
    tree = walled.chat()

    _, said = run(world, tree, fence("Write", "gitdir: /x", "file_path=.git allow_failure"))

    assert "protected path" in said
    assert place.get_linked(tree)


def test_a_link_where_commits_are_written_starts_no_turn(shop: Shop, tmp_path: Path):
    tree = shop.chat()
    linked = place.get_linked(tree)
    real = shop.root / ".git/refs/heads/svc"
    real.rename(tmp_path / "elsewhere")
    real.symlink_to(tmp_path / "elsewhere")

    with pytest.raises(EngineError, match="has a link where none belongs"):
        writable(linked)


@inside
def test_in_plan_mode_nothing_of_the_repository_is_written(walled: Shop, world: World):
    tree = walled.chat()
    world.write(f"name: Alpha\npermissionMode: plan\npath: {walled.root}\n")

    run(world, tree, fence("Bash", f"git {WHO} commit --allow-empty -m No", "allow_failure"))

    assert walled.repo.git("rev-list", "--count", tree.branch) == "1"
    assert Repo(tree.top).git("status", "--porcelain") == ""
