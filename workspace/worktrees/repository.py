"""The repository that a project works in, and git as it runs there: in the sandbox of a turn.

Commands in the repository's own configuration are not run either: no hook, filter, merge driver,
editor or signer. Filters in the user's own configuration do apply. See
docs/design/trust.md#git-of-the-service.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from config.errors import Conflict, Invalid
from config.git import command
from config.git.command import GitError
from workspace.projects import folders, schema
from workspace.worktrees import confined, ties
from workspace.worktrees.ties import At

HEADS = "refs/heads/"
NO_REPOSITORY = "The project's directory is in no git repository: run git init there, and commit"
NOT_NAMED = (
    "The project's directory is in no git repository that names it. Where its .git is a file that "
    "leads to a bare repository, open a worktree of that; where to any other, run "
    "git config core.worktree with the path of the directory there"
)
NO_WORK_TREE = "The project's directory is a bare repository: open a checkout of it instead"
ELSEWHERE = (
    "The repository's configuration says that its files are in another directory: run "
    "git config --unset core.worktree in the project's directory"
)
NO_COMMIT = "The repository has no commit yet: commit something first"
TRUSTED = ("system", "global")  # configuration scopes that no turn can write
COMMANDS = r"^(filter\..*\.(clean|smudge|process|required)|merge\..*\.driver)$"
QUIET = {
    "commit.gpgsign": "false",
    "core.logallrefupdates": "true",
    "diff.ignoresubmodules": "dirty",
    "merge.verifysignatures": "false",
    "rebase.autosquash": "false",
    "rebase.autostash": "false",
    "rebase.updaterefs": "false",
    "rerere.enabled": "false",
    "submodule.recurse": "false",
}


@dataclass(frozen=True, slots=True)
class Repository:
    """`top`: the user's work tree; `below`: where in it the project works, "" for the top itself;
    `common`: what all worktrees share."""

    top: Path
    below: str
    common: Path


def top_of(folder: Path, wall: folders.Wall | None = None) -> Path | None:
    """The top of the work tree that contains a directory, found without running git; None if there
    is none that a project could work in."""
    for level in (folder, *folder.parents):
        if os.path.lexists(level / ".git"):
            refused = level != folder and (wall or folders.Wall.now()).refusal(level)
            return None if refused else level
    return None


def find(folder: Path) -> Repository:
    """The repository that a project's directory lies in. Conflict with the reason if there is none,
    or if it has no commit."""
    folder = Path(os.path.realpath(folder))
    top = top_of(folder)
    if top is None:
        bare = (folder / "HEAD").is_file() and (folder / "objects").is_dir()
        raise Conflict(NO_WORK_TREE if bare else NO_REPOSITORY, code="no_repository")
    linked = ties.of(top)
    if linked is None:
        raise Conflict(NOT_NAMED, code="no_repository")
    try:
        _refuse_elsewhere(top)
        if tip(top, "HEAD") is None:
            raise Conflict(NO_COMMIT, code="no_commit")
    except GitError as error:
        raise Conflict(error.text, code="no_repository") from None
    below = "" if folder == top else str(folder.relative_to(top))
    return Repository(top, below, Path(linked.common))


def _refuse_elsewhere(top: Path) -> None:
    """Conflict if git says the repository is bare, or has its files elsewhere."""
    told = os.fsdecode(command.run(top, "rev-parse", "--is-bare-repository", "--show-cdup"))
    bare, _, place = told.removesuffix("\n").partition("\n")
    if bare == "true":
        raise Conflict(NO_WORK_TREE, code="no_repository")
    if place and not ties.same(top / place, top):
        raise Conflict(ELSEWHERE, code="no_repository")


def tip(at: At, revision: str) -> str | None:
    """The commit that a revision names, or None."""
    asked = ("rev-parse", "--verify", "-q", "--end-of-options", f"{revision}^{{commit}}")
    return confined.read(at, *asked, accepted=(0, 1, 128)).decode().strip() or None


def head_branch(at: At) -> str | None:
    """The branch that is checked out, None if HEAD is detached."""
    told = os.fsdecode(confined.read(at, "symbolic-ref", "-q", "HEAD", accepted=(0, 1))).strip()
    return told.removeprefix(HEADS) or None


def run(
    at: At,
    *args: str,
    writes: bool = False,
    folder: Path | None = None,
    kept: Collection[str] = confined.OURS,
    environ: Mapping[str, str] | None = None,
) -> bytes:
    """Run a git that writes, or reads files of a work tree (confined.run). Raises GitError."""
    tree = ties.at(at)
    given = _config_environ({**QUIET, **_overrides(tree)})
    given |= {"GIT_EDITOR": "true", "GIT_SEQUENCE_EDITOR": "true", **(environ or {})}
    return confined.run(tree, *args, writes=writes, folder=folder, kept=kept, environ=given)


def _config_environ(values: Mapping[str, str]) -> dict[str, str]:
    found = {"GIT_CONFIG_COUNT": str(len(values))}
    for n, (key, value) in enumerate(values.items()):
        found |= {f"GIT_CONFIG_KEY_{n}": key, f"GIT_CONFIG_VALUE_{n}": value}
    return found


def _overrides(at: At) -> dict[str, str]:
    """For each command in the repository's own configuration, the user's own value instead; without
    one, a filter that does nothing or a merge driver that reports a conflict."""
    trusted: dict[str, str] = {}
    found: dict[str, str] = {}
    for scope, key, value in _commands(at):
        if scope in TRUSTED:
            trusted[key] = value
        else:
            word = key.rpartition(".")[2]
            found[key] = "false" if word in ("driver", "required") else ""
    return {key: trusted.get(key, value) for key, value in found.items()}


def own_filters(at: At) -> set[str]:
    """Names of the filters in the repository's own configuration."""
    keys = (key for key in _overrides(at) if key.startswith("filter."))
    return {key.removeprefix("filter.").rpartition(".")[0] for key in keys}


def _commands(at: At) -> Iterator[tuple[str, str, str]]:
    asked = ("config", "-z", "--show-scope", "--get-regexp", COMMANDS)
    parts = os.fsdecode(confined.read(at, *asked, accepted=(0, 1))).split("\0")[:-1]
    for scope, line in zip(parts[::2], parts[1::2], strict=True):
        key, _, value = line.partition("\n")
        yield scope, key, value


def names(told: bytes) -> list[str]:
    """Split output of git in which each path ends with a NUL."""
    return [os.fsdecode(name) for name in told.split(b"\0") if name]


def worktrees(at: At) -> dict[str, Path]:
    """Where each branch is checked out, by short branch name."""
    found: dict[str, Path] = {}
    place = Path()
    told = os.fsdecode(confined.read(at, "worktree", "list", "--porcelain"))
    for line in told.splitlines():
        word, _, rest = line.partition(" ")
        if word == "worktree":
            place = Path(rest)
        elif word == "branch":
            found[rest.removeprefix(HEADS)] = place
    return found


def slug(text: str, most: int = 40) -> str:
    """The branch name derived from these words; "" if none of them can be used."""
    try:
        found = schema.derive_slug(text)
    except Invalid:
        return ""
    return found if len(found) <= most else found[:most].rpartition("-")[0] or found[:most]
