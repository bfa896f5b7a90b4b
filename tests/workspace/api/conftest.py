"""A small named world: an empty projects directory, a caller, and the API without a server."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest
from django.test import Client

from config import jsonio
from workspace.access.principals import User


class Api:
    """The routes of the main surface, asked on this machine as the guard's admitted user."""

    def __init__(self, user: User) -> None:
        self.client = Client(raise_request_exception=False, headers={"host": "localhost"})
        self.user = user

    def ask(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> Any:
        raw = body if isinstance(body, bytes) else b"" if body is None else jsonio.dumps(body)
        return self.client.generic(
            method,
            path,
            raw,
            content_type="application/json" if raw else "",
            headers=dict(headers or {}),
            **cast("Any", {"svc.principal": self.user}),
        )

    def get(self, path: str, **headers: str) -> Any:
        return self.ask("GET", path, headers=headers)

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        return self.ask("POST", path, body, headers)

    def patch(self, path: str, body: Any, **headers: str) -> Any:
        return self.ask("PATCH", path, body, headers)

    def put(self, path: str, body: Any, **headers: str) -> Any:
        return self.ask("PUT", path, body, headers)

    def delete(self, path: str, **headers: str) -> Any:
        return self.ask("DELETE", path, headers=headers)


@pytest.fixture
def projects_dir(settings, tmp_path: Path) -> Path:
    folder = tmp_path / "projects"
    folder.mkdir()
    settings.PROJECTS_DIR = folder
    return folder


@pytest.fixture
def api(db, projects_dir: Path) -> Api:
    return Api(User())


@pytest.fixture
def alpha(api: Api, projects_dir: Path) -> Path:
    """The directory of a project called alpha."""
    assert api.post("/api/projects", {"name": "Alpha", "slug": "alpha"}).status_code == 201
    return projects_dir / "alpha"


@pytest.fixture
def chat(api: Api, alpha: Path) -> str:
    """The path of an empty chat in alpha."""
    made = api.post("/api/projects/alpha/chats", {"name": "First"}).json()["chat"]
    return f"/api/projects/alpha/chats/{made['sessionId']}"
