"""What only people do, over a real service: the guard in front, streams behind, events beside."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.service import Service, until

PNG = b"\x89PNG\r\n\x1a\n"
MIB = 1024 * 1024


class Events:
    """The instance's event stream, read in a thread of its own."""

    def __init__(self, service: Service) -> None:
        self.seen: list[tuple[str, Any]] = []
        self._http = httpx.Client(base_url=service.url, timeout=60, trust_env=False)
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._ready = threading.Event()
        self._thread.start()
        assert self._ready.wait(20)

    def _read(self) -> None:
        name = ""
        try:
            with self._http.stream("GET", "/api/events") as answer:
                self._ready.set()
                for line in answer.iter_lines():
                    key, _, value = line.partition(": ")
                    if key == "event":
                        name = value
                    elif key == "data":
                        self.seen.append((name, json.loads(value)))
        except httpx.HTTPError:
            return

    def until(self, name: str, **data: Any) -> None:
        until(lambda: (name, data) in self.seen, seconds=30, what=f"{name} {data}")
        self.seen.clear()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with Service(tmp_path_factory.mktemp("people"), scheduler=False) as running:
        made = running.http.post("/api/projects", json={"name": "Alpha"})
        assert made.status_code == 201
        yield running


def chat(served: Service) -> tuple[str, str]:
    """The path and the id of a chat that said something."""
    made = served.http.post("/api/projects/alpha/chats", json={"name": "One"}).json()["chat"]
    path = served.projects / "alpha" / ".chats" / f"{made['sessionId']}.jsonl"
    lines: list[dict[str, Any]] = [
        {"type": "user", "text": "needle", "sender": {"kind": "client", "id": "ci"}},
        {"type": "turn_end", "status": "ok"},
    ]
    whole = [
        {"v": 1, "seq": seq, "id": str(seq), "parent": None, "turn": "msg_1",
         "ts": "2026-01-01T00:00:00.000Z", **line}
        for seq, line in enumerate(lines, 1)
    ]  # fmt: skip
    path.write_text("".join(json.dumps(line) + "\n" for line in whole))
    return f"/api/projects/alpha/chats/{made['sessionId']}", made["sessionId"]


def test_every_change_comes_as_an_event(served: Service):
    events = Events(served)
    path, session_id = chat(served)
    until(lambda: served.http.get(path).json()["chat"]["unread"], what="unread")
    events.until("chat", project="alpha", sessionId=session_id)

    for send, where, event in (
        ("POST", f"{path}/read", "chat"),
        ("DELETE", path, "chat"),
        ("POST", f"{path}/restore", "chat"),
    ):
        assert served.http.request(send, where).status_code == 200
        events.until(event, project="alpha", sessionId=session_id)
    assert served.http.post("/api/projects/alpha/pause").status_code == 200
    events.until("project", slug="alpha")
    assert served.http.post("/api/pause").status_code == 200
    events.until("pause")
    assert served.http.post("/api/pause", json={"paused": False}).status_code == 200
    events.until("pause")


def test_a_chat_is_found_and_downloaded(served: Service):
    path, session_id = chat(served)

    hits = served.http.get("/api/search", params={"q": "NEEDLE"}).json()["hits"]
    with served.http.stream("GET", f"{path}/export?format=jsonl") as answer:
        lines = list(answer.iter_lines())
    head = served.http.head(f"{path}/export")

    assert session_id in {hit["sessionId"] for hit in hits}
    assert answer.headers["Content-Disposition"].startswith('attachment; filename="One-')
    assert [json.loads(line)["type"] for line in lines] == ["user", "turn_end"]
    assert (head.status_code, head.content) == (200, b"")


def test_an_upload_may_be_larger_than_a_body_of_json_and_has_its_own_limit(served: Service):
    where = "/api/projects/alpha/attachments?name=big.png"

    kept = served.http.post(where, content=PNG + b"\1" * 6 * MIB)
    refused = served.http.post(where, content=PNG + b"\1" * 10 * MIB)

    assert (kept.status_code, kept.json()["size"]) == (201, 6 * MIB + 8)
    assert (refused.status_code, refused.json()["code"]) == (413, "too_large")
    assert "10 MiB" in refused.json()["error"]
    shown = served.http.get(kept.json()["url"])
    assert len(shown.content) == 6 * MIB + 8
    assert shown.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert shown.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Host": "evil.example"},
    ],
)
def test_no_page_of_another_place_uploads_anything(served: Service, headers):
    where = "/api/projects/alpha/attachments?name=x.txt"

    refused = served.http.post(where, content=b"planted", headers=headers)

    assert refused.status_code == 403
    folder = served.projects / "alpha" / ".svc" / "attachments"
    assert [path.name for path in folder.glob("*.txt")] == []


def test_a_path_below_the_uploads_keeps_the_rules_of_the_others(served: Service):
    answer = served.http.post(
        "/api/projects/alpha/attachments/x", content=b"x", headers={"Content-Type": "text/plain"}
    )

    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media_type")
