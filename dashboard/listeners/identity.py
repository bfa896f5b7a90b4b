"""The identity of a listener: process, directory, repository, package, framework, title.

Everything comes from /proc and from small files; nothing is run and nothing is waited for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import Literal, NamedTuple

from dashboard.listeners import framework, git, package, processes
from dashboard.listeners.container import ENGINES, PROXIES, Container, Engines
from dashboard.listeners.framework import Framework
from dashboard.listeners.git import Git
from dashboard.listeners.package import Package
from dashboard.listeners.processes import Process

Protocol = Literal["http", "https", "tcp", "unknown"]

# Commands that people type to start a server which then is another process.
WRAPPERS = {
    "npm", "npx", "pnpm", "yarn", "bun", "deno", "make", "just", "task", "uv", "uvx", "poetry",
    "pdm", "pipenv", "hatch", "cargo", "go", "air", "foreman", "overmind", "honcho", "bundle",
    "rake", "composer", "mix", "nodemon", "watchexec", "entr", "dotnet", "gradle", "mvn", "turbo",
    "nx", "lerna", "concurrently", "npm-run-all", "run-p", "run-s", "tsx", "ts-node-dev",
}  # fmt: skip
SHELLS = {"sh", "bash", "zsh", "dash", "fish", "ksh"}


@dataclass(frozen=True, slots=True)
class Answer:
    """A listener's answer to one request: `headers` have lower-case names, `markup` is text."""

    protocol: Protocol
    title: str | None = None
    favicon: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    markup: str = ""


class Start(NamedTuple):
    """The arguments that start a server again, () if they are not known; its directory; and the
    process started with them, whose environment they need."""

    argv: tuple[str, ...]
    cwd: str
    pid: int | None


@dataclass(frozen=True, slots=True)
class Identity:
    """The record Identity; `cwd` is "" if unknown, `partial` if something could not be read."""

    process: Process
    cwd: str
    git: Git | None = None
    package: Package | None = None
    framework: Framework | None = None
    title: str | None = None
    favicon: str | None = None
    container: Container | None = None
    partial: bool = False

    @property
    def start(self) -> Start:
        """What starts it again, as a person typed it: the topmost wrapper, else the process
        itself.

        On the way up, shells that run a script and further processes of the same program, as
        Node.js has them, are passed. The arguments of a process that has overwritten them with a
        title are not used, but those of the process above. They are empty if no process has any.
        """
        process = self.process
        below, argv = (process.exe, self.cwd), () if process.titled else process.argv
        found = Start(argv, self.cwd, process.pid)
        for parent in process.parents:
            words = {PurePath(argument).stem for argument in parent.argv[:2]}
            here = Start(parent.argv, parent.cwd or self.cwd, parent.pid)
            if words & WRAPPERS and not parent.titled:
                found = here
            elif words & SHELLS and len(parent.argv) > 1:
                found = found if found.argv else _simple_start(here)
            elif parent.exe and (parent.exe, parent.cwd) == below:
                found = here if not found.argv and not parent.titled else found
            else:
                break
            below = (parent.exe, parent.cwd)
        return found

    @property
    def command(self) -> tuple[str, ...]:
        return self.start.argv

    def with_answer(self, answer: Answer | None) -> Identity:
        """The identity with what the listener's answer says about it."""
        if answer is None:
            return self
        found = framework.by_answer(answer.headers, answer.markup)
        return replace(
            self,
            title=answer.title or self.title,
            favicon=answer.favicon or self.favicon,
            framework=framework.surer(self.framework, found),
        )


def _simple_start(shell: Start) -> Start:
    """The start of a shell that runs one file or simple command; otherwise without arguments."""
    line = shell.argv[2] if shell.argv[1] == "-c" and len(shell.argv) > 2 else ""
    plain_file = not shell.argv[1].startswith("-")
    simple = line and not set(line) & set("&;|<>()\n`")
    return shell if plain_file or simple else shell._replace(argv=())


def identify(
    pid: int | None, port: int, *, uid: int | None = None, engines: Engines = ENGINES
) -> Identity:
    """Who listens on `port`; of an unreadable process at most its user and its container."""
    process = processes.read(pid, uid)
    hidden = not process.cwd and not process.argv
    container = engines.publishing(port) if hidden or process.name in PROXIES else None
    cwd = Path(process.cwd) if process.cwd.startswith("/") and not container else None
    repository = git.find(cwd) if cwd else None
    manifest = package.find(_folders(cwd, repository)) if cwd else None
    return Identity(
        process=process,
        cwd=process.cwd,
        git=repository,
        package=manifest,
        framework=framework.by_files(process.argv, manifest),
        container=container,
        partial=not process.whole or (manifest is not None and not manifest.whole),
    )


def _folders(cwd: Path, repository: Git | None) -> list[Path]:
    """Where a manifest may be: up to the repository's root, else to below the user's home."""
    found = []
    for folder in git.levels(cwd):
        if folder == Path.home() and folder != cwd:
            break
        found.append(folder)
        if repository and folder == repository.root:
            break
    return found
