"""A project that works in a repository of a person, and chats with worktrees of their own."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from tests.review.repos import Repo
from tests.workspace.chats.world import USER, World
from workspace.chats import actions, files, trash
from workspace.worktrees import bringing, making, place, standing
from workspace.worktrees.bringing import Brought
from workspace.worktrees.place import Tree
from workspace.worktrees.standing import Standing

FIRST = {"a.txt": "one\ntwo\nthree\n", "src/b.txt": "b\n", ".gitignore": "*.log\n"}


class Shop:
    """The project alpha at `repo`, on branch main with one commit."""

    def __init__(self, world: World, root: Path, below: str = "") -> None:
        self.world, self.root = world, root
        self.repo = Repo(root)
        self.repo.commit(FIRST, "First")
        self.at(root / below)

    def at(self, path: Path) -> None:
        self.world.write(f"name: Alpha\npermissionMode: bypassPermissions\npath: {path}\n")

    def chat(self, name: str = "Fix the till", **values: Any) -> Tree:
        """The worktree of a new chat."""
        return self.tree(self.world.chat(name=name, worktree=True, **values).chat.id)

    def tree(self, chat: str) -> Tree:
        found = place.of(files.read(self.world.project, chat))
        assert found is not None
        return found

    def work(self, tree: Tree, wanted: dict[str, str | None], said: str = "Work") -> str:
        """A commit in the worktree, as its agent would make it."""
        at = Repo(tree.top)
        at.commits = 100
        put(tree.top, wanted)
        at.git("add", "--all")
        at.git("commit", "-q", "-m", said)
        return at.git("rev-parse", "HEAD")

    def bring(self, tree: Tree, **values: Any) -> Brought:
        return bringing.bring(self.world.project, tree.chat, **values)

    def stands(self, tree: Tree) -> Standing:
        return standing.of(tree)

    def archive(self, tree: Tree, archived: bool = True) -> actions.Archived:
        return actions.archive(
            principal=USER, project=self.world.project, session_id=tree.chat, archived=archived
        )

    def delete(self, tree: Tree) -> trash.Deleted:
        return trash.delete(project=self.world.project, session_id=tree.chat)

    def again(self, tree: Tree) -> None:
        making.again(self.world.project, files.read(self.world.project, tree.chat))

    def branches(self) -> list[str]:
        told = self.repo.git("for-each-ref", "--format=%(refname:short)", "refs/heads/svc")
        return told.splitlines()

    def users(self) -> dict[str, bytes]:
        """All that is the user's, byte for byte: index, HEAD, branches but ours, configuration,
        and every file with its mode."""
        git, found = self.root / ".git", {}
        for path in sorted(self.root.rglob("*")):
            name = str(path.relative_to(self.root))
            ours = name.startswith((
                ".git/objects/", ".git/worktrees", ".git/refs/svc/", ".git/refs/heads/svc",
                ".git/logs/refs/heads/svc",
            ))  # fmt: skip
            if path.is_symlink():
                found[name] = os.fsencode(path.readlink())
            elif path.is_file() and not ours and path != git / "ORIG_HEAD":
                found[name] = b"%o " % path.lstat().st_mode + path.read_bytes()
        return found


def put(root: Path, wanted: dict[str, str | None]) -> None:
    for name, text in wanted.items():
        path = root / name
        if text is None:
            path.unlink(missing_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
