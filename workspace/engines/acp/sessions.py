"""The agent's session of a chat: found again where the agent can (engine.md 4.6), else begun."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable
from dataclasses import dataclass, field

import config
from workspace.engines.acp.agents import Agent
from workspace.engines.base import Args, EngineError, Event, Job, Notice, State
from workspace.engines.light_typing import Any

VERSION = 1
ANSWER_S = 60
AUTH_REQUIRED = -32000


@dataclass
class Session:
    """An open session. `fresh`: it knows nothing of the chat yet. `state`: what is kept of it."""

    id: str
    fresh: bool
    state: Args
    choices: Any  # the modes and options the agent answered with
    events: list[Event] = field(default_factory=list)


async def open_session(agent: Agent, connection: Any, job: Job) -> Session:
    """Raises EngineError, or what the library raises when the agent refuses or is gone."""
    from acp import schema

    about = schema.Implementation(name="svc", version=config.__version__)
    greeted = await _answer(
        "initialize", agent, connection.initialize(protocol_version=VERSION, client_info=about)
    )
    if greeted.protocol_version != VERSION:
        text = f"The agent {agent.name} speaks version {greeted.protocol_version} of the protocol"
        raise EngineError("engine_crashed", f"{text}, this service speaks version {VERSION}.")
    if agent.login:
        await _answer("authenticate", agent, connection.authenticate(method_id=agent.login))
    can = greeted.agent_capabilities or schema.AgentCapabilities()
    servers = _servers(can, job)
    session = await _known(agent, connection, job, can, servers)
    fresh = await _begun(agent, connection, job, servers) if session.fresh else session
    fresh.events = [*session.events, *fresh.events]
    if fresh.fresh and job.svc and not servers:
        text = f"The agent {agent.name} takes no HTTP server: it has no svc_manage tools."
        fresh.events.append(Notice("warn", "svc_manage_unavailable", text))
    await _put_into_mode(fresh, agent, connection, job)
    await _give_model(fresh, agent, connection, job)
    return fresh


async def _answer(request: str, agent: Agent, answer: Awaitable[Any]) -> Any:
    try:
        async with asyncio.timeout(ANSWER_S):
            return await answer
    except TimeoutError:
        text = f"The agent {agent.name} did not answer {request} within {ANSWER_S} s."
        raise EngineError("engine_crashed", text) from None


def _servers(can: Any, job: Job) -> list[Any]:
    """The service's own tools, for an agent that can call them."""
    from acp import schema

    if not job.svc or not (can.mcp_capabilities and can.mcp_capabilities.http):
        return []
    bearer = schema.HttpHeader(name="Authorization", value=f"Bearer {job.svc['token']}")
    return [
        schema.HttpMcpServer(
            type="http", name="svc_manage", url=job.svc["url"], headers=[bearer]
        )
    ]  # fmt: skip


async def _known(agent: Agent, connection: Any, job: Job, can: Any, servers: list[Any]) -> Session:
    """The session of an earlier turn, or a fresh one yet to be begun."""
    from acp import RequestError

    ref = job.engine_ref or {}
    resumes = bool(can.session_capabilities and can.session_capabilities.resume)
    none = Session("", True, {}, None)
    if ref.get("agent") != agent.name or not (resumes or can.load_session):
        return none
    ask = connection.resume_session if resumes else connection.load_session
    request = ask(cwd=os.path.realpath(job.cwd), session_id=ref["session"], mcp_servers=servers)
    try:
        choices = await _answer("resume" if resumes else "load", agent, request)
    except RequestError as error:
        if error.code == AUTH_REQUIRED:
            raise
        text = f"The agent {agent.name} no longer knows this conversation; it is told of it again."
        none.events.append(Notice("warn", "engine_state_lost", text))
        return none
    return Session(ref["session"], False, dict(ref), choices)


async def _begun(agent: Agent, connection: Any, job: Job, servers: list[Any]) -> Session:
    request = connection.new_session(cwd=os.path.realpath(job.cwd), mcp_servers=servers)
    made = await _answer("session/new", agent, request)
    state = {"agent": agent.name, "session": made.session_id, "cost": 0.0}
    return Session(made.session_id, True, state, made, [State(state)])


async def _put_into_mode(session: Session, agent: Agent, connection: Any, job: Job) -> None:
    """The mode the settings name; `plan` in plan mode where the agent has it."""
    modes = getattr(session.choices, "modes", None)
    offered = [mode.id for mode in modes.available_modes] if modes else []
    wanted = "plan" if job.mode == "plan" and "plan" in offered else agent.mode
    if not wanted or (modes and wanted == modes.current_mode_id):
        return
    if modes and wanted not in offered:
        text = f'The agent {agent.name} has no mode "{wanted}"; it has {", ".join(offered)}.'
        raise EngineError("refused", text)
    request = connection.set_session_mode(mode_id=wanted, session_id=session.id)
    await _answer("session/set_mode", agent, request)


async def _give_model(session: Session, agent: Agent, connection: Any, job: Job) -> None:
    """The model the message names; another one is never used in its place."""
    model = (job.model or "").partition(":")[2]
    if not model:
        return
    options = getattr(session.choices, "config_options", None) or []
    option = next((one for one in options if one.category == "model"), None)
    offered = _values(option.options) if option and option.type == "select" else []
    if option is None or model not in offered:
        known = ", ".join(offered) or "no choice of models"
        text = f'The agent {agent.name} has no model "{model}"; it has {known}.'
        raise EngineError("refused", text)
    if option.current_value != model:
        request = connection.set_config_option(
            config_id=option.id, session_id=session.id, value=model
        )
        await _answer("session/set_config_option", agent, request)


def _values(options: list[Any]) -> list[str]:
    """The values of a list of options, or of a list of groups of them."""
    return [one.value for entry in options for one in (getattr(entry, "options", None) or [entry])]
