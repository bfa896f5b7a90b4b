"""YAML 1.2 core: what a plain scalar means, and how to write a value so that YAML 1.1 agrees.

Only true/false are booleans: `no`, `on`, `1:30`, `1_000`, dates and `<<` are text, 012 is 12. A
number too large to keep (an all-digit sha) stays text.
"""

from __future__ import annotations

import json
import re
from typing import Any

import yaml

CONSTANTS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
NUMBER_STARTS = frozenset("+-.0123456789")
INTEGER = re.compile(r"[-+]?[0-9]{1,400}")
BASED = re.compile(r"0(?:o[0-7]{1,100}|x[0-9a-fA-F]{1,100})")
FLOAT = re.compile(
    r"[-+]?(?:\.[0-9]{1,400}|[0-9]{1,400}(?:\.[0-9]{0,400})?)(?:[eE][-+]?[0-9]{1,9})?"
)
NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
INT64 = 2**63

STR, PREFIX = "tag:yaml.org,2002:str", "tag:yaml.org,2002:"
TYPES: dict[str, tuple[type, ...]] = {
    "int": (int,), "float": (float, int), "bool": (bool,), "null": (type(None),),
}  # fmt: skip

PLAIN = re.compile(
    r"[A-Za-z_/.](?:[A-Za-z0-9_./+@~()%'&;=-]|[ ](?=[A-Za-z0-9_./+@~()%'&;=-])|:(?=/))*"
)
ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
LITERAL = re.compile(
    "[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
AMBIGUOUS = frozenset(CONSTANTS) | {"y", "Y", "n", "N", ".", ".."}
_RESOLVERS_1_1 = yaml.resolver.Resolver.yaml_implicit_resolvers


class Quoted(str):
    """Text to write in double quotes: a sha, an id or a time, safe from every reader."""

    __slots__ = ()


class Block(str):
    """Text to write as a literal block even if it is one line: prose that people edit."""

    __slots__ = ()


class NotInCore(ValueError):
    """A scalar that is not accepted; the text is the reason."""


def resolve(text: str) -> Any:
    """The value of a plain scalar."""
    if text in CONSTANTS:
        return CONSTANTS[text]
    if text[0] not in NUMBER_STARTS:
        return text
    if INTEGER.fullmatch(text):
        number = int(text)
        return number if -INT64 <= number < INT64 else text
    if BASED.fullmatch(text):
        number = int(text, 0)
        return number if number < INT64 else text
    if FLOAT.fullmatch(text):
        real = float(text)
        return text if real in {float("inf"), float("-inf")} else real
    if NOT_FINITE.fullmatch(text):
        raise NotInCore(f"{text} has no place in these files; give a finite number or quote it")
    return text


def resolve_tagged(text: str, tag: str, *, plain: bool) -> Any:
    """The value of a scalar with an explicit tag."""
    if tag in {STR, "!"}:
        return text
    kind = tag.removeprefix(PREFIX)
    if kind not in TYPES:
        raise NotInCore(f"the tag {tag.replace(PREFIX, '!!')} is not supported")
    value = resolve(text) if plain or text else None
    value = None if value == "" else value
    if type(value) not in TYPES[kind]:
        raise NotInCore(f'"{text[:40]}" is not a {kind}')
    return float(text) if kind == "float" else value


def render(value: Any) -> str:
    """One scalar on one line, valid in block and flow context."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    plain = not isinstance(value, Quoted) and _stays_plain(value)
    return str(value) if plain else quote(value)


def quote(text: str) -> str:
    return ESCAPED.sub(lambda char: f"\\u{ord(char[0]):04x}", json.dumps(text, ensure_ascii=False))


def fits_literal(text: str) -> bool:
    """Whether a literal block gives back exactly this text, wherever it is."""
    if isinstance(text, Quoted) or not text:
        return False
    return (
        (isinstance(text, Block) or "\n" in text.rstrip("\n"))
        and text[0] not in " \n\t"
        and not text.endswith("\n\n")
        and not text.endswith(" \n")
        and text[-1] != " "
        and not LITERAL.search(text)
    )


def _stays_plain(text: str) -> bool:
    """Whether every YAML reader, 1.1 or 1.2, takes it for this text."""
    if len(text) > 200 or not PLAIN.fullmatch(text) or text in AMBIGUOUS:
        return False
    if text.startswith(("...", "---")):
        return False
    resolvers = _RESOLVERS_1_1.get(text[0], []) + _RESOLVERS_1_1.get(None, [])
    return not any(pattern.match(text) for _tag, pattern in resolvers)
