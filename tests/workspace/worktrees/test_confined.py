"""What a turn left in a repository for git to run or follow reaches no more than the turn did."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from config.errors import Conflict
from tests.review.repos import Repo
from tests.service import until
from tests.workspace.chats.test_directory import inside
from tests.workspace.worktrees.world import Shop, put
from workspace.engines import select, sockets
from workspace.engines.sandbox import Sandbox
from workspace.worktrees import confined, owned, repository
from workspace.worktrees.place import Tree


def unseen(monkeypatch) -> None:
    """As where a turn changes the configuration after it was looked at."""
    monkeypatch.setattr(repository, "_overrides", lambda _: {})
    monkeypatch.setattr(repository, "_refuse_elsewhere", lambda _: None)


def submodule(tree: Tree, command: str) -> Repo:
    """One in the worktree, changed, with a filter of its own."""
    sub = Repo(tree.top / "sub")
    sub.commit({".gitattributes": "* filter=evil\n", "f": "x\n"}, "Sub")
    sub.git("config", "filter.evil.clean", command)
    (sub.path / "f").write_text("longer\n")
    at = Repo(tree.top)
    at.git("update-index", "--add", "--cacheinfo", f"160000,{sub.git('rev-parse', 'HEAD')},sub")
    at.git("-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "Sub")
    return sub


def test_no_git_runs_in_a_submodule_to_see_how_a_worktree_stands(shop: Shop, tmp_path: Path):
    tree = shop.chat()
    sub = submodule(tree, f"touch {tmp_path}/ran; cat")

    assert shop.stands(tree)["changed"] == []
    left = shop.archive(tree).left
    assert left
    assert left["kept"] == "a submodule is checked out in it: sub"
    assert (sub.path / "f").read_text() == "longer\n"
    assert not (tmp_path / "ran").exists()


@inside
def test_a_filter_that_comes_after_the_look_reaches_nothing_outside(
    walled: Shop, monkeypatch, tmp_path: Path
):
    walled.repo.commit({".gitattributes": "* filter=evil\n"}, "Attributes")
    put(walled.root, {".svc/triggers.yaml": "{}\n", ".git/hooks/sample": ""})
    places = f"{tmp_path}/ran {walled.root}/.svc/y {walled.root}/.git/hooks/y"
    told = f"touch {places}; cat"
    for word in ("smudge", "clean"):
        walled.repo.git("config", f"filter.evil.{word}", f"sh -c '{told}'")
    unseen(monkeypatch)

    tree = walled.chat()
    put(tree.top, {"a.txt": "other\n"})
    walled.stands(tree)

    assert (tree.top / "src/b.txt").read_text() == "b\n"
    assert not [path for path in places.split() if Path(path).exists()]


def test_a_repository_whose_files_are_said_to_be_elsewhere_is_refused(shop: Shop, tmp_path: Path):
    tree = shop.chat()
    shop.work(tree, {"new.txt": "new\n"})
    (tmp_path / "else").mkdir()
    shop.repo.git("config", "core.worktree", str(tmp_path / "else"))

    for act in (lambda: shop.bring(tree), lambda: shop.chat("More")):
        with pytest.raises(Conflict, match="its files are in another directory"):
            act()

    assert list((tmp_path / "else").iterdir()) == []


def test_what_is_brought_over_comes_into_the_directory_whatever_is_configured(
    shop: Shop, monkeypatch, tmp_path: Path
):
    tree = shop.chat()
    shop.work(tree, {"new.txt": "new\n"})
    (tmp_path / "else").mkdir()
    shop.repo.git("config", "core.worktree", str(tmp_path / "else"))
    unseen(monkeypatch)

    shop.bring(tree)

    assert (shop.root / "new.txt").read_text() == "new\n"
    assert list((tmp_path / "else").iterdir()) == []


@pytest.mark.parametrize("name", ["logs/HEAD", "logs"])
def test_nothing_is_written_through_a_link_in_the_repository(shop: Shop, tmp_path: Path, name: str):
    tree = shop.chat()
    shop.work(tree, {"new.txt": "new\n"})
    linked, kept = shop.root / ".git" / name, tmp_path / "kept"
    linked.rename(kept)
    linked.symlink_to(kept)
    before = shop.users()

    with pytest.raises(Conflict, match=f"{name} is a link"):
        shop.bring(tree)

    assert shop.users() == before


@inside
def test_a_log_that_is_linked_out_deeper_down_is_not_written(walled: Shop, tmp_path: Path):
    tree = walled.chat()
    walled.work(tree, {"new.txt": "new\n"})
    (tmp_path / "keys").write_text("mine\n")
    log = walled.root / ".git/logs/refs/heads/main"
    log.unlink()
    log.symlink_to(tmp_path / "keys")

    with suppress(Conflict):
        walled.bring(tree)

    assert (tmp_path / "keys").read_text() == "mine\n"


def test_a_directory_that_is_no_worktree_of_the_repository_is_not_brought_over_to(
    shop: Shop, tmp_path: Path
):
    tree = shop.chat()
    shop.work(tree, {"new.txt": "new\n"})
    shop.repo.git("switch", "-q", "-c", "mine")
    victim = Repo(tmp_path / "victim")
    victim.commit({"v.txt": "v\n"}, "Theirs")
    planted = shop.root / ".git/worktrees/evil"
    planted.mkdir()
    (planted / "gitdir").write_text(f"{victim.path}/.git\n")
    (planted / "commondir").write_text("../..\n")
    (planted / "HEAD").write_text("ref: refs/heads/main\n")

    with pytest.raises(Conflict, match=r"checked out at .*/victim, which is not there now"):
        shop.bring(tree, onto="main")

    assert victim.git("status", "--porcelain") == ""
    assert not (victim.path / "new.txt").exists()


@inside
def test_a_repository_that_becomes_a_link_while_git_starts_is_not_followed(
    walled: Shop, monkeypatch, tmp_path: Path
):
    private = Repo(tmp_path / "private")
    private.commit({"secret.txt": "secret\n"}, "Theirs")
    needed = owned.needed_paths

    def late() -> list[str]:
        git = walled.root / ".git"
        if not git.is_symlink():
            git.rename(tmp_path / "was")
            git.symlink_to(private.path / ".git")
        return needed()

    monkeypatch.setattr(owned, "needed_paths", late)

    with pytest.raises(Conflict, match="No worktree could be made"):
        walled.chat()

    assert private.git("for-each-ref", "refs/heads/svc") == ""


@inside
def test_the_users_own_configuration_counts_with_what_it_names(walled: Shop, tmp_path: Path):
    put(tmp_path, {
        ".gitconfig": "[include]\n\tpath = more\n[core]\n\texcludesFile = ~/rules\n",
        "more": '[filter "up"]\n\tclean = ~/bin/up\n\tsmudge = cat\n\trequired\n',
        "bin/up": "#!/bin/sh\nexec tr a-z A-Z\n",
        "rules": "*.swp\n",
    })  # fmt: skip
    (tmp_path / "bin/up").chmod(0o755)
    walled.repo.commit({".gitattributes": "*.up filter=up\n"}, "Attributes")
    tree = walled.chat()
    put(tree.top, {"x.up": "loud\n", "x.swp": "swap\n"})

    assert walled.stands(tree)["changed"] == ["x.up"]
    walled.bring(tree, commit="Loud")

    assert walled.repo.git("show", "main:x.up") == "LOUD"
    assert walled.repo.git("log", "-1", "--name-only", "--format=", "main") == "x.up"


LARGE = """#!/bin/sh
set -e
store=$(git config lfs.storage || echo "$(git rev-parse --git-common-dir)/lfs")
mkdir -p "$store/tmp"
cat > "$store/tmp/$$"
if [ "$1" = clean ]; then
  grep -a ^pointer "$store/tmp/$$" || echo "pointer $(wc -c < "$store/tmp/$$")"
  exit
fi
test -n "$GIT_LFS_SKIP_DOWNLOAD_ERRORS"
cat "$store/tmp/$$"
"""


@inside
def test_a_filter_as_that_of_git_lfs_has_where_to_write_while_files_are_looked_at(
    walled: Shop, tmp_path: Path
):
    put(tmp_path, {
        ".gitconfig": '[filter "lfs"]\n\tclean = ~/bin/git-lfs clean\n'
        "\tsmudge = ~/bin/git-lfs smudge\n\trequired\n",
        "bin/git-lfs": LARGE,
    })  # fmt: skip
    (tmp_path / "bin/git-lfs").chmod(0o755)
    walled.repo.commit({".gitattributes": "*.bin filter=lfs\n", "x.bin": "pointer 4\n"}, "Large")
    tree = walled.chat()
    put(tree.top, {"x.bin": "much larger\n"})

    stands = walled.stands(tree)
    brought = walled.bring(tree, commit="Larger")

    assert (stands["changed"], stands["problem"]) == (["x.bin"], None)
    assert walled.repo.git("show", f"{brought['tip']}:x.bin") == "pointer 12"


def test_without_a_sandbox_that_is_asked_for_git_runs_no_more_than_a_turn(shop: Shop, monkeypatch):
    tree = shop.chat()
    lacking = Sandbox("unavailable", "bwrap", "bubblewrap is not installed")
    monkeypatch.setattr(select, "confinement", lambda: lacking)

    text = "The sandbox is unavailable: bubblewrap is not installed"
    assert shop.stands(tree)["problem"] == text
    with pytest.raises(Conflict, match=text):
        shop.chat("More")


@inside
def test_a_sandbox_that_does_not_start_is_told_as_that(walled: Shop, monkeypatch, tmp_path: Path):
    tree = walled.chat()
    put(tmp_path, {"broken/bwrap": "#!/bin/sh\necho 'bwrap: No permissions' >&2\nexit 1\n"})
    (tmp_path / "broken/bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/broken", prepend=":")

    assert walled.stands(tree)["problem"] == "The sandbox failed: No permissions"


@inside
def test_a_socket_that_goes_away_while_the_sandbox_starts_fails_nothing(walled: Shop, monkeypatch):
    tree = walled.chat()
    put(tree.top, {"a.txt": "other\n"})
    covers = iter([["--ro-bind", "/dev/null", "/usr/gone.sock"], []])
    monkeypatch.setattr(sockets, "covers", lambda *_: next(covers))

    stands = walled.stands(tree)

    assert (stands["changed"], stands["problem"]) == (["a.txt"], None)


@inside
def test_sockets_that_cannot_be_covered_are_told_as_the_problem(
    walled: Shop, monkeypatch, tmp_path: Path
):
    tree = walled.chat()
    monkeypatch.setattr(sockets, "LISTED", str(tmp_path / "absent"))

    told = walled.stands(tree)["problem"] or ""

    assert told.startswith("The unix sockets of this machine cannot be listed")


@inside
def test_a_git_that_hangs_ends_with_all_that_it_started(walled: Shop, monkeypatch, tmp_path: Path):
    tree = walled.chat()
    put(tmp_path, {".gitconfig": '[filter "slow"]\n\tclean = sleep 7654\n'})
    put(tree.top, {".gitattributes": "*.txt filter=slow\n", "a.txt": "other lines\n"})
    monkeypatch.setattr(confined, "TIMEOUT_S", 1.0)

    assert walled.stands(tree)["problem"] == "git status took more than 1 seconds"

    def gone() -> bool:
        found = psutil.process_iter(["cmdline"])
        return not [one for one in found if one.info["cmdline"] == ["sleep", "7654"]]

    assert until(gone)


@inside
def test_a_repository_with_borrowed_objects_is_refused_with_what_to_do(
    walled: Shop, tmp_path: Path
):
    walled.repo.git("clone", "-q", "--shared", ".", str(tmp_path / "lent"))
    walled.at(tmp_path / "lent")

    with pytest.raises(Conflict, match="borrows objects of one that turns do not see"):
        walled.chat()
