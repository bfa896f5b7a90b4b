"""What the service and an engine share: job, events, the two protocols. What they mean:
docs/design/engines.md#the-engine-protocol.

Values are NamedTuples of light_typing and not dataclasses, because the modules a turn process loads
are most of what it costs (promise S5). Nothing here knows Django, files or settings.
"""

from __future__ import annotations

import json
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Collection,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AbstractContextManager
from types import MappingProxyType

from config.process.light_typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from workspace.engines.mcp.server import Server
from workspace.engines.network import Network
from workspace.engines.sandbox import Sandbox

if TYPE_CHECKING:
    from workspace.engines.runner import Runner

Args = dict[str, Any]
AGAIN = "again"  # a kind of delta: what was streamed of this block so far is void
NAMES = ("runbook", "claude", "builtin", "acp")
# Files of a working directory that hold instructions for agents, in the order they are sent.
INSTRUCTIONS = ("AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md")


class EngineError(Exception):
    """A turn that cannot go on: the reason word of its outcome and a sentence for the chat."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason
        self.text = text


class Probe(NamedTuple):
    """Whether an engine can be used now; `reason` says why not, and is None when it can."""

    available: bool
    reason: str | None = None
    version: str | None = None
    models: tuple[str, ...] = ()


class Text(NamedTuple):
    text: str
    block: str
    partial: bool = False
    ref: str | None = None
    task: str | None = None


class Thinking(NamedTuple):
    text: str
    block: str
    partial: bool = False
    ref: str | None = None
    task: str | None = None


class ToolUse(NamedTuple):
    tool: str
    call: str
    input: Args
    task: str | None = None


class ToolResult(NamedTuple):
    call: str
    is_error: bool
    text: str
    ms: int
    status: int | None = None


class Notice(NamedTuple):
    level: str  # info, warn, error
    code: str
    text: str


class Answered(NamedTuple):
    """Which model replied last, by its own account, and how full its context is after that.

    `context` is {used, limit} in tokens. It is None, or `limit` in it is, if it was not reported.
    """

    model: str | None = None
    context: Args | None = None


class State(NamedTuple):
    """What `Job.engine_ref` holds at the next turn of the chat; never served over HTTP."""

    data: Args


class Messages(NamedTuple):
    """Messages of this turn in the engine's own form, for its next one; never served over HTTP."""

    messages: list[Any]


class End(NamedTuple):
    """The outcome (docs/design/engines.md#outcomes); exactly one, last."""

    status: str
    reason: str | None = None
    text: str | None = None
    turns: int | None = None  # None = unknown, never guessed
    usage: Args | None = None
    cost: float | None = None
    after: float | None = None  # rate_limited: seconds the provider asks for; inf = for good


Event = Text | Thinking | ToolUse | ToolResult | Notice | Answered | State | Messages | End


class Linked(NamedTuple):
    """The worktree that a chat has for itself, as git has it: its top, the directory of its index
    and HEAD, and what it shares with the repository. All are real paths."""

    top: str
    own: str
    common: str


class Job(NamedTuple):
    """Everything a turn process is given: the first line of its stdin, made by the worker.

    `tools` None = all, a list = exactly those, [] = none. `engine` None = no engine can run this
    message, and `refusal` is the reason (needs_engine). `svc` is {url, token, ops, parts} or None
    (see catalogue.part_tools), `event` is {name, chat, project} or None. `engine_ref` is what this
    engine yielded as `State` in an earlier turn of the chat, `fork_source` is {sessionId, at,
    offset, seq}. `attachments_dir` may be read from a `cwd` that is the user's own directory; it is
    "" elsewhere. `engine_cfg` is made by select.engine_cfg. `keep` says where to note what file
    tools do (workspace/trees/touched.py), `notices` (level, code, text) are yielded first. `told`
    lists the places of `instructions`, for the record only; None if the engine is not sent any.
    `servers` are the MCP servers that people gave to the project, `servers_seen` is the file that
    remembers what became of each. `retry` is {times, seconds, try, since, turns, usage, cost, ms}
    or None: how long a rate limit is waited out, the number of this try, and what the tries before
    it used. `images` are files that the message names. `allow` are rules of allowing.py. `waits`:
    no person attends the turn, but its questions wait for one. A question waits `ask_seconds`, or
    up to `ask_most` while a person keeps it open. `linked` is the worktree of a chat that has its
    own. Keys and the bearer exist only here.
    """

    turn: str
    chat: str
    project: str
    cwd: str
    chats_dir: str
    run_dir: str
    worker_pid: int
    prompt: str
    message: str
    sender: Args
    engine: str | None
    engine_version: str | None = None
    event: Args | None = None
    origin: str = "human"
    trigger: str | None = None
    client: str | None = None
    depth: int = 0
    model: str | None = None
    refusal: str = ""
    tools: list[str] | None = None
    mode: str = "default"
    max_turns: int = 200
    turn_seconds: int = 1800
    ask_seconds: int = 600
    ask_most: int = 86_400
    allow: tuple[str, ...] = ()
    attended: bool = False
    waits: bool = False
    may_spawn: bool = False
    instructions: str = ""
    told: list[Args] | None = None
    engine_ref: Args | None = None
    fork_source: Args | None = None
    svc: Args | None = None
    secrets: tuple[str, ...] = ()
    attachments_dir: str = ""
    sandbox: Sandbox = Sandbox()
    network: Network = Network()
    engine_cfg: Mapping[str, Any] = MappingProxyType({})
    keep: Args | None = None
    notices: tuple[tuple[str, str, str], ...] = ()
    servers: tuple[Server, ...] = ()
    servers_seen: str = ""
    retry: Args | None = None
    images: tuple[str, ...] = ()
    linked: Linked | None = None

    @property
    def attempt(self) -> int:
        """The number of this try, from 1."""
        return int((self.retry or {}).get("try") or 1)

    @property
    def replied(self) -> int:
        """How many of its `max_turns` replies the earlier tries of this turn used."""
        return int((self.retry or {}).get("turns") or 0)

    def to_json(self) -> bytes:
        """One line of JSON, as it is written to the turn process."""
        fields = self._asdict()
        fields |= {
            "sandbox": self.sandbox._asdict(),
            "network": self.network._asdict(),
            "engine_cfg": dict(self.engine_cfg),
            "servers": [server.to_json() for server in self.servers],
        }
        return json.dumps(fields, separators=(",", ":")).encode() + b"\n"

    @classmethod
    def from_json(cls, line: bytes) -> Job:
        """The job of such a line. Raises ValueError if the line is not a job."""
        try:
            fields = json.loads(line)
            fields["sandbox"] = Sandbox.from_json(fields["sandbox"])
            fields["network"] = Network.from_json(fields["network"])
            fields["secrets"] = tuple(fields["secrets"])
            fields["images"] = tuple(fields["images"])
            fields["allow"] = tuple(fields["allow"])
            fields["notices"] = tuple(tuple(notice) for notice in fields["notices"])
            fields["servers"] = tuple(map(Server.from_json, fields["servers"]))
            fields["linked"] = Linked(*fields["linked"]) if fields["linked"] else None
            return cls(**fields)
        except (TypeError, KeyError, UnicodeDecodeError) as error:
            raise ValueError(f"unreadable job: {error}") from None


class TurnIO(Protocol):
    """What an engine may ask of its turn."""

    async def gate(self, tool: str, args: Args, call: str) -> str | None:
        """None if the call is allowed, else the denial text. May wait for a person."""
        ...

    async def svc(self, tool: str, args: Args, seconds: float = 60) -> tuple[bool, str]:
        """Call one operation of this service by the name of its tool: (is_error, text)."""
        ...

    def wrap(
        self,
        argv: list[str],
        *,
        writable: Sequence[str] = (),
        needed: Sequence[str] = (),
        endpoints: Sequence[tuple[str, int]] = (),
    ) -> list[str]:
        """The command in a sandbox of its own. `needed` paths are bound read-only; `endpoints`
        (host pattern, port) can be reached whatever the network of the turn is."""
        ...

    def runner(self, tool: str, args: Args) -> Runner | None:
        """The sandbox in which the call runs; None if it runs in this process."""
        ...

    def count(self, host: str, port: int, refused: bool) -> None:
        """Count a host that was reached, or refused, for the turn from outside the sandbox."""
        ...

    def delta(self, block: str, kind: str, text: str) -> None:
        """Send live text. `kind` is text or thinking, or AGAIN with empty text. The record with the
        same block replaces it."""
        ...

    def denial(self, path: str, *, write: bool) -> str | None:
        """Why this real path may not be opened now, else None."""
        ...

    def stoppable(self) -> AbstractContextManager[None]:
        """A context in which Stop raises at once; outside it Stop waits for the next entry."""
        ...

    def on_stop(self, farewell: Callable[[], Awaitable[object]]) -> None:
        """Set what to say to a child when Stop comes, before it is killed (looped engines only)."""
        ...

    def earlier(self) -> Iterator[Args]:
        """Records of the chat before this try of the turn, the newest first."""
        ...


class Engine(Protocol):
    """One way to run a turn. Closing `run` is Stop: its children are dead within 2 s.

    `cfg` is what select.engine_cfg makes. A `looped` engine runs under asyncio (looped.py); an
    engine that is not looped never suspends.
    """

    name: str
    looped: bool

    def probe(self, cfg: Mapping[str, Any]) -> Probe:
        """Whether it can run now, without starting anything that lasts over a second."""
        ...

    def default_model(self, cfg: Mapping[str, Any]) -> str | None:
        """The model of a message that names none; None = the engine's own choice."""
        ...

    def preflight(self, job: Job) -> str | None:
        """One sentence if the job is refused before anything is started, else None."""
        ...

    def reads(self, model: str | None, cfg: Mapping[str, Any]) -> Collection[str]:
        """Those of INSTRUCTIONS that the engine reads by itself and need not be sent."""
        ...

    def run(self, job: Job, io: TurnIO) -> AsyncGenerator[Event, None]: ...


def engine(name: str) -> Engine:
    """The engine of that name; importing it loads no optional package. Raises EngineError."""
    if name not in NAMES:
        raise EngineError("refused", f'There is no engine "{name}".')
    found: Engine = __import__(f"workspace.engines.{name}", fromlist=["ENGINE"]).ENGINE
    return found
