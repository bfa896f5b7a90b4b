"""A directory has the repository that names it back, and no link leads out of that."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from config.git import owning
from config.git.command import GitError
from tests.review.repos import Repo

Setup = Callable[[Path], tuple[Path, Path, Path]]
ALLOWED = ("-c", "protocol.file.allow=always")


def made(path: Path) -> Repo:
    repo = Repo(path)
    repo.commit({"a": "1\n"}, "a")
    return repo


def plain(root: Path) -> tuple[Path, Path, Path]:
    top = made(root / "api").path
    return top, top / ".git", top / ".git"


def linked(root: Path) -> tuple[Path, Path, Path]:
    repo = made(root / "api")
    repo.git("worktree", "add", "-q", str(root / "beside"))
    return root / "beside", repo.path / ".git/worktrees/beside", repo.path / ".git"


def linked_by_relative_paths(root: Path) -> tuple[Path, Path, Path]:
    top, git_dir, common = linked(root)
    (top / ".git").write_text("gitdir: ../api/.git/worktrees/beside\n")
    (git_dir / "gitdir").write_text("../../../../beside/.git\n")
    return top, git_dir, common


def bare(root: Path) -> tuple[Path, Path, Path]:
    made(root / "api").git("clone", "-q", "--bare", ".", str(root / "api.git"))
    return root / "api.git", root / "api.git", root / "api.git"


def linked_to_a_bare_one(root: Path) -> tuple[Path, Path, Path]:
    top, _, _ = bare(root)
    Repo(top, bare=True).git("worktree", "add", "-q", str(root / "beside"))
    return root / "beside", top / "worktrees/beside", top


def submodule(root: Path) -> tuple[Path, Path, Path]:
    made(root / "lib")
    outer = made(root / "api")
    outer.git(*ALLOWED, "submodule", "--quiet", "add", str(root / "lib"), "inner")
    own = outer.path / ".git/modules/inner"
    return outer.path / "inner", own, own


def sparse_submodule(root: Path) -> tuple[Path, Path, Path]:
    top, own, common = submodule(root)
    Repo(top).git("sparse-checkout", "init", "--cone")
    assert (own / "config.worktree").is_file()
    return top, own, common


def linked_to_a_submodule(root: Path) -> tuple[Path, Path, Path]:
    top, own, _ = submodule(root)
    Repo(top).git("worktree", "add", "-q", str(root / "beside"))
    return root / "beside", own / "worktrees/beside", own


def elsewhere_and_named(root: Path) -> tuple[Path, Path, Path]:
    made(root / "api").git("init", "-q", "--separate-git-dir", str(root / "apart"))
    repo = Repo(root / "api")
    repo.git("config", "core.worktree", str(root / "api"))
    return root / "api", root / "apart", root / "apart"


@pytest.mark.parametrize(
    "setup",
    [
        plain, linked, linked_by_relative_paths, bare, linked_to_a_bare_one, submodule,
        sparse_submodule, linked_to_a_submodule, elsewhere_and_named,
    ],
)  # fmt: skip
def test_a_repository_that_names_its_directory_is_its_own(setup: Setup, tmp_path: Path):
    top, git_dir, common = setup(tmp_path)
    (tmp_path / "way").symlink_to(top)

    assert owning.of(top) == owning.of(tmp_path / "way") == (git_dir, common)
    assert owning.all_alternates(common) == []


def test_git_is_asked_of_a_submodule_once_for_each_state_of_its_configuration(
    tmp_path: Path, runs: list[str]
):
    top, _, _ = submodule(tmp_path)

    for _ in range(3):
        owning.of(top)
    assert runs == ["config"]

    Repo(top).config("core.worktree", str(tmp_path))
    with pytest.raises(GitError):
        owning.of(top)


def redirected(top: Path, other: Path) -> None:
    (top / ".git").rename(top / "was")
    (top / ".git").write_text(f"gitdir: {other}/.git\n")


def redirected_to_a_linked_one(top: Path, other: Path) -> None:
    Repo(other).git("worktree", "add", "-q", str(other.parent / "theirs"))
    (top / ".git").rename(top / "was")
    (top / ".git").write_text(f"gitdir: {other}/.git/worktrees/theirs\n")


def a_part_of_another(top: Path, other: Path) -> None:
    (top / ".git/commondir").write_text(f"{other}/.git\n")


def a_made_up_worktree(top: Path, other: Path) -> None:
    (top / ".git").rename(top / "worktrees")
    (top / "worktrees/commondir").write_text(f"{other}/.git\n")
    (top / "worktrees/gitdir").write_text(f"{top}/.git\n")
    (top / ".git").write_text("gitdir: worktrees\n")


def a_link(top: Path, other: Path) -> None:
    (top / ".git").rename(top / "was")
    (top / ".git").symlink_to(other / ".git")


def no_repository(top: Path, other: Path) -> None:
    (top / ".git/HEAD").unlink()


def a_linked_pack_folder(top: Path, other: Path) -> None:
    (top / ".git/objects/pack").rmdir()
    (top / ".git/objects/pack").symlink_to(other / ".git/objects/pack")


def a_linked_folder_of_objects(top: Path, other: Path) -> None:
    (top / ".git/objects/00").symlink_to(other / ".git/objects/00")


def a_linked_pack(top: Path, other: Path) -> None:
    (top / ".git/objects/pack/x.pack").symlink_to(other / ".git/objects/pack/x.pack")


@pytest.mark.parametrize(
    "change",
    [
        redirected, redirected_to_a_linked_one, a_part_of_another, a_made_up_worktree, a_link,
        no_repository, a_linked_pack_folder, a_linked_folder_of_objects, a_linked_pack,
    ],
)  # fmt: skip
def test_one_that_does_not_is_none(change: Callable[[Path, Path], None], tmp_path: Path):
    top, other = made(tmp_path / "api").path, made(tmp_path / "private").path
    owning.of(top)

    change(top, other)

    with pytest.raises(GitError):
        owning.of(top)


def test_what_is_told_of_a_worktree_that_was_moved_and_of_a_git_directory_elsewhere_mends_it(
    tmp_path: Path,
):
    top, _, _ = linked(tmp_path)
    moved = top.rename(tmp_path / "moved")
    made(tmp_path / "apart").git("init", "-q", "--separate-git-dir", str(tmp_path / "apart.git"))
    apart = tmp_path / "apart"
    for place, cure in (
        (moved, ["worktree", "repair"]), (apart, ["config", "core.worktree", str(apart)]),
    ):  # fmt: skip
        with pytest.raises(GitError) as caught:
            owning.of(place)
        assert " ".join(cure[:2]) in caught.value.text

        Repo(place).git(*cure)

        owning.of(place)


@pytest.mark.parametrize("part", ["HEAD", "config", "packed-refs", "refs", "objects", "logs"])
def test_no_part_of_it_is_a_link(part: str, tmp_path: Path):
    top = made(tmp_path / "api").path
    Repo(top).git("pack-refs", "--all")
    (top / ".git" / part).rename(tmp_path / part)
    (top / ".git" / part).symlink_to(tmp_path / part)

    with pytest.raises(GitError, match=rf"/\.git/{part} is a link"):
        owning.of(top)


def test_where_it_borrows_objects_is_told_over_every_step(tmp_path: Path):
    tops = [made(tmp_path / "0").path]
    for n in range(1, 6):
        tops.append(tmp_path / str(n))
        Repo(tops[0]).git("clone", "-q", "-s", str(tops[-2]), str(tops[-1]))
    borrowed = [[str(place) for place in owning.all_alternates(top / ".git")] for top in tops]

    assert borrowed[0] == []
    assert borrowed[2] == [f"{tops[1]}/.git/objects", f"{tops[0]}/.git/objects"]
    assert len(borrowed[5]) == 5
    info = tops[0] / ".git/objects/info"
    for text in (f"{tmp_path}/further\n", '"/quoted"\n'):
        (info / "alternates").write_text(text)
        (tmp_path / "further/info").mkdir(parents=True, exist_ok=True)
        (tmp_path / "further/info/alternates").write_text(os.fspath(tmp_path))
        with pytest.raises(GitError):
            owning.all_alternates(tops[5] / ".git")
