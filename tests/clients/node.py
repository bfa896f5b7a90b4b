"""The official JavaScript SDKs, installed by npm once per version into a cache folder.

Used by the MCP benchmark (its peer) and by the test with the SDKs' own clients: the first line, and
the second, which speaks the revision without a handshake too.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

SDK = {
    "@modelcontextprotocol/sdk": "1.32.2",
    "@modelcontextprotocol/client": "2.4.0",
    "zod": "3.25.76",
}
INSTALL_S = 300


class NoNode(Exception):
    """Why the SDK is not here; the text says what to do."""


def folder() -> Path:
    """A folder whose node_modules holds the SDK. Raises NoNode."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        raise NoNode("node and npm are not installed (Debian: apt-get install nodejs npm)")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or tempfile.gettempdir())
    where = cache / f"svc-mcp-sdk-{'-'.join(SDK.values())}-{os.getuid()}"
    where.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (where / "lock").open("w") as lock:  # tests run side by side
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (where / "installed").exists():
            _install(where)
    return where


def _install(where: Path) -> None:
    package = {"private": True, "type": "module", "dependencies": SDK}
    (where / "package.json").write_text(json.dumps(package))
    command = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--silent"]
    try:
        subprocess.run(command, cwd=where, check=True, capture_output=True, timeout=INSTALL_S)
    except (subprocess.SubprocessError, OSError) as error:
        raise NoNode(f"npm could not install the SDK: {error}") from None
    (where / "installed").touch()
