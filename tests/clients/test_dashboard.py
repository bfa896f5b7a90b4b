"""The official clients against the dashboard's endpoint, on both mounts, with no credential."""

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
from tests.service import Service, until

SCRIPT = Path(__file__).parent / "sdk_client.mjs"


@pytest.fixture(scope="module")
def endpoints(managed: Service) -> list[str]:
    """Both addresses, once the daemon answers there."""
    bases = [managed.dashboard_url, f"{managed.url}/dashboard"]
    for base in bases:
        until(lambda base=base: managed.http.get(f"{base}/api/apps").status_code == 200, what=base)  # type: ignore[misc]
    return [f"{base}/mcp" for base in bases]


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_python_client_connects_lists_calls_and_leaves(endpoints: list[str], mode: str):
    for url in endpoints:
        async with Client(streamable_http_client(url), mode=mode) as client:
            assert client.server_info is not None
            assert (client.server_info.name, client.server_info.version) == (
                "svc-dashboard",
                __version__,
            )
            tools = (await client.list_tools()).tools
            assert len(tools) == 27
            assert tools[0].name == "find_app"

            guide = await client.call_tool("get_guide", {})
            assert guide.structured_content is not None
            assert url in guide.structured_content["text"]
            found = await client.call_tool("list_apps", {})
            assert not found.is_error
            assert found.structured_content is not None
            assert set(found.structured_content) == {"count", "apps", "fileErrors"}

            gone = await client.call_tool("get_app", {"slug": "nope"})
            assert gone.is_error
            assert gone.structured_content == {
                "error": 'No app "nope".',
                "code": "not_found",
                "status": 404,
            }


@pytest.mark.slow
def test_the_javascript_client_connects_lists_calls_and_leaves(endpoints: list[str]):
    try:
        sdk = node.folder()
    except node.NoNode as reason:
        pytest.skip(str(reason))
    for url in endpoints:
        told = {"SDK_FOLDER": str(sdk), "SERVER": url, "TOKEN": "none", "TOOL": "list_bookmarks"}
        ran = subprocess.run(
            ["node", str(SCRIPT)],
            env=os.environ | told,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

        assert ran.returncode == 0, ran.stderr
        seen = json.loads(ran.stdout)
        assert seen["server"] == {"name": "svc-dashboard", "version": __version__}
        assert seen["capabilities"] == {"tools": {}}
        assert len(seen["tools"]) == 27
        assert seen["called"]["structuredContent"] == {"groups": []}
        assert seen["unknown"]["isError"] is True
