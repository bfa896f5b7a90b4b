"""Which paths the file tools of a turn may open: the rule of the project, apart from its gate.

Light, because the tools judge by it inside the sandbox as well.
"""

from __future__ import annotations

import os

from workspace.engines.light_typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from workspace.engines.base import Job

_ARMED = (".git", ".svc", ".claude")  # hooks and triggers live there


class Paths(NamedTuple):
    """Real paths: of the project, of the turn's scratch directory, of the chats. `anywhere`: the
    turn is in bypassPermissions, only what is never written is kept."""

    root: str
    scratch: str
    chats: str
    anywhere: bool = False

    @classmethod
    def of(cls, job: Job) -> Paths:
        scratch = os.path.realpath(os.path.join(job.run_dir, "tmp"))
        anywhere = job.mode == "bypassPermissions"
        return cls(os.path.realpath(job.cwd), scratch, os.path.realpath(job.chats_dir), anywhere)

    def holds(self, real: str) -> bool:
        """Whether a path lies where the turn's commands see the very same files."""
        return below(real, self.root) or below(real, self.scratch)

    def denial(self, given: str, real: str, *, write: bool) -> str | None:
        """Why this path may not be opened, None when it may."""
        if write and (below(real, self.chats) or ".chats" in real.casefold().split("/")):
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


def below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
