"""A stand-in for Claude Code's side of its SDK: `claude_code.py <script.json> [options ...]`.

It speaks the SDK's stream of JSON, asks the servers and the hook that it was given, and makes the
calls of the script, `[[tool, arguments], ...]`, whether or not a tool was offered. `argv` beside
the script keeps the options. It asks no model and runs no tool of its own.
"""

from __future__ import annotations

import json
import sys
import uuid
from itertools import count
from pathlib import Path
from typing import Any

SESSION = str(uuid.uuid4())
numbers = count(1)


def say(message: dict[str, Any]) -> None:
    print(json.dumps(message | {"session_id": SESSION, "uuid": str(uuid.uuid4())}), flush=True)


def ask(request: dict[str, Any]) -> dict[str, Any]:
    """A request of ours, answered by the SDK."""
    say({"type": "control_request", "request_id": f"r{next(numbers)}", "request": request})
    while True:
        told = json.loads(sys.stdin.readline())
        if told["type"] == "control_response":
            found: dict[str, Any] = told["response"].get("response", {})
            return found


def mcp(server: str, method: str, params: dict[str, Any]) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "id": next(numbers), "method": method, "params": params}
    told = ask({"subtype": "mcp_message", "server_name": server, "message": message})
    found: dict[str, Any] = told["mcp_response"]["result"]
    return found


def servers(options: list[str]) -> dict[str, Any]:
    """Every server of every --mcp-config, each a file or a text."""
    given = [options[at + 1] for at, word in enumerate(options) if word == "--mcp-config"]
    texts = [one if one.startswith("{") else Path(one).read_text() for one in given]
    return {name: one for text in texts for name, one in json.loads(text)["mcpServers"].items()}


def tools(server: str) -> list[str]:
    about = {"name": "stub", "version": "1"}
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about}
    mcp(server, "initialize", hello)
    listed = mcp(server, "tools/list", {})["tools"]
    return [f"mcp__{server}__{one['name']}" for one in listed]


def call(tool: str, args: dict[str, Any], offered: list[str], hook: str) -> dict[str, Any]:
    """The hook first, whatever was offered."""
    number = f"toolu_{next(numbers)}"
    use = {"type": "tool_use", "id": number, "name": tool, "input": args}
    assistant([use])
    given = {"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": args}
    asked = {"subtype": "hook_callback", "callback_id": hook, "tool_use_id": number}
    told = ask(asked | {"input": given})["hookSpecificOutput"]
    if told["permissionDecision"] != "allow" or tool not in offered:
        text, failed = told["permissionDecisionReason"], True
    else:
        _, server, name = tool.split("__", 2)
        answer = mcp(server, "tools/call", {"name": name, "arguments": args})
        text, failed = answer["content"][0]["text"], answer.get("isError", False)
    result = {"type": "tool_result", "tool_use_id": number, "content": text, "is_error": failed}
    say({"type": "user", "message": {"role": "user", "content": [result]}})
    return result


def assistant(content: list[dict[str, Any]]) -> None:
    message = {"id": f"m{next(numbers)}", "role": "assistant", "model": "stub", "content": content}
    say({"type": "assistant", "message": message, "parent_tool_use_id": None})


def main(script: Path, options: list[str]) -> None:
    (script.parent / "argv").write_text("\n".join(options))
    hello = json.loads(sys.stdin.readline())
    hook = hello["request"]["hooks"]["PreToolUse"][0]["hookCallbackIds"][0]
    answer = {"subtype": "success", "request_id": hello["request_id"]}
    answer["response"] = {"hook_on_failure_supported": True}
    say({"type": "control_response", "response": answer})
    sys.stdin.readline()  # the message of the user
    here = [name for name, one in servers(options).items() if one["type"] == "sdk"]
    offered = [tool for name in here for tool in tools(name)]
    given = [option[8:] for option in options if option.startswith("--tools=")]
    say({"type": "system", "subtype": "init", "tools": offered, "model": "stub", "cwd": str(given)})
    for tool, args in json.loads(script.read_text()):
        call(tool, args, offered, hook)
    assistant([{"type": "text", "text": "ok"}])
    ended = {"duration_ms": 1, "duration_api_ms": 1, "is_error": False, "num_turns": 1}
    say({"type": "result", "subtype": "success", **ended, "result": "ok", "total_cost_usd": 0.0})


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
