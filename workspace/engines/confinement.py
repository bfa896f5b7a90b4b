"""The sandboxes of one turn, for its tools or for its engine's program, with a network each.

Which tool acts inside, and why: docs/design/trust.md#file-tools-act-behind-it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress

from config.process.light_typing import TYPE_CHECKING, Any
from workspace.engines import catalogue, obeyed, sandbox
from workspace.engines.base import Args, EngineError, Job
from workspace.engines.paths import Paths
from workspace.engines.proxy import gateway
from workspace.worktrees import linked

if TYPE_CHECKING:
    from workspace.engines.runner import Runner

HOSTS = 200  # the most hosts that are kept with a turn


class Confinement:
    """What a turn may see and reach, as the prefix of its commands."""

    def __init__(self, job: Job) -> None:
        self.job, self.paths = job, Paths.of(job)
        self.reached: dict[tuple[str, int, bool], None] = {}
        self._runner: Runner | None = None
        self._doors = 0

    @property
    def hosts(self) -> list[dict[str, Any]]:
        """The hosts and ports that the turn reached or was refused, each once."""
        names = ("host", "port", "refused")
        return [dict(zip(names, row, strict=True)) for row in list(self.reached)[:HOSTS]]

    def prepare(self) -> None:
        """Start the sandbox of the tools before its first call; that call reports a failure."""
        try:
            self.runner("Bash", {})
        except EngineError:
            return

    def runner(self, tool: str, args: Args) -> Runner | None:
        """Where this call acts: inside the sandbox, which is started when it is first needed, or
        here (None). Files of the project are the same on both sides and are protected by the rules
        of Paths; starting a sandbox for them would double the price of a short turn."""
        if self.job.sandbox.mode != "bwrap" or (tool != "Bash" and self._at_home(tool, args)):
            return None
        if self._runner is not None and self._runner.lost:
            self.close()
        if self._runner is None:
            from workspace.engines.runner import Runner

            argv = self._confine([], [], sandbox.OURS, (), tools=True)
            self._runner = Runner(argv, self.paths.root, self.paths, self.job.sandbox)
        return self._runner

    def _at_home(self, tool: str, args: Args) -> bool:
        try:
            path = os.path.join(self.paths.root, catalogue.path(tool, args) or "")
            return self.paths.holds(os.path.realpath(path))
        except ValueError:  # not a path: the tool reports it
            return True

    def denial(self, path: str, *, write: bool) -> str | None:
        """Why a tool that acts here may not open this path, as the kernel names it; else None."""
        if self.job.sandbox.mode == "bwrap" and not self.paths.holds(path):
            return f"path is outside the project: {path}"
        return self.paths.denial(path, path, write=write)

    def close(self) -> None:
        """End the sandbox of the tools."""
        if self._runner is not None:
            self._runner.close()
            self._runner = None
        obeyed.take_away(self.job.run_dir)

    def wrap(
        self,
        argv: list[str],
        writable: Sequence[str],
        needed: Sequence[str],
        endpoints: Sequence[tuple[str, int]],
    ) -> list[str]:
        """The command in a sandbox of its own; unchanged if there is no sandbox."""
        if self.job.sandbox.mode != "bwrap":
            return argv
        return self._confine(argv, writable, (*sandbox.OURS, *needed), endpoints)

    def _confine(
        self,
        argv: list[str],
        writable: Sequence[str],
        needed: Sequence[str],
        endpoints: Sequence[tuple[str, int]],
        *,
        tools: bool = False,
    ) -> list[str]:
        job, cwd = self.job, self.paths.root
        if self.paths.attachments:
            needed = (*needed, self.paths.attachments)
        tree = job.linked
        if tree:
            needed = (*needed, tree.common, tree.top)
            writable = (*writable, *(linked.writable(tree) if job.mode != "plan" else ()))
        kept = self._obeyed()
        needs = gateway.Needs(tuple(endpoints))
        door = self._door(needs)
        addresses = needs.addresses(job.network) if door else []
        if door or tools:
            argv = sandbox.inside(argv, addresses, door)
        return sandbox.wrap(
            argv,
            job.sandbox,
            cwd=cwd,
            writable=[os.environ["HOME"], os.environ["TMPDIR"], *kept.pinned, *writable],
            read_only=[
                *(os.path.join(cwd, name) for name in self._read_only()),
                *kept.covered,
                *(linked.read_only(tree) if tree else ()),
            ],
            needed=needed,
            network=job.network.mode == "host",
            door=door,
            plan=job.mode == "plan",
        )

    def _door(self, needs: gateway.Needs) -> str:
        """The unix socket of a sandbox that may reach something; "" if it may reach nothing."""
        network = self.job.network
        if network.mode == "host" or (network.mode == "off" and not needs.endpoints):
            return ""
        self._doors += 1
        door = gateway.Door(self.job.run_dir, f"door-{self._doors}")
        door.open(network, needs, self.job.svc, self.count)
        return door.path

    def count(self, host: str, port: int, refused: bool) -> None:
        """Record a host with the turn, once."""
        if len(self.reached) < HOSTS:
            self.reached[host, port, refused] = None

    def _obeyed(self) -> obeyed.Obeyed:
        """What the directory user's git obeys; in plan mode everything is read-only anyway."""
        if self.job.mode == "plan":
            return obeyed.Obeyed()
        if self.paths.anywhere:
            return obeyed.elsewhere(self.paths.root)
        found = obeyed.of(self.paths.root)
        obeyed.note(found.detours, self.job.run_dir)
        return found

    def _read_only(self) -> list[str]:
        """What cannot be written from inside. `.svc` is made if it is missing, because only what
        exists can be covered; that is needed only in the project's own directory, which has the
        chats. There project.yaml is covered in every mode, because it names the directory of the
        next turn."""
        if self.paths.anywhere:
            return [".chats", "project.yaml"] if self.paths.own else [".chats"]
        armed = os.path.join(self.paths.root, ".svc")
        if self.paths.own and not os.path.lexists(armed):
            with suppress(OSError):  # what we cannot make, a command inside cannot either
                os.mkdir(armed, 0o700)
        return [".chats", "project.yaml", ".svc"]
