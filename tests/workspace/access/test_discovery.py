"""Where the protected-resource document is, and what it says."""

from __future__ import annotations

from typing import Any

import pytest

from tests.workspace.access.world import block, load, scope_of
from workspace import consumers
from workspace.access import discovery

ISSUER = "https://login.example"
W = "/.well-known/oauth-protected-resource"


async def ask(monkeypatch: pytest.MonkeyPatch, path: str = W, method: str = "GET", **changes: Any):
    settings = {"authorizationServers": [ISSUER]} | changes
    monkeypatch.setattr(consumers, "management", lambda: load(block(**settings)))
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        raise AssertionError("the body is nobody's business")

    scope = scope_of(path=path, method=method, peer="203.0.113.9", headers=(("host", "evil"),))
    await consumers.Discovery()(scope, receive, send)
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], headers, sent[1]["body"].decode()


async def test_the_document_is_built_from_the_configuration_alone(monkeypatch: pytest.MonkeyPatch):
    status, headers, body = await ask(monkeypatch)

    assert (status, body) == (
        200,
        '{"resource":"https://svc.example.com/mcp","authorization_servers":["https://login.example"],'
        '"scopes_supported":["svc:read","svc:write"],"bearer_methods_supported":["header"],'
        '"resource_name":"svc management API"}',
    )
    assert headers["access-control-allow-origin"] == "*"
    assert headers["cache-control"] == "public, max-age=300"


@pytest.mark.parametrize(
    ("url", "paths"),
    [
        ("https://h", {W, f"{W}/mcp"}),
        (
            "https://h/base/",
            {W, f"{W}/mcp", f"/base{W}", f"/base{W}/mcp", f"{W}/base/mcp"},
        ),
        ("https://h/a%20b", {W, f"{W}/mcp", f"/a b{W}", f"/a b{W}/mcp", f"{W}/a b/mcp"}),
    ],
)
def test_a_path_mounted_origin_has_every_form(url: str, paths: set[str]):
    assert discovery.paths(load(block(publicUrl=url))) == paths


@pytest.mark.parametrize("path", [f"{W}/", f"{W}/mcp/", f"{W}/x", f"/other{W}", f"{W}mcp"])
async def test_other_paths_are_404(monkeypatch: pytest.MonkeyPatch, path: str):
    assert await ask(monkeypatch, path=path) == (
        404,
        {"content-type": "application/json; charset=utf-8", "content-length": "21"},
        '{"error":"not found"}',
    )


@pytest.mark.parametrize(
    "changes",
    [{"authorizationServers": []}, {"authorizationServers": ["http://x"]}, {"clients": None}],
)
@pytest.mark.parametrize("method", ["GET", "OPTIONS", "POST"])
async def test_it_is_served_only_with_an_issuer_and_a_client(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], method: str
):
    assert (await ask(monkeypatch, method=method, **changes))[0] == 404


async def test_preflight_and_other_methods(monkeypatch: pytest.MonkeyPatch):
    status, headers, body = await ask(monkeypatch, method="OPTIONS")
    assert (status, body) == (204, "")
    assert headers["access-control-allow-methods"] == "GET, HEAD, OPTIONS"
    assert headers["access-control-allow-headers"] == "*"

    status, headers, body = await ask(monkeypatch, method="POST")
    assert (status, headers["allow"]) == (405, "GET, HEAD, OPTIONS")
    assert (await ask(monkeypatch, method="HEAD"))[0] == 200
