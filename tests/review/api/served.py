"""The review part over real HTTP: a service, projects with real repositories, checked answers.

Every answer is held against the service's own description (/api/schema).
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import httpx
import yaml

from config.storage.files import PREFIX
from tests.described import Api, Description
from tests.review.places import put
from tests.review.repos import Repo
from tests.service import Service, until
from tests.wire import EventClient

APP = """def charge(order):
    total = order.total
    if total < 0:
        raise ValueError(total)
    return gateway.charge(total)
"""
RETRY = """def charge(order):
    total = order.total
    if total < 0:
        raise ValueError(total)
    for attempt in range(3):
        if gateway.charge(total):
            return attempt
    raise Failed(order)
"""
MARKED = b'{"type":"project","project":"marker","reason":"config"}'


@dataclass
class Project:
    """One project with one repository `api`: three commits on `feature`, in two stacks."""

    root: Path
    slug: str
    repo: Repo
    shas: list[str] = field(default_factory=list)

    @property
    def p(self) -> str:
        return f"/api/projects/{self.slug}"

    def c(self, sha: str | int = 0, below: str = "") -> str:
        """`{c}` of a commit: the n-th, or any sha."""
        found = self.shas[sha] if isinstance(sha, int) else sha
        return f"{self.p}/repos/api/commits/{found}{below}"

    @property
    def file(self) -> Path:
        return self.root / self.slug / "project.yaml"

    def review(self, sha: str | int = 0, kind: str = "reviews") -> Path:
        found = self.shas[sha] if isinstance(sha, int) else sha
        return self.root / self.slug / kind / "api" / f"{found}.yaml"

    def write(self, **keys: Any) -> None:
        """project.yaml, as a user writes it."""
        stacks = [{"title": "Charging", "commits": self.shas[:2]}, {"title": "Docs"}]
        entry = {"name": "api", "path": str(self.repo.path), "range": "main..feature"}
        entry |= {"stacks": stacks} | keys.pop("entry", {})
        text = yaml.safe_dump({"title": "Pay", "repos": [entry], **keys}, sort_keys=False)
        put(self.file, text.encode())

    def tree(self) -> dict[Path, bytes]:
        """Every byte of the project; what a write leaves behind for a moment does not count."""
        found = (path for path in self.file.parent.rglob("*") if path.is_file())
        return {path: path.read_bytes() for path in found if not path.name.startswith(PREFIX)}


class Served:
    """The running service, its two mounts, and a project for each test that wants one."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.count = 0
        self.api = Api(service.review_url, self.description)
        self.mounted = Api(f"{service.url}/review", self.description)
        self.marker = Marker(service.projects)

    def close(self) -> None:
        self.api.client.close()
        self.mounted.client.close()

    @cached_property
    def description(self) -> Description:
        answer = httpx.get(f"{self.service.review_url}/api/schema", timeout=30, trust_env=False)
        return Description(answer.json())

    def project(self, folder: Path) -> Project:
        """A new project; its repository lies in `folder`."""
        self.count += 1
        model, shas = self._model
        repo = Repo(Path(shutil.copytree(model.path, folder / "api")))
        repo.commits = model.commits
        made = Project(self.service.projects, f"pay-{self.count}", repo, list(shas))
        with self._stream() as events:
            made.write()
            events.until({"type": "projects", "reason": "added"})
        return made

    @cached_property
    def _model(self) -> tuple[Repo, list[str]]:
        """The repository that each project gets a copy of, and its three commits."""
        repo = Repo(self.service.home / "model")
        repo.commit({"src/pay.py": APP, "README.md": "Pay\n"}, "Start")
        repo.branch("feature")
        repo.commit({"src/pay.py": RETRY}, "Try again", body="Three times.")
        repo.commit({"src/new.py": "".join(f"line {n}\n" for n in range(1, 41))}, "Add lines")
        repo.commit({"README.md": "Pay\n\nRetries.\n"}, "Say so")
        return repo, repo.shas("main..feature")

    @contextmanager
    def listening(self) -> Iterator[Events]:
        """The event stream, read from now on."""
        if not self.marker.moved:
            with self._stream() as events:
                self.marker.move()
                events.until({"type": "projects", "reason": "added"})
        with self._stream() as events:
            yield events

    @contextmanager
    def _stream(self) -> Iterator[Events]:
        client = EventClient(self.service.ports["review"], "/api/events")
        client.connect()
        try:
            yield Events(client, self.marker)
        finally:
            client.close()


class Marker:
    """A project that is edited by hand to see that everything before it has been told."""

    def __init__(self, projects: Path) -> None:
        self.file = projects / "marker" / "project.yaml"
        self.moved = 0

    def move(self) -> None:
        self.moved += 1
        put(self.file, f"title: Marker {self.moved}\n".encode())


class Events:
    """Events as they come from an open stream."""

    def __init__(self, client: EventClient, marker: Marker) -> None:
        self.client, self.marker = client, marker
        self.text = b""
        self._more(seconds=10)  # the greeting: from here on nothing is missed

    def of(self, slug: str) -> list[dict[str, Any]]:
        """What was told of one project until an edit made now was told, and nothing after it."""
        self.marker.move()
        told = self.text.count(MARKED)
        until(lambda: self._more(seconds=1) and self.text.count(MARKED) > told, what="the marker")
        while self._more(seconds=0.3):
            pass
        lines = (line for line in self.text.split(b"\n") if line.startswith(b"data: "))
        found = [json.loads(line[6:]) for line in lines]
        return [one for one in found if one.get("project", slug) == slug]

    def until(self, wanted: Mapping[str, Any]) -> None:
        """Fails unless this very event comes in time."""

        def seen() -> bool:
            self._more(seconds=0.02)
            return (
                json.dumps(wanted).encode().replace(b": ", b":").replace(b", ", b",") in self.text
            )

        until(seen, what=f"{wanted} in {self.text.decode()[-500:]}")

    def _more(self, *, seconds: float) -> bool:
        self.client.socket.settimeout(seconds)
        try:
            data = self.client.socket.recv(65536)
        except TimeoutError:
            return False
        self.text += data
        return bool(data)
