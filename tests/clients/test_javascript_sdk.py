"""The official JavaScript clients, from npm: the first line of the SDK, and the second."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from config import __version__
from tests.clients import node
from tests.clients.conftest import TOKENS
from tests.promises.rings import few
from tests.service import Service

NEWEST = "2026-07-28"
SCRIPT = Path(__file__).parent / "sdk_client.mjs"


@pytest.fixture(scope="module")
def sdk() -> Path:
    try:
        return node.folder()
    except node.NoNode as reason:
        pytest.skip(str(reason))


@pytest.mark.parametrize("mode", few(["sdk", "auto", NEWEST], 1))
def test_it_connects_lists_calls_and_leaves(managed: Service, sdk: Path, mode: str):
    environ = os.environ | {
        "SDK_FOLDER": str(sdk),
        "SERVER": f"{managed.url}/mcp",
        "TOKEN": TOKENS["ADMIN"],
        "MODE": mode,
    }
    ran = subprocess.run(
        ["node", str(SCRIPT)], env=environ, capture_output=True, text=True, timeout=60, check=False
    )

    assert ran.returncode == 0, ran.stderr
    seen = json.loads(ran.stdout)
    assert seen["protocol"] == (None if mode == "sdk" else NEWEST)
    assert seen["server"] == {"name": "svc", "version": __version__}
    assert seen["capabilities"] == {"tools": {} if mode == "sdk" else {"listChanged": False}}
    assert len(seen["tools"]) == 14
    assert seen["called"]["structuredContent"]["count"] == 2
    assert seen["unknown"]["isError"] is True
    assert seen["unknown"]["content"][0]["text"] == "Unknown tool: promote_project"
