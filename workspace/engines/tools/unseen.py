"""Programs that a turn cannot find, because the sandbox hides the home they are in."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from workspace.engines import sandbox
from workspace.engines.sandbox import Sandbox

# Folders of the home that several tools share, or that hold a secret (credentials.toml).
SHARED = (".local", ".cargo", ".config")
BESIDE = {".cargo": "~/.rustup"}  # what the programs in the first are started from


def advice(walls: Sandbox) -> str | None:
    """Which folders of the PATH a turn cannot see, and what to set; None if it sees all."""
    if walls.mode != "bwrap" or not (folders := _unseen(walls)):
        return None
    named = ", ".join(dict.fromkeys(part for one in folders for part in _needs(one)))
    return (
        f"of the PATH turns do not see {', '.join(folders)}, for your home is hidden from them: "
        f"name what these programs need in engines.reads of svc.config.yaml, such as [{named}]"
    )


def _unseen(walls: Sandbox) -> list[str]:
    words = dict.fromkeys(os.environ.get("PATH", "").split(os.pathsep))
    there = [path for word in words if word.startswith("/") and (path := Path(word)).is_dir()]
    return [
        _short(str(path), walls.hide[0])
        for path in there
        if not all(sandbox.sees(walls, str(one)) for one in (path, path.resolve()))
    ]


def _short(path: str, home: str) -> str:
    return f"~{path.removeprefix(home)}" if path.startswith(f"{home}/") else path


def _needs(folder: str) -> Iterable[str]:
    """What to name for the programs of a folder: all of a tool's own folder."""
    parts = folder.split("/")
    own = parts[0] == "~" and parts[1].startswith(".") and parts[1] not in SHARED
    yield "/".join(parts[:2]) if own else folder
    if parts[0] == "~" and parts[1] in BESIDE:
        yield BESIDE[parts[1]]
