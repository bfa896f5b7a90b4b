"""The agent's session of a chat: resumed if the agent can, else begun."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Awaitable
from dataclasses import dataclass, field

import config
from config.process.light_typing import Any
from workspace.engines.acp import offers
from workspace.engines.acp.agents import Agent
from workspace.engines.acp.offers import Offer, Offers
from workspace.engines.acp.servers import project_servers, service
from workspace.engines.base import Args, EngineError, Event, Job, Notice, State

VERSION = 1
AUTH_REQUIRED = -32000
SHOWN = 20
INSTRUCTIONS = "instructions"  # key of a state: fingerprint of those the session received


@dataclass
class Session:
    """An open session. `fresh`: it knows nothing of the chat yet. `state`: kept for later turns."""

    id: str
    fresh: bool
    state: Args
    offers: Offers = field(default_factory=Offers)
    sees: bool = False  # the agent takes pictures in a prompt
    model: str = ""  # the model that answers, if the agent reports it
    events: list[Event] = field(default_factory=list)


async def open_session(agent: Agent, connection: Any, job: Job) -> Session:
    """Raises EngineError, or the library's error if the agent refuses or has ended."""
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
    own = service(can, job)
    theirs, told = project_servers(agent, can, job)
    servers = [*own, *theirs]
    session = await _resume(agent, connection, job, can, servers)
    fresh = await _begin(agent, connection, job, servers) if session.fresh else session
    fresh.events = [*session.events, *fresh.events, *told]
    fresh.sees = bool(can.prompt_capabilities and can.prompt_capabilities.image)
    if fresh.fresh and job.svc and not own:
        text = f"The agent {agent.name} takes no HTTP server: it has no svc_manage tools."
        fresh.events.append(Notice("warn", "svc_manage_unavailable", text))
    offers.remember(agent.name, job.engine_cfg.get("data"), fresh.offers)
    await _put_into_mode(fresh, agent, connection, job)
    await _give_model(fresh, agent, connection, job)
    fresh.events += _who_decides(fresh, agent, job)
    return fresh


def fingerprint(instructions: str) -> str:
    return hashlib.sha256(instructions.encode()).hexdigest()[:16]


def news(session: Session, job: Job) -> list[Event]:
    """The state to keep if the instructions differ from those that the session last received."""
    told = fingerprint(job.instructions)
    if session.fresh or not job.instructions or session.state.get(INSTRUCTIONS) == told:
        return []
    session.state[INSTRUCTIONS] = told
    return [State(session.state)]


def _who_decides(session: Session, agent: Agent, job: Job) -> list[Event]:
    """A notice that only the agent knows what it asks about. It appears once in a chat, and again
    when another agent answers. In bypassPermissions no question is expected, so there is none."""
    before = job.engine_ref or {}
    known = before.get("agent") == agent.name and bool(before.get("told"))
    tell = not known and job.mode != "bypassPermissions"
    if known or tell:
        session.state["told"] = True
    state = [State(session.state)] if session.fresh or tell else []
    text = (
        f"The agent {agent.name} decides by itself what it asks about: it may edit files and run "
        "commands in this project without a question."
    )
    return [*state, *([Notice("warn", "agent_decides", text)] if tell else [])]


async def _answer(request: str, agent: Agent, answer: Awaitable[Any]) -> Any:
    try:
        async with asyncio.timeout(agent.start_seconds):
            return await answer
    except TimeoutError:
        limit = f"{agent.start_seconds} s (engines.acp.agents.{agent.name}.startSeconds)"
        text = f"The agent {agent.name} did not answer {request} within {limit}."
        raise EngineError("engine_crashed", text) from None


async def _ask(agent: Agent, connection: Any, method: str, params: Any) -> Args:
    """The raw answer: agents put more into it than the library's types know."""
    answer = await _answer(method, agent, connection._conn.send_request(method, params))
    return answer if isinstance(answer, dict) else {}


async def _resume(agent: Agent, connection: Any, job: Job, can: Any, servers: list[Any]) -> Session:
    """The session of an earlier turn, or one marked fresh that is yet to be begun."""
    from acp import RequestError

    ref = job.engine_ref or {}
    resumes = bool(can.session_capabilities and can.session_capabilities.resume)
    none = Session("", True, {})
    if ref.get("agent") != agent.name or not (resumes or can.load_session):
        return none
    method = "session/resume" if resumes else "session/load"
    params = _place(agent, job, servers) | {"sessionId": ref["session"]}
    try:
        answer = await _ask(agent, connection, method, params)
    except RequestError as error:
        if error.code == AUTH_REQUIRED:
            raise
        text = f"The agent {agent.name} no longer knows this conversation; it was given as text."
        none.events.append(Notice("warn", "engine_state_lost", text))
        return none
    return Session(ref["session"], False, dict(ref), offers.read(answer))


async def _begin(agent: Agent, connection: Any, job: Job, servers: list[Any]) -> Session:
    answer = await _ask(agent, connection, "session/new", _place(agent, job, servers))
    session = str(answer["sessionId"])
    state = {"agent": agent.name, "session": session, "cost": 0.0}
    state |= {INSTRUCTIONS: fingerprint(job.instructions)} if job.instructions else {}
    return Session(session, True, state, offers.read(answer))


def _place(agent: Agent, job: Job, servers: list[Any]) -> Args:
    given = [one.model_dump(mode="json", by_alias=True, exclude_none=True) for one in servers]
    place: Args = {"cwd": os.path.realpath(job.cwd), "mcpServers": given}
    return place | ({"_meta": dict(agent.meta)} if agent.meta else {})


async def _put_into_mode(session: Session, agent: Agent, connection: Any, job: Job) -> None:
    """Set the session mode: the one the settings name, else the agent's counterpart of the
    service's mode. In plan mode the counterpart comes first. If there is neither, the mode stays as
    it is."""
    from acp import RequestError

    offer = session.offers.modes
    own = offers.counterpart(job.mode, offer.values)
    wanted = (own or agent.mode) if job.mode == "plan" else (agent.mode or own)
    if not wanted or wanted == offer.current:
        return
    if offer.values and wanted not in offer.values:
        text = f'The agent {agent.name} has no mode "{wanted}"; it has {", ".join(offer.values)}.'
        raise EngineError("refused", text)
    try:
        await _ask(agent, connection, *_to_mode(session, wanted))
    except RequestError:
        # Gemini refuses in a folder it does not trust. It goes on asking then, and the gate allows.
        asking = offers.counterpart("default", offer.values)
        if job.mode != "bypassPermissions" or agent.mode or not asking:
            raise
        await _ask(agent, connection, *_to_mode(session, asking))


async def _give_model(session: Session, agent: Agent, connection: Any, job: Job) -> None:
    """Set the model that the message names. Raises EngineError if the agent does not have it."""
    model = (job.model or "").partition(":")[2]
    offer = session.offers.models
    session.model = model or offer.current
    if not model or model == offer.current:
        return
    if model not in offer.values:
        known = ", ".join(offer.values[:SHOWN]) or "no choice of models"
        more = f" and {len(offer.values) - SHOWN} more" if len(offer.values) > SHOWN else ""
        text = f'The agent {agent.name} has no model "{model}"; it has {known}{more}.'
        raise EngineError("refused", text)
    plain = ("session/set_model", {"modelId": model})
    await _ask(agent, connection, *_request(session, offer, model, plain))


def _to_mode(session: Session, mode: str) -> tuple[str, Args]:
    plain = ("session/set_mode", {"modeId": mode})
    return _request(session, session.offers.modes, mode, plain)


def _request(
    session: Session, offer: Offer, value: str, plain: tuple[str, Args]
) -> tuple[str, Args]:
    """The request that sets a value: the session's own, or the option that holds the value."""
    method, params = plain
    if offer.option:
        method, params = "session/set_config_option", {"configId": offer.option, "value": value}
    return method, {"sessionId": session.id, **params}
