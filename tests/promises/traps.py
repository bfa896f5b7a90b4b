"""What an agent, a checkout or a hand may put where a file is expected, and where that can be."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import subprocess
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.service import Service

STEP = 1 << 20  # bytes by which a file grows
TERABYTE = 1 << 40
ASSET = "ab" * 32
SHA = "12" * 20


def _device(path: Path) -> None:
    """A device itself where the user of the tests may make one, else a link to one."""
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 5))
    except PermissionError:
        path.symlink_to("/dev/full")


def _huge(path: Path) -> None:
    path.touch()
    os.truncate(path, TERABYTE)


def _out(path: Path) -> None:
    path.symlink_to("/etc/passwd")


TRAPS: dict[str, Callable[[Path], None]] = {
    "a link to /dev/zero": lambda path: path.symlink_to("/dev/zero"),
    "a device": _device,
    "a FIFO": os.mkfifo,
    "a directory": lambda path: path.mkdir(),
    "a link out of the root": _out,
    "a loop of links": lambda path: path.symlink_to(path.name),
    "a link to nothing": lambda path: path.symlink_to("nowhere"),
    "a link to a folder of the system": lambda path: path.symlink_to("/usr"),
    "a file of a terabyte": _huge,
    "a file that grows": lambda path: path.touch(),
}


@contextlib.contextmanager
def set_under(names: list[Path], trap: str) -> Iterator[None]:
    """The trap under every name; what was there is there again afterwards."""
    kept = {path: path.with_name(f"kept-{path.name}") for path in names if os.path.lexists(path)}
    for path, aside in kept.items():
        path.rename(aside)
    stopped = threading.Event()
    growing = threading.Thread(target=_grow, args=(names, stopped))
    try:
        for path in names:
            path.parent.mkdir(parents=True, exist_ok=True)
            TRAPS[trap](path)
        if trap == "a file that grows":
            growing.start()
        yield
    finally:
        stopped.set()
        if growing.ident:
            growing.join()
        for path in names:
            _remove(path)
        for path, aside in kept.items():
            aside.rename(path)


def _grow(names: list[Path], stopped: threading.Event) -> None:
    """Without a line's end, and without filling the disk."""
    for path in names:
        path.write_bytes(b"- x " * (1 << 16))
    for step in range(1, TERABYTE // STEP):
        for path in names:
            os.truncate(path, step * STEP)
        if stopped.wait(0.02):
            return


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


class Scene:
    """A service with a project whose every file can be a trap, and a witness beside it."""

    def __init__(self, service: Service, folder: Path) -> None:
        self.service, self.repo, self.bare_head = service, folder / "repo", folder / "other"
        self.trap, self.witness = service.projects / "trap", service.projects / "witness"
        for repo in (self.repo, self.bare_head):
            _repository(repo)
        for project in (self.trap, self.witness, service.projects / "broken"):
            project.mkdir(parents=True)
            text = f"name: {project.name}\nrepos:\n- {{path: {self.repo}}}\n"
            (project / "project.yaml").write_text(text)
        with (self.trap / "project.yaml").open("a") as file:
            file.write(f"- {{path: {self.bare_head}}}\n{TRIGGER}")
        for name in ("assets", "reviews/repo", "prs/repo", ".svc/triggers", ".svc/attachments"):
            (self.trap / name).mkdir(parents=True)
        self.app = service.data / "dashboard" / "apps" / "witness.yaml"
        self.app.parent.mkdir(parents=True)
        self.app.write_text("name: Witness\nurl: http://localhost:9\n")
        self.records = [str(uuid.uuid4()) for _ in range(3)]
        chats = self.trap / ".chats"
        chats.mkdir()
        for record in self.records[1:]:
            (chats / f"{record}.yaml").write_text("v: 1\ncreated: 2026-01-01T00:00:00Z\n")

    @property
    def names(self) -> list[Path]:
        """Every kind of name that a part watches, mirrors or serves."""
        chats, board = self.trap / ".chats", self.service.data / "dashboard"
        return [
            self.service.projects / "broken/project.yaml",
            self.service.projects / "triggers.yaml",
            *(self.trap / name for name in ("OVERVIEW.md", "CHANGELOG.md")),
            *(chats / f"{self.records[n]}{suffix}" for n, suffix in enumerate((".yaml", ".jsonl"))),
            chats / f"{self.records[2]}.live",
            chats / "trash",
            *(self.trap / ".svc/triggers" / name for name in ("go.md", ".md")),
            self.trap / ".svc/attachments/x-0123456789ab.txt",
            *(self.trap / "assets" / name for name in ("a.png", f"{ASSET}.png", f"{ASSET}.svg")),
            *(self.trap / kind / "repo" / f"{SHA}.yaml" for kind in ("reviews", "prs")),
            *(self.trap / kind / "repo" / f"{self.sha}.yaml" for kind in ("reviews", "prs")),
            *(self.trap / kind / "linked" for kind in ("reviews", "prs")),
            *(board / kind / "trap.yaml" for kind in ("apps", "bookmarks")),
            *(board / name for name in ("ignore.yaml", "config.yaml")),
            self.bare_head / ".git/HEAD",
            self.bare_head / ".git/packed-refs",
            self.bare_head / ".git/refs/heads/side",
        ]

    @property
    def sha(self) -> str:
        return _git(self.repo, "rev-parse", "HEAD").strip()

    def requests(self) -> list[str]:
        """An address of each answer that is made of these files."""
        main, review, board = (
            self.service.url, self.service.review_url, self.service.dashboard_url,
        )  # fmt: skip
        chats = f"{main}/api/projects/trap/chats"
        return [
            *(f"{main}/api/{name}" for name in ("projects", "projects/broken", "projects/trap")),
            *(f"{main}/api/projects/trap/{name}" for name in ("triggers", "documents", "trash")),
            *(chats, f"{main}/api/search?q=x", f"{main}/api/projects/trap/prompt-files"),
            *(f"{chats}/{record}{tail}" for record in self.records for tail in ("", "/messages")),
            *(f"{chats}/{record}/export" for record in self.records),
            f"{main}/api/projects/trap/attachments/x-0123456789ab.txt",
            *(f"{review}/api/projects{tail}" for tail in ("", "/broken", "/trap")),
            f"{review}/api/projects/trap/repos/repo/commits/{self.sha}/review",
            *(f"{review}/api/projects/trap/assets/{ASSET}.{kind}" for kind in ("png", "svg")),
            *(f"{board}/api/{name}" for name in ("state", "apps", "bookmarks", "ignore", "config")),
            f"{board}/api/apps/trap/file",
        ]


TRIGGER = """triggers:
  go:
    trigger: {type: schedule, interval: 24h}
    run: {promptFile: go.md}
    enabled: false
"""


def _git(repo: Path, *args: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=A", "-c", "user.email=a@b.c", *args],
        cwd=repo, check=True, capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout


def _repository(repo: Path) -> None:
    repo.mkdir()
    _git(repo, "init", "-q", "-b", "main")
    for number in range(2):
        _git(repo, "commit", "-q", "--allow-empty", "-m", f"commit {number}")
