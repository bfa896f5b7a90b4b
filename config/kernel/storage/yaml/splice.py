"""Edits of YAML text: the least change that makes it hold the intended value.

Every byte outside the changed nodes survives: comments, order, quotes, indentation, BOM, line
ends, a missing final newline. Each result is parsed again and compared with what was intended;
what cannot be done that way is refused (NotSpliceable), never approximated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from config.kernel.storage.yaml import render
from config.kernel.storage.yaml.edits import Edits, same
from config.kernel.storage.yaml.errors import NotSpliceable, YamlError
from config.kernel.storage.yaml.layout import Layout
from config.kernel.storage.yaml.reader import (
    ALIAS,
    BOM,
    MAP,
    SCALAR,
    SEQ,
    SIZE,
    Document,
    Node,
    parse,
)

Path = tuple[str | int, ...]
REMOVE: Any = object()


def set_entry(data: bytes, path: Path, value: Any, *, limit: int = SIZE) -> bytes:
    """Make the entry at `path` hold exactly `value`; missing parents are made."""
    return _edited(data, {path: render.clean(value)}, limit)


def merge_entry(data: bytes, path: Path, patch: Mapping[str, Any], *, limit: int = SIZE) -> bytes:
    """RFC 7386: keys of `patch` are set, mappings merged, None removes; other keys stay."""
    node = parse(data, limit=limit).node(*path)
    merged = _merged(node.value if node else None, render.clean(patch))
    if path:
        return _edited(data, {path: merged}, limit)
    return _edited(data, {(key,): merged.get(key, REMOVE) for key in patch}, limit)


def remove_entry(data: bytes, path: Path, *, limit: int = SIZE) -> bytes:
    """Take the entry at `path` away with its lines; nothing happens when there is none."""
    return _edited(data, {path: REMOVE}, limit)


def _merged(now: Any, patch: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(now) if isinstance(now, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict):
            result[key] = _merged(result.get(key), value)
        else:
            result[key] = value
    return result


def _edited(data: bytes, changes: Mapping[Path, Any], limit: int) -> bytes:
    bom = BOM if data.startswith(BOM) else b""
    body = data[len(bom) :]
    document = parse(body, limit=limit)
    open_end = bool(body) and not body.endswith(b"\n")
    if open_end:  # a line end is lent for the edit, unless the last value would take it in
        lent = parse(body + b"\n", limit=limit + 1)
        document = lent if same(lent.value, document.value) else document
    intended = document.value
    for path, value in changes.items():
        intended = _applied(intended, path, value)
    if intended is not REMOVE and same(intended, document.value):
        return data
    layout = Layout(document.text)
    for path in changes:
        _check(layout, document, path)
    for result in _candidates(document, intended, open_end=open_end):
        if _holds(result.encode(), intended, limit):
            return bom + result.encode()
    line = max((_line(document, path) for path in changes), default=1)
    raise NotSpliceable("this cannot be changed without touching what stands around it", line, 1)


def _candidates(document: Document, intended: Any, *, open_end: bool) -> Iterator[str]:
    """The best text first. A block of text that comes last may need quotes, or a line end."""
    for literal in (True, False):
        text = Edits(document, literal=literal).text_for(intended)
        yield text.removesuffix("\n").removesuffix("\r") if open_end else text
    if open_end:
        yield text


def _applied(value: Any, path: Path, new: Any) -> Any:
    """A copy of `value` with one change made. What cannot hold the path is left for `_check`."""
    if not path:
        return new
    part, rest = path[0], path[1:]
    if isinstance(part, int):
        if not isinstance(value, list) or part >= len(value):
            return value if new is REMOVE else REMOVE
        changed = _applied(value[part], rest, new)
        return value[:part] + ([] if changed is REMOVE else [changed]) + value[part + 1 :]
    if not isinstance(value, dict | None):
        return value if new is REMOVE else REMOVE
    result = dict(value or {})
    if new is REMOVE and part not in result:
        return value
    result[part] = _applied(result.get(part), rest, new)
    if result[part] is REMOVE:
        del result[part]
    return result


def _holds(data: bytes, intended: Any, limit: int) -> bool:
    try:
        return same(parse(data, limit=limit).value, intended)
    except YamlError:
        return False


def _line(document: Document, path: Path) -> int:
    """The line of the entry, or of the nearest one around it."""
    lines = (document.line(*path[:depth]) for depth in range(len(path), -1, -1))
    return next((line for line in lines if line), 1)


def _check(layout: Layout, document: Document, path: Path) -> None:
    """Refuse an entry that is written together with others, or partly elsewhere."""
    node = document.root
    for part in path:
        if node.kind == SCALAR and node.value is None:
            return
        _refuse_shared(layout, node)
        if node.kind != (SEQ if isinstance(part, int) else MAP):
            raise layout.refuse(f'"{part}" cannot be put here', node)
        below = node.items[part] if isinstance(part, int) else (node.get(part) or [None, None])[1]
        if node.flow and len(node.pairs) + len(node.items) > (1 if below else 0):
            raise layout.refuse("several entries share one line", node)
        if below is None:
            return
        node = below
    for inner in node.walk():
        _refuse_shared(layout, inner)


def _refuse_shared(layout: Layout, node: Node) -> None:
    if node.kind == ALIAS:
        raise layout.refuse("this is an alias of something written elsewhere", node)
    if merge := node.get("<<"):
        raise layout.refuse("a merge key mixes in what is written elsewhere", merge[0])
