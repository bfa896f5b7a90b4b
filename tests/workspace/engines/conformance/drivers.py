"""How each engine is made to say and to call something: its real self against a scripted other
side. A new engine joins with a driver here and nothing else.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import util
from pathlib import Path
from typing import Any

from tests.stubs import anthropic, openai
from tests.workspace.chats.turns.world import BASE, Running, World, fence
from workspace import ids
from workspace.engines.catalogue import service

KEY = "sk-dummy-0123456789abcdef"
Record = dict[str, Any]
Fields = dict[str, Any]


@dataclass(frozen=True)
class Say:
    """Text. `held`: it is begun, and ends no sooner than the turn is stopped."""

    words: str
    held: bool = False


@dataclass(frozen=True)
class Use:
    """A call of a tool."""

    tool: str
    args: dict[str, Any]


class Driver:
    """One engine in a world of its own. What a turn does is a list of replies of its model."""

    name = ""
    package: str | None = None  # what has to be installed
    failure = ("error", "auth_failed")  # how a turn ends whose other side refuses it
    remembers = True  # it has a model, which gets what was said before
    streams = True  # its text is said bit by bit

    def __init__(self, root: Path) -> None:
        self.world = World(root)

    @classmethod
    def missing(cls) -> str | None:
        if cls.package is None or util.find_spec(cls.package):
            return None
        return f"the {cls.name} engine is not installed ({cls.package})"

    def expect(self, *replies: Say | Use) -> None:
        """What the next turn does, one reply after the other."""
        raise NotImplementedError

    def refuse(self) -> None:
        """The next turn's model, agent or document is of no use."""
        raise NotImplementedError

    def fields(self) -> Fields:
        raise NotImplementedError

    def offered(self) -> list[str]:
        """The tools that the model was shown in the last turn's first request."""
        raise NotImplementedError

    def told(self) -> str:
        """Everything that the model knew when it was asked last."""
        raise NotImplementedError

    def prompt(self, words: str) -> str:
        return words

    def start(self, words: str = "Go on", **more: Any) -> Running:
        own = self.fields() | {"engine_ref": self._ref()} | more
        return self.world.start(self.world.job(self.prompt(words), engine=self.name, **own))

    def run(self, words: str = "Go on", **more: Any) -> list[Record]:
        """The records of one turn that ends by itself."""
        running = self.start(words, **more)
        code, log = running.end()
        assert code == 0, log
        return self.world.records(running.job.turn)

    def fork(self) -> None:
        """From here on a fork of the chat: the same bytes under another name."""
        data = self.world.transcript.read_bytes()
        self.world.chat = ids.session_id()
        self.world.transcript.write_bytes(data)

    def _ref(self) -> Any:
        """What the engine last said of itself, as the worker puts it into a job."""
        said = [record for record in self.world.records() if record["type"] == "engine"]
        states = [record["state"] for record in said if "state" in record]
        return states[-1] if states else None


class Runbook(Driver):
    """Its document is the script."""

    name = "runbook"
    failure = ("error", "runbook_syntax")
    remembers = streams = False

    def expect(self, *replies: Say | Use) -> None:
        parts = [
            f"{reply.words}\n"
            if isinstance(reply, Say)
            else fence(reply.tool, self._body(reply), f"allow_failure {self._attrs(reply)}")
            for reply in replies
        ]
        if not any(isinstance(reply, Use) for reply in replies):
            parts.append(fence("TodoWrite", '{"todos": []}'))  # a document has at least one step
        self.document = "#!runbook\n" + "".join(parts)

    @staticmethod
    def _attrs(use: Use) -> str:
        return f"file_path={use.args['file_path']}" if use.tool == "Write" else ""

    @staticmethod
    def _body(use: Use) -> str:
        match use.tool:
            case "Bash":
                return str(use.args["command"])
            case "Write":
                return str(use.args["content"])
        return json.dumps(use.args)

    def refuse(self) -> None:
        self.document = "#!runbook\n```Bash\nnever closed\n"

    def prompt(self, words: str) -> str:
        return self.document

    def fields(self) -> Fields:
        return {}

    def offered(self) -> list[str]:
        return []  # there is nobody to offer anything to


class _Scripted(Driver):
    """An engine whose model is one of the stubs."""

    def __init__(self, root: Path, stub: anthropic.Stub) -> None:
        super().__init__(root)
        self.stub = stub
        self.begun = 0

    def expect(self, *replies: Say | Use) -> None:
        self.begun = len(self.stub.asked)
        for reply in replies:
            if isinstance(reply, Use):
                self.stub.say(anthropic.use(reply.tool, reply.args))
            else:
                self.stub.say(anthropic.text(reply.words), piece=8, hold=2 if reply.held else None)

    def refuse(self) -> None:
        self.stub.fail(401, times=5)

    def offered(self) -> list[str]:
        return self.stub.asked[self.begun].tools

    def told(self) -> str:
        return "\n".join(words for _, words in self.stub.asked[-1].messages)


class Builtin(_Scripted):
    name = "builtin"
    package = "pydantic_ai"

    def fields(self) -> Fields:
        given = {
            "keys": {"OPENAI_API_KEY": KEY},
            "settings": {"openai": {"baseUrl": self.stub.url}},
        }
        return {"model": "openai:gpt-x", "engine_cfg": {"tools": {}, "local_url": "", **given}}


class Claude(_Scripted):
    name = "claude"
    package = "claude_agent_sdk"

    def fields(self) -> Fields:
        cfg = {
            "tools": {},
            "keys": {"ANTHROPIC_API_KEY": KEY},
            "settings": {"baseUrl": self.stub.url},
            "data": str(self.world.root / "data/engines/claude"),
            "home": str(self.world.root / "user"),
            "local_url": "",
        }
        return {"engine_cfg": cfg}


_KINDS = {"Bash": "execute", "Write": "edit", "Read": "read"}


class Acp(Driver):
    """A real agent process that plays a script; one session goes on from turn to turn."""

    name = "acp"
    package = "acp"

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.prompts: list[list[Any]] = []

    @property
    def script(self) -> Path:
        return self.world.root / "script.json"

    def expect(self, *replies: Say | Use) -> None:
        self._play([step for reply in replies for step in self._steps(reply)])

    def refuse(self) -> None:
        self._play([{"fail": [-32000, "Authentication required"]}])

    def _play(self, steps: list[Any]) -> None:
        self.prompts.append(steps)
        can = {"resume": True, "http": True}
        self.script.write_text(json.dumps({"can": can, "prompts": self.prompts}))

    def _steps(self, reply: Say | Use) -> list[Any]:
        if isinstance(reply, Say):
            half = {"say": reply.words[:16]}
            return [half, {"hang": True}] if reply.held else [{"say": reply.words}]
        if own := service(reply.tool):
            return [{"manage": [own[1], reply.args]}]
        tool = {"kind": _KINDS[reply.tool], "title": reply.tool, "input": reply.args}
        then = {"run": reply.args.get("command", "true")}
        return [{"tool": tool, "ask": True, "then": then}]

    def fields(self) -> Fields:
        command = [sys.executable, str(BASE / "tests/stubs/acp_agent.py"), str(self.script)]
        cfg = {"settings": {"agents": {"stub": {"command": command}}}, "keys": {}}
        return {"model": "stub", "engine_cfg": cfg}

    def offered(self) -> list[str]:
        raise AssertionError("an agent's tools are its own")

    def told(self) -> str:
        folder = self.world.home / ".acp-stub"
        lines = (folder / "log.jsonl").read_text().splitlines()
        last = [entry for line in lines if (entry := json.loads(line))["method"] == "prompt"][-1]
        known: list[str] = json.loads((folder / f"{last['session']}.json").read_text())
        return "\n".join(known)


ALL: dict[str, type[Driver]] = {driver.name: driver for driver in (Runbook, Claude, Builtin, Acp)}
_SERVERS = {"builtin": openai.serve, "claude": anthropic.serve}


@contextmanager
def driving(name: str, root: Path) -> Iterator[Driver]:
    """The driver of one engine, and the server it needs."""
    made: Any = ALL[name]
    if name not in _SERVERS:
        yield made(root)
        return
    with _SERVERS[name]() as stub:
        yield made(root, stub)
