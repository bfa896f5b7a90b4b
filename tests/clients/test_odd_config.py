"""A management block with every kind of mistake, on the real service."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.config.mcp_world import HEADERS, call, request
from tests.service import Service, until

LITERAL = "svc_home_" + "1e" * 24
TOKENS = {
    "EVERYTHING": "svc_home_" + "ee" * 24,
    "BATCHER": "svc_home_" + "ba" * 24,
    "MALFORMED": "svc_home_" + "3a" * 24,
    "SHORT": "x" * 23,
}


def client(name: str, *allow: str) -> dict[str, Any]:
    return {"auth": {"type": "token", "ref": f"env:{name}"}, "scope": {"allow": [*allow]}}


def config(*names: str) -> dict[str, Any]:
    every = {
        "literal": {"auth": {"type": "token", "token": LITERAL}},
        "short": client("SHORT", "*"),
        "everything": client("EVERYTHING", "*"),
        "batcher": client("BATCHER", "fork_chat_batch"),
        "malformed": client("MALFORMED", "list_?", "[a]*", "re*d_chat"),
    }
    chosen = {name: every[name] for name in names or every}
    block = {"instanceId": "home", "publicUrl": "https://svc.example.com", "clients": chosen}
    return {"managementApi": block}


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("odd")
    with Service(folder, env=TOKENS, config=config(), scheduler=False) as service:
        yield service


def ask(service: Service, token: str, body: dict[str, Any]) -> httpx.Response:
    headers = HEADERS | {"authorization": f"Bearer {TOKENS.get(token, token)}"}
    return service.http.post("/mcp", json=body, headers=headers)


def result(answer: httpx.Response) -> dict[str, Any]:
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = json.loads(answer.text.split("data: ")[1])["result"]
    return found


def names(service: Service, token: str) -> list[str]:
    return [tool["name"] for tool in result(ask(service, token, request("tools/list")))["tools"]]


@pytest.mark.slow
def test_everything_allowed_is_fourteen_tools_and_never_a_promotion(odd: Service):
    assert len(names(odd, "EVERYTHING")) == 14
    for unknown in ("promote_project", "fork_chat_batchx", "initialize"):
        told = result(ask(odd, "EVERYTHING", call(unknown, project="alpha")))
        assert told == {
            "content": [{"type": "text", "text": f"Unknown tool: {unknown}"}],
            "isError": True,
        }


def test_a_batch_without_forks_is_hidden_and_unknown_when_called(odd: Service):
    given = {"project": "alpha", "session_id": "x", "prompts": ["a"]}

    assert names(odd, "BATCHER") == []
    told = result(ask(odd, "BATCHER", call("fork_chat_batch", **given)))
    assert told["content"][0]["text"] == "Unknown tool: fork_chat_batch"


def test_malformed_patterns_show_nothing(odd: Service):
    assert names(odd, "MALFORMED") == []


def test_clients_with_unusable_tokens_stay_out_and_the_others_work(odd: Service):
    for refused in (LITERAL, "SHORT"):
        assert ask(odd, refused, request("ping")).status_code == 401
    assert ask(odd, "EVERYTHING", request("ping")).status_code == 200
    shown = {
        row["clientId"]: row["status"] for row in odd.http.get("/api/clients").json()["clients"]
    }
    assert (shown["literal"], shown["short"], shown["everything"]) == (
        "dropped", "dropped", "enabled",
    )  # fmt: skip


def test_a_literal_token_of_the_file_is_in_no_log_and_on_no_page(odd: Service):
    until(lambda: "client skipped" in odd.log(), what="the boot line of the literal token")

    pages = ["/", "/clients", "/audit", "/api/clients", "/api/audit", "/admin/"]
    texts = {path: odd.http.get(path, follow_redirects=True).text for path in pages}
    texts |= {path.name: path.read_text() for path in (odd.data / "logs").rglob("*.log")}
    texts["output"] = odd.output()

    secret = LITERAL.removeprefix("svc_home_")[:16]
    assert [place for place, text in texts.items() if secret in text] == []


def test_without_a_usable_client_there_is_no_such_surface(tmp_path):
    only_bad = config("literal", "short")
    with Service(tmp_path, env=TOKENS, config=only_bad, scheduler=False) as service:
        for method in ("GET", "POST", "DELETE", "OPTIONS", "PUT"):
            headers = HEADERS | {"accept": "text/html", "authorization": f"Bearer {'x' * 23}"}
            answer = service.http.request(method, "/mcp", headers=headers)

            assert (answer.status_code, answer.content) == (404, b'{"error":"not found"}')
            assert "www-authenticate" not in answer.headers
