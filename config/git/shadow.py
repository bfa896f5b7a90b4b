"""A repository of ours beside the user's: our index and rules, their work tree and objects.

git reads the work tree through it, so nothing that the user's repository names is run or even seen:
no filter, hook, attribute or monitor. Bytes are stored unchanged. The user's index, HEAD, stash,
reflog and configuration are never written. See docs/design/workspace.md#checkpoints.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from config.git import command, entries, owning, walled
from config.git.command import GitError
from config.storage import opening
from config.storage.drafts import PREFIX

CONFIG = {
    False: "[core]\n\trepositoryformatversion = 0\n\tbare = false\n",
    True: "[core]\n\trepositoryformatversion = 1\n\tbare = false\n"
    "[extensions]\n\tobjectformat = sha256\n",
}
ATTRIBUTES = {
    False: "* -text -crlf -eol -ident -filter -working-tree-encoding\n",
    True: "* -filter\n",
}
KEPT, VIEWED = r"^core\.excludesfile$", r"^core\.(excludesfile|autocrlf|eol|filemode|symlinks)$"
QUESTIONS = ("--absolute-git-dir", "--git-common-dir", "--show-object-format")
EMAIL = "svc@localhost"
WHO = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "svc"), ("EMAIL", EMAIL))
}
RULES = 1 << 20  # bytes of a file of ignore rules


@dataclass(frozen=True, slots=True)
class Shadow:
    """Our repository for one work tree, and where the user's own parts are."""

    root: Path
    dir: Path
    git_dir: Path
    common_dir: Path
    sha256: bool
    settings: tuple[tuple[str, str], ...]  # the user's settings that matter here
    view: bool = False  # nothing is written into the user's repository, not even an object

    @property
    def excludes(self) -> str:
        """The user's configured file of ignore rules; "" for git's default."""
        return dict(self.settings).get("core.excludesfile", "")

    @property
    def index(self) -> Path:
        return self.dir / "index"

    def run(
        self,
        *args: str,
        stdin: bytes | None = None,
        timeout: float = command.TIMEOUT_S,
        accepted: Collection[int] = (0,),
        literal: bool = True,
        more: Mapping[str, str] | None = None,
    ) -> bytes:
        """Run a git command that reads the work tree through our index and writes at most objects.
        `more` overrides parts of its environment."""
        environ = WHO | {
            "GIT_DIR": str(self.dir),
            "GIT_WORK_TREE": str(self.root),
            "GIT_OBJECT_DIRECTORY": str((self.dir if self.view else self.common_dir) / "objects"),
            "GIT_INDEX_FILE": str(self.index),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        if self.view:
            environ |= {"GIT_AUTHOR_DATE": "@0 +0000", "GIT_COMMITTER_DATE": "@0 +0000"}
        if not literal:
            environ["GIT_LITERAL_PATHSPECS"] = "0"
        environ["GIT_CONFIG_COUNT"] = str(len(self.settings))
        for n, (key, value) in enumerate(self.settings):
            environ |= {f"GIT_CONFIG_KEY_{n}": key, f"GIT_CONFIG_VALUE_{n}": value}
        environ |= dict(more or {})
        return command.run(
            self.root, *args, stdin=stdin, timeout=timeout, environ=environ, accepted=accepted,
            shows=(self.dir,),
        )  # fmt: skip

    def blob(self, oid: str) -> bytes:
        """The bytes of an object. Raises GitError also if they do not match its id: git does not
        check, and a turn may write objects."""
        data = self.run("cat-file", "blob", oid)
        if entries.oid(data, sha256=self.sha256) != oid:
            raise GitError("failed", f"the object {oid} is damaged")
        return data

    def filter_ignored(self, paths: Collection[str]) -> set[str]:
        """Those of the paths that git ignores by the current rules, tracked or not. None is beyond
        a link, where git sees nothing."""
        self.rules()
        folders = {folder for path in paths for folder in Path(path).parents}
        links = {folder for folder in folders if (self.root / folder).is_symlink()}
        seen = [path for path in paths if links.isdisjoint(Path(path).parents)]
        # check-ignore refuses literal pathspecs; after "./" no pathspec magic applies
        told = b"".join(b"./" + os.fsencode(path) + b"\0" for path in seen)
        asked = ("check-ignore", "-z", "--no-index", "--stdin")
        found = self.run(*asked, stdin=told, accepted=(0, 1), literal=False).split(b"\0")
        return {os.fsdecode(path.removeprefix(b"./")) for path in found[:-1]}

    def theirs(
        self,
        *args: str,
        stdin: bytes | None = None,
        timeout: float = command.TIMEOUT_S,
        more: Mapping[str, str] | None = None,
    ) -> bytes:
        """Run a git command on the user's repository that writes at most our refs."""
        environ = self.environ | dict(more or {})
        quiet = ("-c", "core.logAllRefUpdates=false")
        return command.run(self.root, *quiet, *args, stdin=stdin, timeout=timeout, environ=environ)

    @property
    def environ(self) -> dict[str, str]:
        """The variables that point git to the user's repository."""
        return {"GIT_DIR": str(self.git_dir), "GIT_WORK_TREE": str(self.root)}

    def refuse_detours(self) -> None:
        """Raise GitError if a write would land in a repository that is not this directory's own: an
        agent may write `.git` like any other file."""
        ours = (self.common_dir / name for name in ("refs/svc", "refs/svc/checkpoints"))
        linked = next((path for path in ours if path.is_symlink()), None)
        if linked is not None:
            raise GitError("failed", f"{linked} is a link")
        found = (os.path.realpath(self.git_dir), os.path.realpath(self.common_dir))
        if tuple(map(str, owning.of(self.root))) != found:
            raise GitError("failed", owning.STRANGE)

    def rules(self) -> str:
        """Copy the ignore rules that are outside of the work tree; return a hash of them."""
        own = _contents(self.common_dir / "info/exclude", walled.contents)
        users = _contents(Path(self.excludes)) if self.excludes else _usual()
        text = own + (b"" if own.endswith(b"\n") or not own else b"\n") + f"{PREFIX}*\n".encode()
        if _contents(self.dir / "info/exclude") != text:
            _write(self.dir / "info/exclude", text)
        return hashlib.sha256(own + b"\0" + users).hexdigest()[:16]

    def forget(self) -> None:
        """Start over with an empty index."""
        for name in ("index", "index.lock", "seen.json"):
            (self.dir / name).unlink(missing_ok=True)


def lock_of(root: Path) -> str:
    """The name of the lock for checkpoints and undos of one work tree."""
    return f"tree:{root}"


def home() -> Path:
    return Path(settings.DATA_DIR) / "checkpoints"


def open_at(root: Path, *, view: bool = False) -> Shadow | None:
    """The shadow of a work tree with the top `root`; None if `root` is not one. Raises GitError.

    A `view` keeps its objects to itself and lets git convert line ends, so that it can be compared
    with commits.
    """
    if not os.path.lexists(root / ".git"):
        return None
    root = Path(os.path.realpath(root))
    told = os.fsdecode(command.run(root, "rev-parse", "--path-format=absolute", *QUESTIONS))
    answers = told.removesuffix("\n").split("\n")
    if len(answers) != len(QUESTIONS):
        raise GitError("failed", "the path of the repository holds a line feed")
    git_dir, common_dir, form = answers
    name = hashlib.sha256(os.fsencode(root)).hexdigest()[:24]
    folder = Path(settings.DATA_DIR) / "cache/views" / name if view else home() / "trees" / name
    taken = _settings(root, VIEWED if view else KEPT)
    shadow = Shadow(root, folder, Path(git_dir), Path(common_dir), form == "sha256", taken, view)
    if not view:
        shadow.refuse_detours()
    _furnish(shadow)
    return shadow


def _settings(root: Path, names: str) -> tuple[tuple[str, str], ...]:
    """The user's settings that decide which files there are, or how their lines are stored."""
    asked = ("config", "-z", "--type=path", "--get-regexp", names)
    told = os.fsdecode(command.run(root, *asked, accepted=(0, 1))).split("\0")[:-1]
    found = dict(line.split("\n", 1) for line in told if "\n" in line)
    if "core.excludesfile" in found:
        found["core.excludesfile"] = str(root / found["core.excludesfile"])
    return tuple(sorted(found.items()))


def _furnish(shadow: Shadow) -> None:
    """Create what git expects of a repository, also again if it was removed."""
    folder = shadow.dir
    if (folder / "HEAD").exists() and _contents(folder / "root") == os.fsencode(shadow.root):
        return
    for name in ("objects/info", "refs", "info"):
        (folder / name).mkdir(mode=0o700, parents=True, exist_ok=True)
    if shadow.view:
        borrowed = os.fsencode(shadow.common_dir / "objects") + b"\n"
        _write(folder / "objects/info/alternates", borrowed)
    _write(folder / "config", CONFIG[shadow.sha256].encode())
    _write(folder / "info/attributes", ATTRIBUTES[shadow.view].encode())
    _write(folder / "root", os.fsencode(shadow.root))
    _write(folder / "HEAD", b"ref: refs/heads/none\n")


def _write(path: Path, data: bytes) -> None:
    """Replace the file in one step: others furnish or read the same repository."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    draft.write_bytes(data)
    draft.replace(path)


def _contents(path: Path, read: Callable[..., bytes] = opening.contents) -> bytes:
    try:
        return read(path, limit=RULES)
    except OSError:
        return b""


def _usual() -> bytes:
    """The rules that git reads if none are configured."""
    base = os.environ.get("XDG_CONFIG_HOME") or Path("~/.config").expanduser()
    return _contents(Path(base) / "git/ignore")
