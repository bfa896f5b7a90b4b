"""Files of real versions of Claude Code, as it keeps them of a directory.

They were written by these versions against a scripted model; of what they tell the model by
themselves only the kind is kept.
"""

from __future__ import annotations

import json
import re
import uuid
from pathlib import Path
from typing import Any

FIXTURES = Path(__file__).parents[3] / "fixtures" / "claude_code"
VERSIONS = ("1.0.50", "2.0.20", "2.1.330")
WORDS = "What does a.txt say?"


def folder(store: Path, directory: Path) -> Path:
    made = store / re.sub(r"[^A-Za-z0-9]", "-", str(directory.resolve()))
    made.mkdir(parents=True, exist_ok=True)
    return made


def keep(store: Path, directory: Path, version: str) -> Path:
    """The session that this version held in this directory."""
    text = (FIXTURES / f"{version}.jsonl").read_text().replace("/DIRECTORY", str(directory))
    session = json.loads(text.partition("\n")[0])["sessionId"]
    path = folder(store, directory) / f"{session}.jsonl"
    path.write_text(text)
    return path


def write(store: Path, directory: Path, *lines: dict[str, Any], cwd: Path | None = None) -> Path:
    """A session of these lines; each gets what every line has."""
    session = str(uuid.uuid4())
    common = {"cwd": str(cwd or directory), "sessionId": session, "version": "9.9.9"}
    path = folder(store, directory) / f"{session}.jsonl"
    path.write_text("".join(written({**line, **common}) for line in lines))
    return path


def written(line: dict[str, Any]) -> str:
    return json.dumps(line, separators=(",", ":")) + "\n"


def person(text: Any, number: int, after: int | None = None, **more: Any) -> dict[str, Any]:
    message = {"role": "user", "content": text}
    return {"type": "user", "message": message, **_place(number, after), **more}


def model(*blocks: dict[str, Any], number: int, after: int, **more: Any) -> dict[str, Any]:
    message = {"id": more.pop("id", f"m{number}"), "role": "assistant", "content": list(blocks)}
    return {"type": "assistant", "message": message, **_place(number, after), **more}


def _place(number: int, after: int | None) -> dict[str, Any]:
    stamp = f"2026-11-01T10:00:{number:02}.000Z"
    parent = None if after is None else f"u{after}"
    return {"uuid": f"u{number}", "parentUuid": parent, "timestamp": stamp, "isSidechain": False}
