"""The registry: each MCP tool is declared once, for external callers and for running turns.

A part owns one Registry, in its `mcp/catalogue.py`. Every call goes through `Registry.run`, so the
principal's permission check is the same whatever the transport; views call the nouns directly. An
operation returns a domain value, which `Operation.render` turns into the result of the tool.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol


class Principal(Protocol):
    """The caller. It decides what it may see and do; the registry only asks it."""

    @property
    def defaults(self) -> Mapping[str, str]:
        """Required arguments this caller may leave out: a turn's own project and session_id."""
        ...

    def grants(self, operation: Operation) -> bool:
        """Whether the operation exists for this caller (otherwise: Unknown tool)."""
        ...

    def check(self, operation: Operation, arguments: Mapping[str, Any]) -> None:
        """Raise errors.Denied when the operation or the project it names is out of scope."""
        ...


class Unrestricted:
    """Mixin of a principal that may do everything: a caller on this machine without credentials."""

    __slots__ = ()

    def grants(self, operation: Operation) -> bool:
        return True

    def check(self, operation: Operation, arguments: Mapping[str, Any]) -> None:
        """Denies nothing."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One flat argument, read by config/mcp/arguments.py.

    `kind`: string (trimmed), name (one line, 200 characters at most), text (a prompt: unchanged,
    100,000 characters at most), boolean, integer, list, prompts, json (any value; the noun checks
    it). `choices` are published in the schema, and other words are refused.
    """

    name: str
    kind: str
    meaning: str = ""
    required: bool = False
    absent: str = ""  # why it cannot be left out: "`project` is required (<absent>)."
    default: Any = None
    choices: tuple[str, ...] = ()
    judged: bool = False  # the noun takes other words too, or refuses them itself
    least: int | None = None
    most: int | None = None
    clamp: bool = False  # out-of-range numbers are moved into range instead of refused
    nullable: bool = False  # null is a value of its own (set_trigger), not "absent"
    blank: bool = False  # a blank is passed on: it must not count as left out
    as_sent: bool = False  # what cannot be read is passed on; the noun refuses it in its own words


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation. The principal decides who may call it; `run` does it."""

    name: str
    group: str  # read, write or trigger; or a word of the surface's own policy
    description: str
    run: Callable[..., Any]  # (principal, **arguments) -> domain value
    render: Callable[[Any], dict[str, Any]] = dict  # domain value -> tool result
    arguments: tuple[Argument, ...] = ()
    read_only: bool = False
    destructive: bool = False  # it replaces or removes something; otherwise it only adds
    idempotent: bool = False  # doing it twice has the same effect as once
    open_world: bool = False  # what it starts may reach anything: a turn, a clone
    code_execution: bool = False
    waits: bool = False  # `run` is a coroutine function that may take long: it occupies no thread
    # called before `run`, with its arguments; returns what to await first, or None
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

    def visible_to(self, principal: Principal) -> list[Operation]:
        """The operations this caller sees, with `needs` applied."""
        return [operation for operation in self if self.find(operation.name, principal)]

    def run(self, name: str, principal: Principal, /, **arguments: Any) -> Any:
        """Check, then run. The transport's reader has already validated the arguments."""
        operation = self._operations[name]
        principal.check(operation, arguments)
        return operation.run(principal, **arguments)
