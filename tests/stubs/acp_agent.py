"""A tiny ACP agent process, `python acp_agent.py <script.json>`: the library's own agent side.

The script is {"can": {...}, "prompts": [[step, ...], ...]}. The n-th prompt of a session plays the
n-th list, the last one again when there are no more. Sessions are files below `$HOME/.acp-stub`,
so a session outlives its process; `log.jsonl` beside them holds every request it was sent.

can: load, resume, http, image (true/false), auth ([method ids] it wants one of before a session),
modes ([ids]), models ([ids]), version (of the protocol), mute (never answers initialize).
`options` true: the modes are a configuration option; `listed` true: the models are the session's
own list; `wary`: the mode that it refuses to be put into.
A step is one of
  {"say": text}  {"think": text}  {"plan": [[content, status], ...]}  {"raw": line on stdout}
  {"tool": {"kind", "title", "path"?, "input"?, "own"?, "diff"?}, "ask"?: true, "stubborn"?: true,
   "then"?: step}
  {"write": [path, content]}  {"run": command}  {"env": name}  {"echo": true}  {"usage": [in, out]}
  {"cost": usd}  {"manage": [operation, arguments]}  {"fail": [code, message, data?]}
  {"crash": stderr}
  {"hang": true}  {"deaf": true}  {"stop": reason}
`ask` asks for permission and does `then` only if it is given (`stubborn`: anyway). `hang` waits for
cancel, `deaf` does not listen to it either.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import urllib.request
import uuid
from pathlib import Path
from typing import Any

import acp
from acp import schema
from acp.agent import connection
from pydantic import BaseModel, Field

Step = dict[str, Any]
OPTIONS = [
    schema.PermissionOption(option_id=kind, name=kind, kind=kind)
    for kind in ("allow_always", "allow_once", "reject_once")
]


class Opened(schema.NewSessionResponse):
    """An answer with the list of models that agents send and the library does not know."""

    models: dict[str, Any] | None = None


class Loaded(schema.LoadSessionResponse):
    models: dict[str, Any] | None = None


class SetModel(BaseModel):
    session_id: str = Field(alias="sessionId")
    model_id: str = Field(alias="modelId")


def with_models(agent: Any, **settings: Any) -> Any:
    """The library's routes, and the request that goes with that list."""
    router = build_router(agent, **settings)
    router.route_request("session/set_model", SetModel, agent, "set_session_model")
    return router


BUILDER = "build_agent_router"  # which the library has no public way to add to
build_router = getattr(connection, BUILDER)


class Agent:
    """Plays the script; everything it is told is logged."""

    def __init__(self, script: dict[str, Any], home: Path) -> None:
        self.can, self.prompts, self.home = script.get("can", {}), script["prompts"], home
        self.client: Any = None
        self.logged_in = not self.can.get("auth")
        self.servers: list[Any] = []
        self.cancelled = asyncio.Event()
        self.usage: schema.Usage | None = None
        home.mkdir(parents=True, exist_ok=True)

    def on_connect(self, conn: Any) -> None:
        self.client = conn

    def log(self, method: str, **params: Any) -> None:
        with (self.home / "log.jsonl").open("a") as file:
            file.write(json.dumps({"method": method, **params}, default=str) + "\n")

    def history(self, session: str) -> Path:
        return self.home / f"{session}.json"

    async def initialize(self, protocol_version: int, **kwargs: Any) -> schema.InitializeResponse:
        capabilities = kwargs["client_capabilities"].model_dump(exclude_none=True)
        self.log("initialize", version=protocol_version, client=capabilities)
        can = self.can
        if can.get("mute"):
            await asyncio.Event().wait()
        return schema.InitializeResponse(
            protocol_version=can.get("version", protocol_version),
            agent_info=schema.Implementation(name="stub", version="1.2.3"),
            auth_methods=[
                schema.AuthMethodAgent(id=name, name=name) for name in can.get("auth", [])
            ],
            agent_capabilities=schema.AgentCapabilities(
                load_session=bool(can.get("load")),
                mcp_capabilities=schema.McpCapabilities(http=bool(can.get("http"))),
                prompt_capabilities=schema.PromptCapabilities(image=bool(can.get("image"))),
                session_capabilities=schema.SessionCapabilities(
                    resume=schema.SessionResumeCapabilities() if can.get("resume") else None
                ),
            ),
        )

    async def authenticate(self, method_id: str, **_: Any) -> schema.AuthenticateResponse:
        self.log("authenticate", way=method_id)
        self.logged_in = method_id in self.can["auth"]
        return schema.AuthenticateResponse()

    async def new_session(
        self, cwd: str, mcp_servers: Any = None, **meta: Any
    ) -> schema.NewSessionResponse:
        told = {key: value for key, value in meta.items() if key != "additional_directories"}
        given = [one.model_dump(mode="json", exclude_none=True) for one in mcp_servers or []]
        names = self._take(mcp_servers)
        self.log("new_session", cwd=cwd, servers=names, given=given, meta=told)
        if not self.logged_in:
            raise acp.RequestError.auth_required()
        session = uuid.uuid4().hex
        self.history(session).write_text("[]")
        return Opened(session_id=session, **self._choices())

    def _take(self, servers: Any) -> list[str]:
        self.servers = servers or []
        return [server.name for server in self.servers]

    def _choices(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        modes, models = self.can.get("modes") or [], self.can.get("models") or []
        options = []
        if modes and self.can.get("options"):
            options.append(select("how", "mode", modes))
        elif modes:
            rows = [schema.SessionMode(id=name, name=name) for name in modes]
            found["modes"] = schema.SessionModeState(current_mode_id=modes[0], available_modes=rows)
        if models and self.can.get("listed"):
            known = [{"modelId": name, "name": name} for name in models]
            found["models"] = {"currentModelId": models[0], "availableModels": known}
        elif models:
            options.append(select("which", "model", models))
        if options:
            found["config_options"] = options
        return found

    async def load_session(
        self, cwd: str, session_id: str, mcp_servers: Any = None, **_: Any
    ) -> schema.LoadSessionResponse:
        self.log("load_session", session=session_id, servers=self._take(mcp_servers))
        for told in self._known(session_id):
            await self.update(session_id, acp.update_user_message_text(told))
            await self.update(session_id, acp.update_agent_message_text(f"replayed: {told}"))
        return Loaded(**self._choices())

    async def resume_session(
        self, cwd: str, session_id: str, mcp_servers: Any = None, **_: Any
    ) -> schema.ResumeSessionResponse:
        self.log("resume_session", session=session_id, servers=self._take(mcp_servers))
        self._known(session_id)
        return schema.ResumeSessionResponse(**self._choices())

    def _known(self, session: str) -> list[str]:
        if not self.history(session).exists():
            raise acp.RequestError.resource_not_found(session)
        found: list[str] = json.loads(self.history(session).read_text())
        return found

    async def set_session_mode(self, session_id: str, mode_id: str, **_: Any) -> Any:
        self.log("set_session_mode", mode=mode_id)
        if mode_id == self.can.get("wary"):
            raise acp.RequestError.internal_error({"details": "the folder is not trusted"})
        return schema.SetSessionModeResponse()

    async def set_session_model(self, session_id: str, model_id: str, **_: Any) -> Any:
        self.log("set_session_model", model=model_id)
        return {}

    async def set_config_option(self, config_id: str, session_id: str, value: Any, **_: Any) -> Any:
        self.log("set_config_option", option=config_id, value=value)
        return schema.SetSessionConfigOptionResponse(config_options=[])

    async def cancel(self, session_id: str, **_: Any) -> None:
        self.log("cancel", session=session_id)
        self.cancelled.set()

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> schema.PromptResponse:
        text = "\n".join(block.text for block in prompt if block.type == "text")
        pictures = [(one.mime_type, one.data) for one in prompt if one.type == "image"]
        self.log("prompt", session=session_id, text=text, pictures=pictures)
        told = self._known(session_id)
        self.history(session_id).write_text(json.dumps([*told, text]))
        stop = "end_turn"
        for step in self.prompts[min(len(told), len(self.prompts) - 1)]:
            stop = await self.play(session_id, step, text) or stop
        return schema.PromptResponse(stop_reason=stop, usage=self.usage)  # type: ignore[arg-type]

    async def update(self, session: str, update: Any) -> None:
        await self.client.session_update(session, update)

    async def play(self, session: str, step: Step, text: str) -> str | None:
        """One step; the stop reason when it decides that."""
        match step:
            case {"tool": tool}:
                await self._tool(session, tool, step, text)
            case {"fail": [code, message, *data]}:
                raise acp.RequestError(code, message, *data)
            case {"crash": words}:
                os.write(2, words.encode())
                os._exit(3)
            case {"hang": _}:
                await self.cancelled.wait()
                return "cancelled"
            case {"deaf": _}:
                await asyncio.Event().wait()
            case {"stop": reason}:
                return str(reason)
            case {"usage": [given, made]}:
                self.usage = schema.Usage(
                    input_tokens=given, output_tokens=made, total_tokens=given + made
                )
            case _:
                await self._tell(session, step, text)
        return None

    async def _tell(self, session: str, step: Step, text: str) -> None:
        match step:
            case {"think": words}:
                await self.update(session, acp.update_agent_thought_text(words))
            case {"plan": entries}:
                told = [acp.plan_entry(content, status=state) for content, state in entries]
                await self.update(session, acp.update_plan(told))
            case {"cost": amount}:
                cost = schema.Cost(amount=amount, currency="USD")
                update = schema.UsageUpdate(
                    session_update="usage_update", used=1, size=2, cost=cost
                )
                await self.update(session, update)
            case {"raw": line}:
                os.write(1, f"{line}\n".encode())
            case _:
                await self.update(session, acp.update_agent_message_text(self.do(step, text)))

    def do(self, step: Step, text: str) -> str:
        """The step's effect on the world, and what it gave."""
        match step:
            case {"say": words}:
                return str(words)
            case {"echo": _}:
                return text
            case {"env": name}:
                return f"{name}={os.environ.get(name)}"
            case {"write": [path, content]}:
                try:
                    Path(path).write_text(content)
                except OSError as error:
                    return f"not written: {error.strerror}"
                return f"wrote {path}"
            case {"run": command}:
                done = subprocess.run(
                    command, shell=True, text=True, check=False,
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                )  # fmt: skip
                return done.stdout
            case {"manage": [operation, arguments]}:
                return self._manage(operation, arguments)
        raise ValueError(f"no such step: {step}")

    def _manage(self, operation: str, arguments: dict[str, Any]) -> str:
        server = self.servers[0]
        body = {
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": operation, "arguments": arguments},
        }  # fmt: skip
        headers = {header.name: header.value for header in server.headers} | {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        request = urllib.request.Request(server.url, json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=20) as response:
            return str(response.read().decode())

    async def _tool(self, session: str, tool: Step, step: Step, text: str) -> None:
        call = f"call_{uuid.uuid4().hex[:6]}"
        where = [schema.ToolCallLocation(path=tool["path"])] if "path" in tool else None
        known = {"kind": tool["kind"], "title": tool["title"], "locations": where}
        begun = acp.start_tool_call(call, **known, status="pending", raw_input=tool.get("input"))
        if "own" in tool:
            begun.field_meta = {"maker": {"toolName": tool["own"]}}
        if "diff" in tool:
            path, old, new = tool["diff"]
            begun.content = [acp.tool_diff_content(path, new, old)]
        await self.update(session, begun)
        allowed = not step.get("ask") or await self._asked(session, call, known, tool)
        if not allowed and not step.get("stubborn"):
            await self.update(session, acp.update_tool_call(call, status="failed"))
            return
        await self.update(session, acp.update_tool_call(call, status="in_progress"))
        told = self.do(step["then"], text) if "then" in step else "done"
        content = [acp.tool_content(acp.text_block(told))]
        await self.update(session, acp.update_tool_call(call, status="completed", content=content))

    async def _asked(self, session: str, call: str, known: Step, tool: Step) -> bool:
        update = schema.ToolCallUpdate(tool_call_id=call, raw_input=tool.get("input"), **known)
        answer = await self.client.request_permission(
            session_id=session, tool_call=update, options=OPTIONS
        )
        outcome = answer.outcome
        self.log("permission", outcome=outcome.outcome, option=getattr(outcome, "option_id", None))
        return getattr(outcome, "option_id", "").startswith("allow")


def select(key: str, category: Any, names: list[str]) -> schema.SessionConfigOptionSelect:
    options = [schema.SessionConfigSelectOption(value=name, name=name) for name in names]
    return schema.SessionConfigOptionSelect(
        id=key, name=key, category=category, type="select",
        current_value=names[0], options=options,
    )  # fmt: skip


def main() -> None:
    script = json.loads(Path(sys.argv[1]).read_text())
    setattr(connection, BUILDER, with_models)
    agent = Agent(script, Path(os.environ["HOME"]) / ".acp-stub")
    asyncio.run(acp.run_agent(agent, use_unstable_protocol=True))  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
