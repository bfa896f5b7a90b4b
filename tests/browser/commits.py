"""A project with a repository of its own, one commit of it on a page, what the API says of it."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.review.repos import Repo
from tests.service import Service, until

LINES = [f"line {n} of the file" for n in range(1, 41)]
LONG = "A long comment. " * 60


def text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def changed(lines: list[str]) -> list[str]:
    return ["line 12, new" if line == "line 12 of the file" else line for line in lines]


@dataclass(slots=True)
class Commit:
    """The head of the range: it changes line 12 of a.py. A rebase changes `sha`."""

    service: Service
    slug: str
    repo: Repo
    sha: str

    @property
    def address(self) -> str:
        return f"/review/p/{self.slug}/app/{self.sha}"

    @property
    def api(self) -> str:
        return f"/review/api/projects/{self.slug}/repos/app/commits/{self.sha}"

    @property
    def file(self) -> Path:
        """Where the review of the commit is written."""
        return self.service.projects / self.slug / "reviews" / "app" / f"{self.sha}.yaml"

    def get(self, below: str = "") -> Any:
        return self.service.http.get(self.api + below).raise_for_status().json()

    def post(self, below: str, body: dict[str, Any]) -> Any:
        return self.service.http.post(self.api + below, json=body).raise_for_status().json()

    def put(self, below: str, body: dict[str, Any]) -> Any:
        return self.service.http.put(self.api + below, json=body).raise_for_status().json()

    def thread(self, body: str, **place: Any) -> str:
        return str(self.post("/threads", {"body": body, **place})["id"])

    def reply(self, thread: str, body: str, **fields: Any) -> None:
        self.post(f"/threads/{thread}/comments", {"body": body, **fields})

    def threads(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.get("/review")["threads"]
        return found

    def until_comments(self, bodies: list[str]) -> None:
        until(lambda: self._bodies() == bodies, what=f"comments {bodies}")

    def _bodies(self) -> list[str]:
        return [comment["body"] for one in self.threads() for comment in one["comments"]]

    def rebase(self, above: list[str]) -> None:
        """main gets lines at the top of a.py, and the commit is rebased onto it."""
        self.repo.checkout("main")
        self.repo.commit({"a.py": text([*above, *LINES])}, "Mainline moves")
        self.repo.checkout("topic")
        (self.sha,) = self.repo.rebase("main")
        self._until_listed()

    def amend(self, files: dict[str, str | bytes | None], subject: str | None = None) -> None:
        self.sha = self.repo.amend(files, subject)
        self._until_listed()

    def _until_listed(self) -> None:
        until(lambda: self.service.http.get(f"{self.api}/pr").status_code == 200, what=self.sha)


def made(service: Service, folder: Path) -> Commit:
    """A new project on `service`; its repository lies in `folder`."""
    repo = Repo(folder / "app")
    repo.commit({"a.py": text(LINES), "b.py": "b\n"}, "Base")
    repo.branch("topic")
    sha = repo.commit({"a.py": text(changed(LINES))}, "Say line 12 anew")
    slug = f"threads-{folder.name[:40].lower().replace('_', '-')}"
    home = service.projects / slug
    home.mkdir()
    entry = {"name": "app", "path": str(repo.path), "range": "main..topic"}
    (home / "project.yaml").write_text(yaml.safe_dump({"title": "Refunds", "repos": [entry]}))
    commit = Commit(service, slug, repo, sha)
    commit._until_listed()
    return commit


def png(width: int, height: int) -> bytes:
    """A grey image."""
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress((b"\x00" + b"\x80" * width) * height)
    pieces = ((b"IHDR", head), (b"IDAT", rows), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in pieces
    )
