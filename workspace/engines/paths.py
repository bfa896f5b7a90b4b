"""Which paths the file tools of a turn may open: the rules of the project, apart from its gate.

Kept light, because the tools inside the sandbox apply these rules as well.
"""

from __future__ import annotations

import os

from config.process.light_typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from workspace.engines.base import Job

_ARMED = (".git", ".svc", ".claude")  # hooks and triggers live there


class Paths(NamedTuple):
    """Real paths: where the turn works, its scratch directory, the chats. `anywhere`: the turn is
    in bypassPermissions, so only what is never written is protected. `attachments`: where
    attachments are read if they are not below the first. `tie`: the file that names the repository,
    if the chat has its own worktree."""

    root: str
    scratch: str
    chats: str
    anywhere: bool = False
    attachments: str = ""
    tie: str = ""

    @classmethod
    def of(cls, job: Job) -> Paths:
        scratch = os.path.realpath(os.path.join(job.run_dir, "tmp"))
        anywhere = job.mode == "bypassPermissions"
        attachments = os.path.realpath(job.attachments_dir) if job.attachments_dir else ""
        chats = os.path.realpath(job.chats_dir)
        tie = os.path.join(job.linked.top, ".git") if job.linked else ""
        return cls(os.path.realpath(job.cwd), scratch, chats, anywhere, attachments, tie)

    @property
    def own(self) -> bool:
        """Whether the turn works in the project's own directory, beside its project.yaml."""
        return below(self.chats, self.root)

    def holds(self, real: str) -> bool:
        """Whether the turn's commands see the very same files at this path."""
        return below(real, self.root) or below(real, self.scratch) or self._is_attached(real)

    def _is_attached(self, real: str) -> bool:
        return bool(self.attachments) and below(real, self.attachments)

    def denial(self, given: str, real: str, *, write: bool) -> str | None:
        """Why this path may not be opened; None if it may."""
        if write and (below(real, self.chats) or ".chats" in real.casefold().split("/")):
            return f"protected path: {given}"
        if write and (self._is_attached(real) or self._names_its_place(real) or real == self.tie):
            return f"protected path: {given}"
        if self.anywhere:
            return None
        if not self.holds(real):
            return f"path is outside the project: {given}"
        if not below(real, self.root):
            return None
        parts = real[len(self.root) :].casefold().strip("/").split("/")
        if write and (parts == ["project.yaml"] or any(part in _ARMED for part in parts)):
            return f"protected path: {given}"
        return None

    def _names_its_place(self, real: str) -> bool:
        """Whether the path is the project's own project.yaml. It says in which directory turns
        work, so no turn may write it."""
        folder, name = os.path.split(real)
        return self.own and folder == self.root and name.casefold() == "project.yaml"


def below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
