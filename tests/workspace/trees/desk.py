"""A work tree with agents and a person at it: turns without their processes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from config.storage import displaced
from tests.review.repos import Repo
from workspace import ids
from workspace.engines.base import Job, ToolUse
from workspace.models import Turn
from workspace.projects.project import Project
from workspace.trees import changes, checkpoints, records, undo
from workspace.trees.records import Record
from workspace.trees.touched import Touched
from workspace.trees.undo import Done


class At:
    """One turn at work: what it does by commands, and what by its file tools."""

    def __init__(self, desk: Desk, *, chat: str = "", **fields: Any) -> None:
        self.desk = desk
        self.row = Turn(id=ids.turn_id(), project="alpha", chat=chat or ids.session_id())
        values: dict[str, Any] = {"engine": "runbook", "mode": "bypassPermissions"} | fields
        job = Job(
            turn=self.row.id, chat=self.row.chat, project="alpha", cwd=str(desk.root),
            chats_dir="", run_dir="", worker_pid=0, prompt="", message="", sender={}, **values,
        )  # fmt: skip
        self.job = checkpoints.begin(self.row, job)
        self.touched = Touched(self.job.keep) if self.job.keep else None
        self.calls = 0

    def runs(self, act: Callable[[Path], object]) -> At:
        """A command, of which nothing is known but that it ran."""
        self._note("Bash", {"command": "x"}, lambda: act(self.desk.root))
        return self

    def writes(self, path: str, text: str) -> At:
        args = {"file_path": path, "content": text}
        self._note("Write", args, lambda: self.desk.put(path, text))
        return self

    def _note(self, tool: str, args: dict[str, str], act: Callable[[], object]) -> None:
        self.calls += 1
        if self.touched:
            self.touched.before(ToolUse(tool, f"c{self.calls}", args))
        act()
        if self.touched:
            self.touched.after(f"c{self.calls}")

    def ends(self) -> At:
        checkpoints.end(self.row, self.job)
        return self

    @property
    def record(self) -> Record | None:
        return records.find(self.row.chat, self.row.id)

    @property
    def notices(self) -> list[str]:
        return [text for _, _, text in self.job.notices]

    def changes(self) -> dict[str, str]:
        """Path -> kind, with the reason of those that are not its own."""
        assert self.record is not None
        found = changes.of(self.record, checkpoints.others(self.record))
        return {one.path: f"{one.kind}: {one.why}" if one.why else one.kind for one in found}

    def undo(self) -> Done:
        return self._settled(
            undo.restore_files(self.desk.project, self.row.chat, self.row.id, "undo")
        )

    def redo(self) -> Done:
        return self._settled(
            undo.restore_files(self.desk.project, self.row.chat, self.row.id, "redo")
        )

    def _settled(self, done: Done) -> Done:
        displaced.settle()
        return done


class Desk:
    """A directory in which turns and a person work; with git unless told otherwise."""

    def __init__(self, root: Path, *, git: bool = True) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)
        self.project = Project("alpha", root)
        if git:
            self.repo = Repo(root)
            self.repo.commit({"a.txt": "one\n", "src/b.txt": "two\n", ".gitignore": "*.log\n"}, "x")

    def at_work(self, **fields: Any) -> At:
        return At(self, **fields)

    def put(self, path: str, text: str | bytes) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.is_symlink():
            target.unlink()
        target.write_bytes(text.encode() if isinstance(text, str) else text)

    def read(self, path: str) -> str | None:
        target = self.root / path
        return target.read_text() if target.exists() else None

    def remove(self, path: str) -> None:
        target = self.root / path
        with suppress(FileNotFoundError):
            shutil.rmtree(target) if target.is_dir() else target.unlink()

    def state(self) -> dict[str, tuple[int, bytes]]:
        """Every file and link of the work tree: mode and bytes."""
        found = {}
        for folder, below, names in os.walk(self.root):
            below[:] = [name for name in below if name != ".git"]
            links = [name for name in below if (Path(folder) / name).is_symlink()]
            for path in (Path(folder) / name for name in names + links):
                data = os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
                found[str(path.relative_to(self.root))] = (path.lstat().st_mode, data)
        return found

    def users(self) -> dict[str, bytes]:
        """What is the user's in .git: index, HEAD, refs but ours, reflogs, configuration, stash."""
        git = self.root / ".git"
        found = {}
        for path in sorted(git.rglob("*")):
            name = str(path.relative_to(git))
            if path.is_file() and not name.startswith(("objects/", "refs/svc/")):
                found[name] = path.read_bytes()
        return found

    def refs(self) -> list[str]:
        return self.repo.git("for-each-ref", "--format=%(refname)", "refs/svc").splitlines()
