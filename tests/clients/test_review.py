"""The official clients against the review part's endpoint, which asks for no credential."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from config import __version__
from tests.clients import node
from tests.service import Service

SCRIPT = Path(__file__).parent / "sdk_client.mjs"


def endpoints(service: Service) -> list[str]:
    return [f"{service.review_url}/mcp", f"{service.url}/review/mcp"]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_python_client_connects_lists_calls_and_leaves(managed: Service, mode: str):
    for url in endpoints(managed):
        async with Client(streamable_http_client(url), mode=mode) as client:
            assert client.server_info is not None
            assert (client.server_info.name, client.server_info.version) == (
                "svc-review",
                __version__,
            )
            assert len((await client.list_tools()).tools) == 14

            found = await client.call_tool("list_projects", {})
            assert not found.is_error
            assert found.structured_content is not None
            assert [one["slug"] for one in found.structured_content["projects"]] == [
                "alpha",
                "beta",
            ]

            gone = await client.call_tool("get_project", {"project": "nope"})
            assert gone.is_error
            assert gone.structured_content == {
                "error": "No such project: nope",
                "code": "not_found",
                "status": 404,
            }


@pytest.mark.slow
def test_the_javascript_client_connects_lists_calls_and_leaves(managed: Service):
    try:
        sdk = node.folder()
    except node.NoNode as reason:
        pytest.skip(str(reason))
    for url in endpoints(managed):
        environ = os.environ | {"SDK_FOLDER": str(sdk), "SERVER": url, "TOKEN": "none"}
        ran = subprocess.run(
            ["node", str(SCRIPT)],
            env=environ,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

        assert ran.returncode == 0, ran.stderr
        seen = json.loads(ran.stdout)
        assert seen["server"] == {"name": "svc-review", "version": __version__}
        assert len(seen["tools"]) == 14
        assert len(seen["called"]["structuredContent"]["projects"]) == 2
        assert seen["unknown"]["content"][0]["text"] == "Unknown tool: promote_project"
