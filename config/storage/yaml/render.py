"""New YAML text for a value: block style, two spaces, long text as literal blocks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from config.storage.yaml import scalars

STEP = 2
WIDTH = 80


def dump(value: Any) -> bytes:
    """The bytes of a whole new file."""
    head, body = entry(clean(value), 0, STEP)
    return ("\n".join([head, *body] if head else body) + "\n").encode()


def entry(value: Any, indent: int, step: int, *, literal: bool = True) -> tuple[str, list[str]]:
    """How a value is written after its key: the text on that line, and the lines below."""
    if isinstance(value, str) and literal and scalars.fits_literal(value):
        lines = value.removesuffix("\n").split("\n")
        head = "|" if value.endswith("\n") else "|-"
        return head, [" " * indent + line if line else "" for line in lines]
    if not isinstance(value, dict | list) or not value or _fits_one_line(value):
        return flow(value), []
    if isinstance(value, dict):
        return "", pairs(value, indent, step, literal=literal)
    return "", [line for item in value for line in item_lines(item, indent, step, literal=literal)]


def pairs(value: Mapping[str, Any], indent: int, step: int, *, literal: bool = True) -> list[str]:
    """The lines of a block mapping."""
    lines = []
    for key, inner in value.items():
        head, body = entry(inner, indent + step, step, literal=literal)
        lines.append(f"{' ' * indent}{scalars.render(key)}:{' ' if head else ''}{head}")
        lines += body
    return lines


def item_lines(item: Any, indent: int, step: int, *, literal: bool = True) -> list[str]:
    """The lines of one item of a block sequence."""
    head, body = behind_dash(item, indent, step, literal=literal)
    return [f"{' ' * indent}- {head}", *body]


def behind_dash(
    item: Any, indent: int, step: int, *, literal: bool = True
) -> tuple[str, list[str]]:
    """Like `entry`, but a collection begins on the line of its dash."""
    head, body = entry(item, indent + 2, step, literal=literal)
    return (head, body) if head else (body[0].lstrip(" "), body[1:])


def flow(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{scalars.render(k)}: {flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(flow(item) for item in value) + "]"
    return scalars.render(value)


def clean(value: Any) -> Any:
    """The value as YAML can hold it. Raises TypeError for what JSON could not hold either."""
    if isinstance(value, str):
        if value.isascii():
            return value
        text = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return type(value)(text) if isinstance(value, scalars.Quoted | scalars.Block) else text
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int) and -scalars.INT64 <= value < scalars.INT64:
        return value
    if isinstance(value, float) and abs(value) < float("inf"):
        return value
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {clean(key): clean(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [clean(inner) for inner in value]
    raise TypeError(f"cannot be written to a YAML file: {value!r:.80}")


def _fits_one_line(value: Any) -> bool:
    if not isinstance(value, list) or any(isinstance(item, dict | list) for item in value):
        return False
    return len(flow(value)) <= WIDTH
