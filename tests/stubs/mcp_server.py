"""A server of tools for tests, with the standard library alone: `mcp_server.py [way ...]`.

It leaves marks in its working directory: `started` with its pid, `called` with the names of its
tools. Ways to misbehave are words of the command line.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ANY = {"type": "object", "properties": {}}
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
TOOLS = {
    "note": ("Leave a mark.", TEXT),
    "read": ("Read a file.", TEXT),
    "env": ("A variable.", TEXT),
    "hang": ("Never answer.", ANY),
    "big": ("A long answer.", ANY),
    "fail": ("An error.", ANY),
    "leave": ("Start a process and leave it.", ANY),
}
ODD = ("a b", "a_b", "", "x" * 90)


def listed(ways: list[str]) -> list[dict[str, Any]]:
    found = {name: (text, schema) for name, (text, schema) in TOOLS.items()}
    if "odd" in ways:
        found |= dict.fromkeys(ODD, ("y" * 9000 + "\x1b[2J", ANY))
    return [
        {"name": name, "description": text, "inputSchema": schema}
        for name, (text, schema) in found.items()
    ]


def run(name: str, args: dict[str, Any]) -> str:
    with Path("called").open("a") as marks:
        marks.write(f"{name}\n")
    match name:
        case "note":
            return f"noted {args['text']}"
        case "read":
            return Path(args["text"]).read_text()
        case "env":
            return os.environ.get(args["text"], "unset")
        case "hang":
            time.sleep(600)
        case "big":
            return "z" * 300_000
        case "leave":
            child = subprocess.Popen(["sleep", "600"], start_new_session=True)
            return str(child.pid)
    raise ValueError(f"{name} went wrong")


def answer(asked: dict[str, Any], ways: list[str]) -> dict[str, Any]:
    match asked["method"]:
        case "initialize":
            return {
                "protocolVersion": asked["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "stub", "version": "1"},
            }
        case "tools/list":
            return {"tools": listed(ways)}
        case "tools/call":
            params = asked["params"]
            try:
                text, failed = run(params["name"], params.get("arguments") or {}), False
            except (OSError, ValueError) as error:
                text, failed = str(error), True
            return {"content": [{"type": "text", "text": text}], "isError": failed}
    return {}


def main(ways: list[str]) -> None:
    with Path("started").open("a") as marks:
        marks.write(f"{os.getpid()}\n")
    if "crash" in ways:
        sys.exit("the licence has run out")
    if "silent" in ways:
        time.sleep(600)
    while "garbage" in ways:
        print("<html>hello</html>", flush=True)
    if "flood" in ways:
        while True:
            sys.stdout.write("x" * 1_000_000)
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" in asked:
            told = {"jsonrpc": "2.0", "id": asked["id"], "result": answer(asked, ways)}
            print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
