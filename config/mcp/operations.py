"""The registry: each MCP tool is declared once, for callers outside and for running turns.

A part owns one Registry, in its `mcp/catalogue.py`. Every call goes through `Registry.run`, so the
permission check of the principal is the same whatever brought it; views call the nouns themselves.
An operation returns a domain value, which `Operation.render` makes the result of the tool.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol


class Principal(Protocol):
    """The caller. It decides what it may see and do; the registry only asks."""

    @property
    def defaults(self) -> Mapping[str, str]:
        """Required arguments this caller may leave out: a turn's own project and session_id."""
        ...

    def grants(self, operation: Operation) -> bool:
        """Whether the operation exists for this caller (else: Unknown tool)."""
        ...

    def check(self, operation: Operation, arguments: Mapping[str, Any]) -> None:
        """Raise errors.Denied when the operation or the project it names is out of scope."""
        ...


class Unrestricted:
    """Of a principal that may do everything: any caller on this machine, without a credential."""

    __slots__ = ()

    def grants(self, operation: Operation) -> bool:
        return True

    def check(self, operation: Operation, arguments: Mapping[str, Any]) -> None:
        """Nothing is out of scope."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One flat argument, read by config/mcp/arguments.py.

    `kind`: string (trimmed), name (one line, 200 characters at most), text (a prompt: kept as is,
    100,000 characters at most), boolean, integer, list, prompts, json (any value; the noun looks
    at it). `choices` are published in the schema, and other words are refused.
    """

    name: str
    kind: str
    meaning: str = ""
    required: bool = False
    absent: str = ""  # why it cannot be left out: "`project` is required (<absent>)."
    default: Any = None
    choices: tuple[str, ...] = ()
    judged: bool = False  # the noun takes more than the choices, or says more of other words
    least: int | None = None
    most: int | None = None
    clamp: bool = False  # out-of-range numbers are moved into range instead of refused
    nullable: bool = False  # null is a value of its own (set_trigger), not "absent"
    blank: bool = False  # a blank is handed on: it must not pass for having been left out
    as_sent: bool = False  # what cannot be read is handed on; the noun refuses it in its own words


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: who may call it is the principal's rule, what it does is `run`."""

    name: str
    group: str  # read, write or trigger; or a word of the surface's own policy
    description: str
    run: Callable[..., Any]  # (principal, **arguments) -> domain value
    render: Callable[[Any], dict[str, Any]] = dict  # domain value -> tool result
    arguments: tuple[Argument, ...] = ()
    read_only: bool = False
    destructive: bool = False  # it replaces or removes something; else it only adds
    idempotent: bool = False  # done twice is as done once
    open_world: bool = False  # what it sets off may reach anything: a turn, a clone
    code_execution: bool = False
    waits: bool = False  # `run` is a coroutine function that may take long: it holds no thread
    # before `run`, with its arguments; the same, or None where there is nothing to wait for
    pause: Callable[..., Awaitable[None] | None] | None = None
    needs: str | None = None  # hidden unless this operation is granted too
    project_argument: str | None = "project"
    facts: Mapping[str, Any] = field(default_factory=dict)


class Registry:
    """The operations of one surface, in the order tools/list shows them."""

    def __init__(self) -> None:
        self._operations: dict[str, Operation] = {}

    def add(self, operation: Operation) -> Operation:
        if operation.name in self._operations:
            raise ValueError(f"operation declared twice: {operation.name}")
        self._operations[operation.name] = operation
        return operation

    def __iter__(self) -> Iterator[Operation]:
        return iter(self._operations.values())

    def __getitem__(self, name: str) -> Operation:
        return self._operations[name]

    def get(self, name: str) -> Operation | None:
        return self._operations.get(name)

    def find(self, name: str, principal: Principal) -> Operation | None:
        """The operation of that name, if it exists for this caller."""
        operation = self._operations.get(name)
        if operation is None or not principal.grants(operation):
            return None
        if operation.needs is None or principal.grants(self._operations[operation.needs]):
            return operation
        return None

    def granted(self, principal: Principal) -> list[Operation]:
        """What this caller sees, `needs` included."""
        return [operation for operation in self if self.find(operation.name, principal)]

    def run(self, name: str, principal: Principal, /, **arguments: Any) -> Any:
        """Check, then do. Arguments are already validated by the transport's reader."""
        operation = self._operations[name]
        principal.check(operation, arguments)
        return operation.run(principal, **arguments)
