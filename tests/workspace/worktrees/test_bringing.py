"""The branch of a chat is brought over whole, or nothing changes and the files are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from config.errors import Conflict, Invalid
from tests.review.repos import Repo
from tests.workspace.worktrees.world import Shop, put
from workspace.models import Turn
from workspace.worktrees.place import Tree


def test_commits_are_rebased_and_the_directory_of_the_project_follows(shop: Shop):
    tree = shop.chat()
    old = shop.work(tree, {"new.txt": "new\n"}, "Mine")
    shop.repo.commit({"other.txt": "other\n"}, "Meanwhile")
    (shop.root / "mine.txt").write_text("not committed\n")

    done = shop.bring(tree)

    assert (done["onto"], done["how"], done["commits"]) == ("main", "rebase", 1)
    assert shop.repo.git("log", "--format=%s", "main").splitlines() == [
        "Mine",
        "Meanwhile",
        "First",
    ]
    assert (shop.root / "new.txt").read_text() == "new\n"
    assert shop.repo.git("status", "--porcelain") == "?? mine.txt"
    assert (tree.top / "other.txt").exists()
    assert shop.repo.git("rev-parse", done["before"]) == old
    assert done["before"] == f"refs/svc/before/{tree.chat}/1"
    stands = shop.stands(tree)
    assert (stands["ahead"], stands["behind"], stands["changed"]) == (0, 0, [])


def test_a_merge_is_a_commit_whose_first_parent_is_the_target(shop: Shop):
    tree = shop.chat()
    mine = shop.work(tree, {"new.txt": "new\n"}, "Mine")
    theirs = shop.repo.commit({"other.txt": "other\n"}, "Meanwhile")

    done = shop.bring(tree, how="merge")

    assert shop.repo.git("rev-parse", "main^1", "main^2").splitlines() == [theirs, mine]
    assert shop.repo.git("log", "-1", "--format=%s", "main") == (
        f"Merge branch '{tree.branch}' into main"
    )
    assert (shop.root / "new.txt").exists()
    assert Repo(tree.top).git("symbolic-ref", "--short", "HEAD") == tree.branch
    assert Repo(tree.top).git("rev-parse", "HEAD") == done["tip"]


def test_a_branch_that_is_checked_out_nowhere_is_moved_as_it_is(shop: Shop):
    shop.repo.git("branch", "next")
    tree = shop.chat()
    shop.work(tree, {"new.txt": "new\n"})
    before = shop.users()

    done = shop.bring(tree, onto="next")

    assert shop.repo.git("rev-parse", "next") == done["tip"]
    after = shop.users()
    assert {name for name in before if before[name] != after.get(name)} == {
        ".git/refs/heads/next", ".git/logs/refs/heads/next",
    }  # fmt: skip


@pytest.mark.parametrize("how", ["rebase", "merge"])
def test_a_conflict_names_the_files_and_leaves_both_as_they_were(shop: Shop, how):
    tree = shop.chat()
    sha = shop.work(tree, {"a.txt": "one\nMINE\nthree\n", "fine.txt": "fine\n"})
    shop.repo.commit({"a.txt": "one\nTHEIRS\nthree\n"}, "Meanwhile")
    (shop.root / "src/b.txt").write_text("not committed\n")
    before = shop.users()

    with pytest.raises(Conflict) as refused:
        shop.bring(tree, how=how)

    assert (refused.value.code, refused.value.extra) == ("not_brought", {"files": ["a.txt"]})
    assert refused.value.text == f"{tree.branch} and main changed the same lines: a.txt"
    assert shop.users() == before
    assert Repo(tree.top).git("rev-parse", "HEAD") == sha
    assert Repo(tree.top).git("status", "--porcelain") == ""
    assert shop.stands(tree)["problem"] is None


@pytest.mark.parametrize("how", ["rebase", "merge"])
@pytest.mark.parametrize("meets", [True, False])
def test_an_ignored_file_of_the_worktree_is_not_overwritten(shop: Shop, how, meets):
    shop.repo.commit({".gitignore": "local.env\n"}, "Ignore it")
    tree = shop.chat()
    shop.work(tree, {"a.txt": "one\nMINE\nthree\n"})
    put(tree.top, {"local.env": "the only copy\n"})
    theirs = {"a.txt": "one\nTHEIRS\nthree\n"} if meets else {}
    shop.repo.write({**theirs, "local.env": "of the target\n"})
    shop.repo.git("add", "-f", ".")
    shop.repo.git("commit", "-qm", "Meanwhile")
    before = shop.users()

    with pytest.raises(Conflict, match="The worktree has ignored files where main") as refused:
        shop.bring(tree, how=how)

    assert refused.value.extra == {"files": ["local.env"]}
    assert (tree.top / "local.env").read_text() == "the only copy\n"
    assert shop.users() == before


@pytest.mark.parametrize(
    ("theirs", "staged"),
    [
        ({"a.txt": "mine, not committed\n"}, False),
        ({"a.txt": "mine, staged\n"}, True),
        ({"new.txt": "mine, not tracked\n"}, False),
        ({"out.log": "mine, ignored\n"}, False),
        ({"deep": "a file where a folder comes\n"}, False),
    ],
)
def test_changes_in_the_way_are_named_and_nothing_is_overwritten(
    shop: Shop, theirs: dict[str, str | None], staged: bool
):
    tree = shop.chat()
    wanted: dict[str, str | None] = {"a.txt": "agent\n", "new.txt": "new\n", "deep/x.txt": "x\n"}
    put(tree.top, {"out.log": "log\n"})
    Repo(tree.top).git("add", "--force", "out.log")
    sha = shop.work(tree, wanted)
    put(shop.root, theirs)
    if staged:
        shop.repo.git("add", "--all")
    before = shop.users()

    with pytest.raises(Conflict) as refused:
        shop.bring(tree)

    assert refused.value.code == "not_brought"
    assert shop.users() == before
    assert Repo(tree.top).git("rev-parse", "HEAD") == sha
    (name,) = theirs
    assert name in refused.value.text or name == "deep"


def test_changes_that_are_not_in_the_way_stay_as_they_are(shop: Shop):
    tree = shop.chat()
    shop.work(tree, {"new.txt": "new\n"})
    put(shop.root, {"a.txt": "mine\n", "src/b.txt": "staged\n"})
    shop.repo.git("add", "src/b.txt")

    shop.bring(tree)

    assert shop.repo.git("status", "--porcelain").splitlines() == [" M a.txt", "M  src/b.txt"]


def test_what_is_not_committed_is_named_or_committed_first(shop: Shop):
    tree = shop.chat()
    put(tree.top, {"new.txt": "new\n", "a.txt": "agent\n"})

    with pytest.raises(Conflict, match=r"Not committed in the worktree: a.txt, new.txt"):
        shop.bring(tree)
    done = shop.bring(tree, commit="All of it")

    assert done["commits"] == 1
    assert shop.repo.git("log", "-1", "--format=%s", "main") == "All of it"
    assert (shop.root / "a.txt").read_text() == "agent\n"


def test_what_was_committed_for_it_is_not_committed_when_it_fails(shop: Shop):
    tree = shop.chat()
    put(tree.top, {"a.txt": "agent\n", "new.txt": "new\n"})
    shop.repo.commit({"a.txt": "theirs\n"}, "Meanwhile")

    with pytest.raises(Conflict):
        shop.bring(tree, commit="All of it")

    assert shop.stands(tree)["changed"] == ["a.txt", "new.txt"]
    assert (tree.top / "a.txt").read_text() == "agent\n"
    assert shop.stands(tree)["ahead"] == 0


def test_nothing_is_brought_over_while_a_turn_runs_or_a_rebase_is_under_way(shop: Shop):
    tree = shop.chat()
    shop.work(tree, {"a.txt": "agent\n"})
    turn = shop.world.send(tree.chat).turn
    Turn.objects.filter(id=turn.id).update(state="running")
    with pytest.raises(Conflict, match="A turn is running"):
        shop.bring(tree)
    Turn.objects.filter(id=turn.id).update(state="done")
    shop.repo.git("branch", "next")
    shop.repo.commit({"a.txt": "theirs\n"}, "Meanwhile")
    at = Repo(tree.top)
    with pytest.raises(AssertionError):
        at.git("rebase", "main")
    with pytest.raises(Conflict, match="is under way in the worktree"):
        shop.bring(tree)
    at.git("rebase", "--abort")
    shop.repo.git("checkout", "-q", "next")
    shop.repo.commit({"a.txt": "next\n"}, "Next")
    with pytest.raises(AssertionError):
        shop.repo.git("rebase", "main")

    with pytest.raises(Conflict, match="A rebase of next is in progress"):
        shop.bring(tree, onto="next")


def test_a_target_that_is_none_is_refused_with_the_field(shop: Shop):
    tree = shop.chat()
    for onto in ("nowhere", tree.branch, "--help"):
        with pytest.raises(Invalid) as refused:
            shop.bring(tree, onto=onto)
        assert refused.value.problems[0].field == "onto"
    shop.repo.git("checkout", "-q", "--detach")
    with pytest.raises(Invalid, match="is on no branch"):
        shop.bring(tree)


def test_a_chat_without_a_worktree_has_nothing_to_bring(shop: Shop):
    chat = shop.world.chat(name="Plain").chat.id

    with pytest.raises(Conflict, match="no worktree of its own"):
        shop.bring(Tree(chat, "svc/x", shop.root))


def test_files_that_a_filter_of_the_repository_would_change_are_left_to_its_owner(shop: Shop):
    shop.repo.commit({".gitattributes": "*.nb filter=strip\n"}, "Attributes")
    tree = shop.chat()
    shop.work(tree, {"x.nb": "raw\n"})
    shop.repo.git("config", "filter.strip.clean", "sed d")
    before = shop.users()

    with pytest.raises(Conflict, match=r"filter .*: x\.nb; run git merge"):
        shop.bring(tree)

    assert shop.users() == before


def test_a_merge_driver_of_the_repository_is_not_run_and_counts_as_a_conflict(
    shop: Shop, tmp_path: Path
):
    shop.repo.commit({".gitattributes": "a.txt merge=evil\n"}, "Attributes")
    shop.repo.git("config", "merge.evil.driver", f"touch {tmp_path}/ran")
    tree = shop.chat()
    shop.work(tree, {"a.txt": "ONE\ntwo\nthree\n"})
    shop.repo.commit({"a.txt": "one\ntwo\nTHREE\n"}, "Meanwhile")

    with pytest.raises(Conflict, match=r"same lines: a\.txt"):
        shop.bring(tree)

    assert not (tmp_path / "ran").exists()


def test_branches_that_stand_on_it_are_not_moved_along(shop: Shop):
    tree = shop.chat()
    shop.work(tree, {"new.txt": "new\n"})
    shop.repo.git("config", "rebase.updateRefs", "true")
    shop.repo.git("branch", "mine", tree.branch)
    shop.work(tree, {"more.txt": "more\n"})
    old = shop.repo.git("rev-parse", "mine")
    shop.repo.commit({"other.txt": "other\n"}, "Meanwhile")

    shop.bring(tree)

    assert shop.repo.git("rev-parse", "mine") == old
