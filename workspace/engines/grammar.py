"""The runbook document: text in, narration and steps out, or the line with the error.

The whole document is read before anything runs. Only the marker makes a text a runbook.
"""

from __future__ import annotations

import json
import re

from config.process.light_typing import Any, NamedTuple
from workspace.engines import catalogue

MARKER = "#!runbook"
NO_STEPS = "This runbook has no steps. Add one: a fenced block that names a tool, such as ```Bash."
CONTEXT = ("project", "chat", "turn", "trigger", "event", "date", "time")
_FENCE = re.compile(r"(`{3,}|~{3,})[ \t]*(.*?)[ \t]*$")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,31}")


class SyntaxFault(Exception):
    """`line <n>: <what>`, or that there is no step; nothing of the document runs."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(what if what is NO_STEPS else f"line {line}: {what}")


class Narration(NamedTuple):
    text: str


class Step(NamedTuple):
    """One tool call as written, before substitution. `seconds` is its time limit."""

    name: str
    tool: str
    args: dict[str, Any]
    seconds: float
    allow_failure: bool
    line: int


Part = Narration | Step


class _Fence(NamedTuple):
    line: int
    tool: str
    attrs: str
    body: str


class _Options(NamedTuple):
    name: str | None = None
    seconds: float | None = None
    allow_failure: bool = False


def is_runbook(prompt: str) -> bool:
    """Whether the first line of a prompt, as written, is the marker."""
    return prompt.split("\n", 1)[0].rstrip() == MARKER


def parse(text: str, ops: catalogue.Ops | None = None) -> list[Part]:
    """The parts in order. Raises SyntaxFault. `ops` types the arguments of svc_manage steps."""
    lines = text.replace("\r\n", "\n").split("\n")
    start = 1 if is_runbook(text) else 0
    parts: list[Part] = []
    names: set[str] = set()
    for found in _split(lines, start):
        if isinstance(found, str):
            if found.strip():
                parts.append(Narration(found.strip("\n")))
            continue
        step = _step(found, f"step_{len(names) + 1}", ops or {})
        if step.name in names:
            raise SyntaxFault(found.line, f'the name "{step.name}" is used twice')
        names.add(step.name)
        parts.append(step)
    if not names:
        raise SyntaxFault(1, NO_STEPS)
    return parts


def tools(text: str) -> list[str]:
    """The tools of the document's steps; none if it cannot be parsed."""
    try:
        return [*dict.fromkeys(part.tool for part in parse(text) if isinstance(part, Step))]
    except SyntaxFault:
        return []


def _split(lines: list[str], at: int) -> list[str | _Fence]:
    """Text and steps in order; a fence that names no tool stays part of the text."""
    found: list[str | _Fence] = []
    text: list[str] = []
    while at < len(lines):
        opening = _FENCE.match(lines[at])
        if opening is None:
            text.append(lines[at])
            at += 1
            continue
        end = _closing(lines, at, opening[1])
        tool, attrs = [*opening[2].split(None, 1), "", ""][:2]
        if catalogue.is_tool(tool):
            found += ["\n".join(text), _Fence(at + 1, tool, attrs, _body(lines, at, end))]
            text = []
        else:
            text += lines[at : end + 1]
        at = end + 1
    return [*found, "\n".join(text)]


def _closing(lines: list[str], at: int, fence: str) -> int:
    closing = re.compile(re.escape(fence[0]) + f"{{{len(fence)},}}[ \\t]*$")
    for number in range(at + 1, len(lines)):
        if closing.match(lines[number]):
            return number
    raise SyntaxFault(at + 1, "this fence is not closed")


def _body(lines: list[str], start: int, end: int) -> str:
    return "".join(f"{line}\n" for line in lines[start + 1 : end])


def _step(fence: _Fence, default: str, ops: catalogue.Ops) -> Step:
    params = catalogue.params(fence.tool, ops)
    options, args = _attrs(fence, params)
    _take_body(fence, args, params)
    problem = catalogue.problem(fence.tool, args, params)
    if problem:
        raise SyntaxFault(fence.line, problem)
    seconds = options.seconds or (120 if fence.tool == "Bash" else 60)
    if fence.tool == "Bash" and options.seconds is None and "timeout" in args:
        seconds = args["timeout"] / 1000
    return Step(
        options.name or default, fence.tool, args, seconds, options.allow_failure, fence.line
    )


def _attrs(
    fence: _Fence, params: dict[str, catalogue.Param] | None
) -> tuple[_Options, dict[str, Any]]:
    if fence.attrs.startswith("{"):
        return _Options(), _object(fence.attrs, fence.line)
    options, args = _Options(), {}
    for key, value in _words(fence):
        match key:
            case "name":
                options = options._replace(name=_name(value, fence.line))
            case "timeout":
                options = options._replace(seconds=_seconds(value, fence.line))
            case "allow_failure":
                options = options._replace(allow_failure=_flag(value, fence.line))
            case _ if key in args:
                raise SyntaxFault(fence.line, f'"{key}" is given twice')
            case _:
                args[key] = _convert(fence, key, value, params)
    return options, args


def _words(fence: _Fence) -> list[tuple[str, str | None]]:
    import shlex

    try:
        words = shlex.split(fence.attrs)
    except ValueError as error:
        raise SyntaxFault(fence.line, f"unreadable attributes: {error}") from None
    pairs = [word.partition("=") for word in words]
    return [(key, value if equals else None) for key, equals, value in pairs]


def _convert(
    fence: _Fence, key: str, value: str | None, params: dict[str, catalogue.Param] | None
) -> Any:
    """The value of an attribute in its argument's type; None = a bare key."""
    if params is None:
        return True if value is None else value
    if key not in params:
        raise SyntaxFault(fence.line, f'{fence.tool} has no argument "{key}"')
    try:
        return catalogue.convert(params[key], value)
    except ValueError as error:
        raise SyntaxFault(fence.line, f"{key}: {error}") from None


def _name(value: str | None, line: int) -> str:
    if not value or not _NAME.fullmatch(value):
        raise SyntaxFault(
            line, f'"{value}" is not a step name (a letter, then letters, digits or _)'
        )
    if value in CONTEXT:
        raise SyntaxFault(line, f'the name "{value}" is taken by the context')
    return value


def _seconds(value: str | None, line: int) -> float:
    if not value or not re.fullmatch("[0-9]{1,4}", value) or not 1 <= int(value) <= 1800:
        raise SyntaxFault(line, "timeout must be a whole number of seconds from 1 to 1800")
    return int(value)


def _flag(value: str | None, line: int) -> bool:
    if value not in (None, "true", "false"):
        raise SyntaxFault(line, "allow_failure is true or false")
    return value != "false"


def _take_body(
    fence: _Fence, args: dict[str, Any], params: dict[str, catalogue.Param] | None
) -> None:
    """Add the body to the arguments: as the tool's text argument, or as an object of arguments."""
    target = catalogue.BODY.get(fence.tool)
    if target and (fence.body or target not in args):
        given = {target: fence.body if fence.tool == "Write" else fence.body.rstrip("\n")}
    elif target or not fence.body.strip():
        return
    else:
        given = _object(fence.body, fence.line + 1)
    for key in given:
        if key in args:
            raise SyntaxFault(fence.line, f'"{key}" is given twice')
        if params is not None and key not in params:
            raise SyntaxFault(fence.line, f'{fence.tool} has no argument "{key}"')
    args.update(given)


def _object(text: str, line: int) -> dict[str, Any]:
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise SyntaxFault(line + error.lineno - 1, f"no JSON object: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise SyntaxFault(line, f"no JSON object: {error}") from None
    if not isinstance(value, dict):
        raise SyntaxFault(line, "no JSON object: a list or a single value")
    return value


def _refuse_constant(word: str) -> None:
    raise ValueError(f"{word} is not JSON")
