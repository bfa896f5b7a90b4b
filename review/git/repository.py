"""One local repository: where its parts are, and git commands that read only its objects.

Objects are read through an empty repository of ours that borrows them, so that git never sees the
configuration, attributes, hooks, remotes and grafts of the reviewed repository.
Why: docs/design/review.md#reading-git.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat as modes
import subprocess
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

from config.git import command, walled
from config.git.command import TIMEOUT_S, GitError
from config.storage import opening
from review import caches

EMPTY_CONFIG = {
    False: "[core]\n\trepositoryformatversion = 0\n\tbare = true\n",
    True: "[core]\n\trepositoryformatversion = 1\n\tbare = true\n"
    "[extensions]\n\tobjectformat = sha256\n",
}
EMPTY_TREE = {
    False: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    True: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
FIRST_READ = ("HEAD", "config", "config.worktree", "commondir", "shallow", "packed-refs")
LARGEST, LONGEST = 1 << 20, 8192  # bytes of a configuration, and of a one-line file
QUESTIONS = (
    "--absolute-git-dir", "--git-common-dir", "--is-shallow-repository", "--show-object-format",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Repository:
    """A work tree or a bare repository. `git_dir` is a linked worktree's own, if it is one. With
    `ours`, it is a repository of the service with the objects of looks at a work tree. `shallow`
    identifies the edge of a shallow clone, "" for a full one: results for one depth do not hold for
    another."""

    path: Path
    git_dir: Path
    common_dir: Path
    sha256: bool
    shallow: str
    partial: bool
    ours: bool = False

    @property
    def empty_tree(self) -> str:
        """The id of the empty tree, against which root commits are diffed."""
        return EMPTY_TREE[self.sha256]

    def key(self, oid: str) -> str:
        """The key of an object in tables that all repositories share. It includes the repository,
        since git does not verify contents: another one may have other contents under the same id.
        """
        return hashlib.sha256(os.fsencode(f"{self.common_dir}\0{oid}")).hexdigest()

    @property
    def environ(self) -> dict[str, str]:
        """The environment that makes git read this repository's objects and nothing else of it."""
        return {
            "GIT_DIR": str(_empty_repository(self.sha256)),
            "GIT_OBJECT_DIRECTORY": str(self.common_dir / "objects"),
            "GIT_SHALLOW_FILE": str(self.common_dir / "shallow") if self.shallow else "",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
        }

    @property
    def shows(self) -> tuple[Path, ...]:
        """The folders of the service that git needs besides the repository."""
        return (_empty_repository(self.sha256), *([self.common_dir] if self.ours else []))

    def run(
        self,
        *args: str,
        stdin: bytes | None = None,
        timeout: float = TIMEOUT_S,
        accepted: Collection[int] = (0,),
    ) -> bytes:
        """The output of a git command that needs only objects. GitError as from command.run."""
        return command.run(
            self.common_dir, *args, stdin=stdin, timeout=timeout, environ=self.environ,
            accepted=accepted, shows=self.shows,
        )  # fmt: skip

    def spawn(
        self, *args: str, stdin: int = subprocess.DEVNULL, stderr: int = subprocess.DEVNULL
    ) -> subprocess.Popen[bytes]:
        """Start such a command; the caller ends it with `command.end`."""
        return command.spawn(
            self.common_dir, args, stdin=stdin, stderr=stderr, environ=self.environ,
            shows=self.shows,
        )  # fmt: skip

    def pipe(
        self,
        source: Sequence[str],
        sink: Sequence[str],
        *,
        stdin: bytes,
        timeout: float = TIMEOUT_S,
    ) -> bytes:
        """The output of the second of two such commands, which reads the first one's output."""
        return command.pipe(
            self.common_dir, source, sink, stdin=stdin, timeout=timeout, environ=self.environ,
            shows=self.shows,
        )  # fmt: skip


_opened: caches.Memory[Path, tuple[tuple[str, ...], Repository]] = caches.Memory(512)


def open_repository(path: Path) -> Repository:
    """The repository at `path`: a work tree's top, a linked worktree or a bare repository.

    GitError missing, not_git or unreadable. Runs no process while its files are unchanged.
    """
    known = _opened.get(path)
    if known is not None and known[0] == _stamp(known[1]):
        return known[1]
    repository = _plain(path)
    if repository is None:
        refuse_odd(_first_read(path))
        repository = _ask(path)
    _opened.put(path, (_stamp(repository), repository))
    return repository


def as_json(repository: Repository) -> list[Any]:
    """What another process needs to open the repository without asking git, as JSON values."""
    parts = [str(repository.path), str(repository.git_dir), str(repository.common_dir)]
    flags = [repository.sha256, repository.shallow, repository.partial]
    return [parts, flags, list(_stamp(repository))]


def recall(said: list[Any]) -> None:
    """Take over what `as_json` returned; it is used while its stamp is unchanged."""
    parts, flags, stamp = said
    path, git_dir, common_dir = map(Path, parts)
    if _opened.get(path) is None:
        _opened.put(path, (tuple(stamp), Repository(path, git_dir, common_dir, *flags)))


def _plain(path: Path) -> Repository | None:
    """A work tree of this user as `git init` or `git clone` makes it, recognised by its files.

    None for anything else, which git has to judge: a link, an extension, another user's.
    """
    git_dir = path / ".git"
    try:
        owners = {path.lstat().st_uid, git_dir.lstat().st_uid}
        usual = modes.S_ISDIR(git_dir.lstat().st_mode) and (git_dir / "HEAD").stat().st_size
        config = opening.contents(git_dir / "config", limit=LARGEST, within=git_dir).lower()
        parts = [modes.S_ISDIR((git_dir / name).stat().st_mode) for name in ("objects", "refs")]
    except (OSError, ValueError):
        return None
    odd = any(word in config for word in (b"extensions", b"include", b"bare = true"))
    if not usual or odd or not all(parts) or owners != {os.geteuid()}:
        return None
    if (git_dir / "commondir").exists() or (git_dir / "shallow").exists():
        return None
    real = Path(os.path.realpath(git_dir))
    partial = _is_partial(git_dir)
    return Repository(path, real, real, sha256=False, shallow="", partial=partial)


def refuse_odd(files: Iterable[Path | str]) -> None:
    """GitError if git would block on a FIFO, or read a device without end."""
    for file in files:
        try:
            found = os.stat(file)  # noqa: PTH116 - all refs are looked at
        except (OSError, ValueError):
            continue
        if not (modes.S_ISREG(found.st_mode) or modes.S_ISDIR(found.st_mode)):
            raise GitError("unreadable", f"Cannot read {file}: it is not a regular file")


def _first_read(path: Path) -> Iterator[Path]:
    """The files that git reads to recognise a repository, also for a linked worktree."""
    dot_git = path / ".git"
    base = dot_git if os.path.lexists(dot_git) else path
    yield base
    with contextlib.suppress(OSError, ValueError):
        told = os.fsdecode(walled.contents(dot_git, limit=LONGEST)).strip()
        base = path / told.removeprefix("gitdir: ")
    yield from (base / name for name in FIRST_READ)


def _ask(path: Path) -> Repository:
    try:
        if not modes.S_ISDIR(path.stat().st_mode):
            raise GitError("not_git", f"Not a git repository: {path}")
    except PermissionError:
        raise GitError("unreadable", f"Cannot read {path}: permission denied") from None
    except (OSError, ValueError):
        raise GitError("missing", f"No such directory: {path}") from None
    answers = _rev_parse(path, *QUESTIONS).split("\n")
    if len(answers) != len(QUESTIONS):  # a line feed in the path
        answers = [_rev_parse(path, question) for question in QUESTIONS]
    git_dir, common_dir, shallow, object_format = answers
    return Repository(
        path=path,
        git_dir=Path(git_dir),
        common_dir=Path(common_dir),
        sha256=object_format == "sha256",
        shallow=_content(f"{common_dir}/shallow") if shallow == "true" else "",
        partial=_is_partial(Path(common_dir)),
    )


def _is_partial(common_dir: Path) -> bool:
    """Whether it is a partial clone: some of its objects are only promised."""
    return any((common_dir / "objects" / "pack").glob("*.promisor"))


def _rev_parse(path: Path, *questions: str) -> str:
    told = command.run(path, "rev-parse", "--path-format=absolute", *questions)
    return os.fsdecode(told).removesuffix("\n")


def _stamp(repository: Repository) -> tuple[str, ...]:
    """A value that changes with a move, a replacement, a new configuration, `fetch --unshallow`."""
    path, git_dir, common = map(
        os.fspath, (repository.path, repository.git_dir, repository.common_dir)
    )
    dot_git = f"{path}/.git"
    return (
        _inode(path),
        _inode(dot_git),
        _content(dot_git) if dot_git != git_dir else "",
        _inode(git_dir),
        _content(f"{common}/config"),
        _content(f"{common}/shallow"),
    )


def _inode(path: str) -> str:
    """The identity of a file. A directory's mtime changes with every index lock, its inode does
    not."""
    try:
        found = os.stat(path)  # noqa: PTH116 - looked at before every answer
    except OSError:
        return ""
    return f"{found.st_dev}:{found.st_ino}"


def _content(path: str) -> str:
    try:
        found = os.stat(path)  # noqa: PTH116
    except OSError:
        return ""
    return f"{found.st_mtime_ns}:{found.st_size}:{found.st_ino}"


def _empty_repository(sha256: bool) -> Path:
    """The folder, made again if the cache was cleared. Git only looks for these four entries."""
    folder: Path = settings.DATA_DIR / "cache" / ("git-sha256" if sha256 else "git-sha1")
    if not (folder / "HEAD").exists():
        for name in ("objects", "refs"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        _put(folder / "config", EMPTY_CONFIG[sha256])
        _put(folder / "HEAD", "ref: refs/heads/none\n")
    return folder


def _put(path: Path, text: str) -> None:
    """Write the file whole or not at all: another process may be writing it too."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    draft.write_text(text)
    draft.replace(path)
