"""Flat arguments of an operation: read leniently, refused by name, published as JSON schema.

Each mistake is one sentence. Raises errors.Invalid; never guesses a value.
"""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from config import jsonio
from config.errors import Invalid, Problem, printable
from config.jsonio import clean
from config.mcp.operations import Argument, Operation

NAME_LIMIT = 200
TEXT_LIMIT = 100_000
ECHO_LIMIT = 2000
PROMPTS_LIMIT = 20
GOT_LIMIT = 100
WHOLE = "a whole number"

_ABSENT = object()
_CAMEL = re.compile(r"(?<=[a-z0-9])[A-Z]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\u2028\u2029]")


def read(
    operation: Operation, given: Mapping[str, Any], defaults: Mapping[str, str]
) -> dict[str, Any]:
    """The values for `operation.run`, without arguments that are not given and have no default."""
    named = _by_name(operation, given)
    values: dict[str, Any] = {}
    for argument in operation.arguments:
        value = _value(argument, named.get(argument.name, _ABSENT))
        if value is _ABSENT and argument.required and not argument.as_sent:
            value = defaults.get(argument.name, _ABSENT)
            if value is _ABSENT:
                raise _missing_error(argument)
        if value is _ABSENT and argument.default is not None:
            value = argument.default
        if value is not _ABSENT:
            values[argument.name] = value
    return values


def _by_name(operation: Operation, given: Mapping[str, Any]) -> dict[str, Any]:
    known = {argument.name for argument in operation.arguments}
    named: dict[str, Any] = {}
    spelt: dict[str, str] = {}
    for key, value in given.items():
        name = key if key in known else _CAMEL.sub(lambda hump: f"_{hump[0].lower()}", key)
        if name not in known:
            hint = f" (did you mean `{near}`?)" if (near := nearest(name, known)) else ""
            raise Invalid(f"unknown argument `{_short(key)}` for {operation.name}{hint}.")
        if name in named:
            other = spelt[name] if key == name else key
            raise Invalid(f"`{name}` is given twice (also as `{other}`).")
        named[name], spelt[name] = value, key
    return named


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word most similar to this one; None if none is similar."""
    return next(iter(difflib.get_close_matches(word[:GOT_LIMIT], sorted(known), n=1)), None)


def _missing_error(argument: Argument) -> Invalid:
    why = f" ({argument.absent})" if argument.absent else ""
    return Invalid(f"`{argument.name}` is required{why}.")


def _value(argument: Argument, value: Any) -> Any:
    if value is _ABSENT or (value is None and not argument.nullable):
        return _ABSENT
    if value is None:
        return None
    read_as = _as_sent if argument.as_sent else _READERS[argument.kind]
    return read_as(argument, value)


def _as_sent(argument: Argument, value: Any) -> Any:
    """The value read as its kind if possible, else as sent. A blank counts as absent only for an
    argument that is neither required nor nullable."""
    try:
        found = _READERS[argument.kind](argument, value)
    except Invalid:
        found = value
    if found is _ABSENT and (argument.required or argument.nullable):
        found = value
    return clean(found) if isinstance(found, str) else found


def _string(argument: Argument, value: Any) -> Any:
    if not isinstance(value, str):
        raise _type_error(argument, "text", value)
    word = clean(value).strip()
    if word and argument.choices and not argument.judged and word not in argument.choices:
        reason = f'"{printable(word)}" is not one of {", ".join(argument.choices)}'
        raise Invalid([Problem(argument.name, reason)])
    return word if word or argument.blank else _ABSENT


def _name(argument: Argument, value: Any) -> Any:
    text = _string(argument, value)
    if text is not _ABSENT and (len(text) > NAME_LIMIT or _CONTROL.search(text)):
        raise _type_error(argument, f"one line of at most {NAME_LIMIT} characters", text)
    return text


def _text(argument: Argument, value: Any) -> Any:
    if not isinstance(value, str):
        raise _type_error(argument, "text", value)
    if not value.strip():
        return _ABSENT
    if "\0" in value:
        raise Invalid(f"`{argument.name}` must not contain NUL.")
    if len(value) > TEXT_LIMIT:
        raise Invalid(f"`{argument.name}` holds {len(value)} characters; at most {TEXT_LIMIT}.")
    return clean(value)


def _boolean(argument: Argument, value: Any) -> Any:
    if isinstance(value, bool):
        return value
    word = value.strip().lower() if isinstance(value, str) else None
    if word == "":
        return _ABSENT
    if word not in {"true", "false"}:
        raise _type_error(argument, "true or false", value)
    return word == "true"


def _integer(argument: Argument, value: Any) -> Any:
    number = _number(argument, value)
    if number is _ABSENT:
        return number
    if isinstance(number, float) and not number.is_integer():
        raise _type_error(argument, WHOLE, value)
    return _fit_range(argument, int(number), value)


def _number(argument: Argument, value: Any) -> Any:
    if isinstance(value, str):
        if not value.strip():
            return _ABSENT
        if not re.fullmatch(r"\s*[+-]?[0-9]{1,30}(\.[0-9]{1,30})?\s*", value):
            raise _type_error(argument, WHOLE, value)
        return float(value) if "." in value else int(value)
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole and not (isinstance(value, float) and math.isfinite(value)):
        raise _type_error(argument, WHOLE, value)
    return value


def _fit_range(argument: Argument, number: int, value: Any) -> int:
    least, most = argument.least, argument.most
    inside = max(number, least if least is not None else number)
    inside = min(inside, most if most is not None else inside)
    if inside != number and not argument.clamp:
        raise _type_error(argument, _range(argument), value)
    return inside


def _range(argument: Argument) -> str:
    if argument.most is None:
        return f"{WHOLE} of {argument.least} or more"
    return f"{WHOLE} from {argument.least} to {argument.most}"


def _list(argument: Argument, value: Any) -> Any:
    if isinstance(value, str) and not value.strip():
        return _ABSENT  # blank text counts as absent; [] empties a list
    return [entry for entry in _entries(argument, value, commas=True) if entry]


def _prompts(argument: Argument, value: Any) -> Any:
    entries = _entries(argument, value, commas=False)
    if isinstance(value, str) and not value.lstrip().startswith("["):
        entries = [entry for entry in entries if entry.strip()]
    if not entries:
        return _ABSENT
    if len(entries) > PROMPTS_LIMIT:
        raise Invalid(
            f"`{argument.name}` holds {len(entries)} entries;"
            f" at most {PROMPTS_LIMIT} forks per call."
        )
    return [_prompt(argument, place, entry) for place, entry in enumerate(entries, 1)]


def _prompt(argument: Argument, place: int, entry: str) -> str:
    if not entry.strip():
        raise Invalid(f"`{argument.name}` entry {place} is empty.")
    if len(entry) > TEXT_LIMIT or "\0" in entry:
        raise Invalid(
            f"`{argument.name}` entry {place} must be at most {TEXT_LIMIT} characters without NUL."
        )
    return entry


def _entries(argument: Argument, value: Any, *, commas: bool) -> list[str]:
    """The entries of a list, of the text of a JSON array, or of delimited text."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise _type_error(argument, "a list, or the text of a JSON array", value) from None
    if isinstance(value, str):
        value = value.replace("\n", ",").split(",") if commas else value.splitlines()
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        raise _type_error(argument, "a list of strings", value)
    return [clean(entry).strip() if commas else clean(entry) for entry in value]


def _json(argument: Argument, value: Any) -> Any:
    """Any value. Text of a JSON object or list is parsed: some models can only send text."""
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[")):
        return value
    try:
        return jsonio.loads(value.encode(errors="replace"))
    except jsonio.JsonError:
        raise _type_error(argument, "JSON", value) from None


def _type_error(argument: Argument, wanted: str, value: Any) -> Invalid:
    got = jsonio.dumps(value).decode()
    return Invalid(f"`{argument.name}` must be {wanted} (got {_short(got)}).")


def _short(text: str) -> str:
    text = _CONTROL.sub("", clean(text))
    return text if len(text) <= GOT_LIMIT else f"{text[:GOT_LIMIT]}…"


def truncate(text: str, limit: int = ECHO_LIMIT) -> str:
    """The first `limit` UTF-16 units, then how many were left out."""
    if len(text) * 2 <= limit:
        return text
    units = text.encode("utf-16-le", "surrogatepass")
    total = len(units) // 2
    if total <= limit:
        return text
    kept = units[: limit * 2].decode("utf-16-le", "ignore")
    return f"{kept}… [truncated {total - limit} chars]"


_READERS: dict[str, Callable[[Argument, Any], Any]] = {
    "string": _string, "name": _name, "text": _text, "boolean": _boolean, "integer": _integer,
    "list": _list, "prompts": _prompts, "json": _json,
}  # fmt: skip
_TYPES: dict[str, Any] = {  # a kind without a type: any value
    "string": "string", "name": "string", "text": "string", "boolean": "boolean",
    "integer": "integer",
    "list": ["array", "string"], "prompts": ["array", "string"],
}  # fmt: skip


def schema(operation: Operation, defaults: Mapping[str, str]) -> dict[str, Any]:
    """The published input schema; arguments the caller has a default for are not required."""
    required = [
        argument.name
        for argument in operation.arguments
        if argument.required and argument.name not in defaults
    ]
    return {
        "type": "object",
        "properties": {argument.name: _property(argument) for argument in operation.arguments},
        **({"required": required} if required else {}),
        "additionalProperties": False,
    }


def _property(argument: Argument) -> dict[str, Any]:
    kind = _TYPES.get(argument.kind)
    if kind and argument.nullable:
        kind = [*(kind if isinstance(kind, list) else [kind]), "null"]
    shown: dict[str, Any] = {"type": kind} if kind else {}
    if argument.kind in {"list", "prompts"}:
        shown["items"] = {"type": "string"}
    if argument.choices:
        shown["enum"] = [*argument.choices, *([None] if argument.nullable else [])]
    if not argument.clamp:
        bounds = {"minimum": argument.least, "maximum": argument.most}
        shown |= {name: bound for name, bound in bounds.items() if bound is not None}
    if argument.default is not None:
        shown["default"] = argument.default
    if argument.meaning:
        shown["description"] = argument.meaning
    return shown
