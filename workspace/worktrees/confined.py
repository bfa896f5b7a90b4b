"""Run git for the service where a turn may write: in the sandbox of a turn.

Whatever a turn left there for git to run or to follow can do no more than the turn itself: it has
no network, sees no home, and writes only what this git command has to. Without a sandbox it runs
unconfined, as commands of turns do. See docs/design/trust.md#git-of-the-service.
"""

from __future__ import annotations

import subprocess
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from config.git import command
from config.git.command import GitError
from workspace.engines import sandbox, select
from workspace.engines.base import EngineError, Linked
from workspace.worktrees import linked as commits
from workspace.worktrees import owned, ties
from workspace.worktrees.ties import At

TIMEOUT_S = 120.0
BORROWED = (
    "The repository borrows objects of one that turns do not see (objects/info/alternates): run "
    "git repack -a -d in it, and take that file away"
)
ALTERNATES = (b"alternate object path: ", b"check .git/objects/info/alternates")
SCRATCH = "/tmp"  # noqa: S108 - the sandbox's own
# Without a network, Git LFS leaves what it does not have as it is in the commit. When git looks at
# a file, LFS writes to its storage, which must not happen in a repository that is only read.
WITHOUT_NETWORK = {"TMPDIR": SCRATCH, "GIT_LFS_SKIP_DOWNLOAD_ERRORS": "1"}
LOOKING = ("-c", f"lfs.storage={SCRATCH}/lfs")
OURS = (".chats", "project.yaml", ".svc")  # what no turn writes in its project's directory
OBEYED = ("config", "config.worktree", "hooks", "info", "modules")  # by every git in the repository


def read(at: At, *args: str, stdin: bytes | None = None, accepted: Collection[int] = (0,)) -> bytes:
    """The output of a git command that reads only refs, objects or the index: it runs nothing and
    writes nothing, so it needs no sandbox. Raises GitError."""
    tree = ties.at(at)
    given = _leading(tree)
    return command.run(
        Path(tree.top), *args, stdin=stdin, timeout=TIMEOUT_S, environ=given, accepted=accepted
    )


def run(
    at: At,
    *args: str,
    writes: bool = False,
    folder: Path | None = None,
    kept: Collection[str] = OURS,
    environ: Mapping[str, str] | None = None,
) -> bytes:
    """The output of a git command that reads files of the work tree `at`, or writes. GitError if it
    fails, or if no turn could run either.

    `folder`: a further folder that it writes; `kept`: names at the top of the work tree that it
    must not write.
    """
    git = _Git(ties.at(at), args, writes, folder, kept)
    given = _leading(git.tree) | dict(environ or {})
    try:
        return _run(git, given)
    except _Moved:  # git has not started, so nothing is done twice
        return _run(git, given)


def behind(cwd: Path, needed: Sequence[Path], writable: Sequence[Path]) -> tuple[str, ...]:
    """The command prefix for a git that reads for a turn in `cwd` (config/git/walled.py). It runs
    nothing of the repository, so sockets need no cover. Raises GitError."""
    walls = _walls()
    shown = [*map(str, needed), *owned.needed_paths()]
    made = sandbox.wrap(
        [], walls, cwd=str(cwd), writable=[*map(str, writable)], needed=shown, covered=False
    )
    return tuple(made[:-3])  # without the directory and the end of the options


class _Moved(GitError):
    """The sandbox did not start, but may do so at the next attempt."""


def _leading(tree: Linked) -> dict[str, str]:
    """The variables that lead git to this work tree, whatever is configured."""
    return {"GIT_DIR": tree.own, "GIT_WORK_TREE": tree.top}


class _Git(NamedTuple):
    """One git command, and what it has to write."""

    tree: Linked
    args: Sequence[str]
    writes: bool
    folder: Path | None
    kept: Collection[str]

    @property
    def argv(self) -> list[str]:
        return [*command.ARGV, *self.args]

    def inside(self, walls: sandbox.Sandbox) -> list[str]:
        """The command with the prefix of the sandbox."""
        tree, writes = self.tree, self.writes
        return sandbox.wrap(
            [*command.ARGV, *(() if writes else LOOKING), *self.args],
            walls,
            cwd=tree.top,
            writable=self._writable() if writes else [],
            read_only=self._read_only() if writes else [],
            needed=[tree.common, tree.top, *owned.needed_paths()],
            plan=not writes,
        )

    def _writable(self) -> list[str]:
        """The writable paths outside the work tree. What lies in it is writable anyway; listed by
        itself it could be a link, put there by a turn, whose target would then be shown."""
        tree = self.tree
        inside = tree.common.startswith(f"{tree.top}/")
        return [*([] if inside else [tree.common]), *map(str, filter(None, [self.folder]))]

    def _read_only(self) -> list[str]:
        tree, kept = self.tree, [Path(self.tree.common, name) for name in OBEYED]
        tied = commits.read_only(tree) if tree.own != tree.common else []
        kept += [*map(Path, tied), *(Path(tree.top, name) for name in self.kept)]
        return [str(path) for path in kept if not path.is_symlink()]


def _run(git: _Git, environ: Mapping[str, str]) -> bytes:
    process = _start(git, environ)
    try:
        output, errors = process.communicate(timeout=TIMEOUT_S)
    except BaseException as error:
        command.end(process)
        if isinstance(error, subprocess.TimeoutExpired):
            raise command.too_slow(git.args, TIMEOUT_S, Path(git.tree.top)) from None
        raise
    if process.returncode == 1 and errors.startswith(b"bwrap: "):
        line = errors.decode(errors="replace").splitlines()[0]
        kind = _Moved if sandbox.says_moved(line) else GitError
        raise kind("failed", f"The sandbox failed: {line.removeprefix('bwrap: ')[:300]}")
    if process.returncode and any(sign in errors for sign in ALTERNATES):
        raise GitError("failed", BORROWED)
    if process.returncode:
        raise command.failure(Path(git.tree.top), git.args, process.returncode, errors)
    return output


def _walls() -> sandbox.Sandbox:
    found = select.confinement()
    if found.mode == "unavailable":
        raise GitError("failed", f"The sandbox is unavailable: {found.reason}")
    return found


def _start(git: _Git, environ: Mapping[str, str]) -> command.Process:
    walls, top = _walls(), Path(git.tree.top)
    inside = walls.mode == "bwrap"
    given = {**command.environment(top), **environ}
    if inside:
        given |= WITHOUT_NETWORK
    try:
        return command.Process(
            git.inside(walls) if inside else git.argv,
            cwd="/" if inside else top,
            env=given,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            process_group=0,
        )
    except EngineError as error:
        raise GitError("failed", error.text) from None
    except (ValueError, OSError) as error:  # a NUL or a lone surrogate; no process available
        raise GitError("failed", f"git could not be started: {error}") from None
