"""What every request meets first: a defect behind it is told in the words of its surface."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from config.web import surfaces
from config.web.entrance import Entrance

PORTS = {"main": 8000, "review": 5622, "dashboard": 4255}


async def crash(scope: dict[str, Any], receive: Any, send: Any) -> None:
    raise RuntimeError("the secret of the house")


async def torn(scope: dict[str, Any], receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    raise RuntimeError("later")


async def asked(app: Any, port: int, path: str = "/api/events") -> list[dict[str, Any]]:
    """What is sent back."""
    apps = dict.fromkeys(PORTS, app)
    sent: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": path, "raw_path": path.encode(),
             "server": ["127.0.0.1", port], "headers": [(b"host", b"localhost")]}  # fmt: skip
    await Entrance(apps, apps)(scope, None, send)  # type: ignore[arg-type]
    return sent


@pytest.fixture(autouse=True)
def bound(monkeypatch):
    monkeypatch.setattr(surfaces, "_ports", PORTS)


@pytest.mark.parametrize(
    ("port", "path", "text"),
    [
        (8000, "/api/events", "internal error"),
        (5622, "/api/events", "Internal error"),
        (8000, "/review/api/events", "Internal error"),
        (4255, "/mcp", "Something failed here (id {id}); the server log has it."),
        (8000, "/dashboard/mcp", "Something failed here (id {id}); the server log has it."),
    ],
)
async def test_a_defect_is_told_in_the_words_of_its_surface_and_found_in_the_log(
    caplog, port, path, text
):
    start, body = await asked(crash, port, path)
    number = dict(start["headers"])[b"x-request-id"].decode()

    told = orjson.loads(body["body"])
    named = {"id": number} if "{id}" in text else {}
    assert start["status"] == 500
    assert told == {"error": text.format(id=number), "code": "internal", **named}
    assert [record.requestId for record in caplog.records] == [number]


async def test_an_answer_that_has_begun_is_cut_and_not_followed_by_another():
    with pytest.raises(RuntimeError, match="later"):
        await asked(torn, 4255)
