"""Edits of YAML text: the smallest change that makes it hold the intended value.

Every byte outside the changed nodes is kept: comments, order, quotes, indentation, BOM, line ends,
a missing final newline. Each result is parsed again and compared with what was intended; a change
that cannot be made that way is refused (NotSpliceable), never approximated.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from config.storage.yaml import recent, render
from config.storage.yaml.edits import Edits, same
from config.storage.yaml.errors import NotSpliceable, YamlError
from config.storage.yaml.layout import HEADER, Layout
from config.storage.yaml.nodes import ALIAS, MAP, MERGE, SCALAR, SEQ, SIZE, Document, Node
from config.storage.yaml.reader import BOM

Path = tuple[str | int, ...]
REMOVE: Any = object()


@dataclass(frozen=True, slots=True)
class Bounds:
    """How large a file may be, and which parts of it may be changed.

    `shared` also allows changes of entries in a flow collection that holds other entries, and of
    files that are a flow collection.
    """

    limit: int = SIZE
    nodes: int | None = None
    shared: bool = False

    def parse(self, data: bytes, before: Document | None = None) -> Document:
        return recent.parse(data, limit=self.limit, nodes=self.nodes, before=before)


def set_entry(
    data: bytes,
    path: Path,
    value: Any,
    *,
    limit: int = SIZE,
    nodes: int | None = None,
    shared: bool = False,
) -> bytes:
    """Make the entry at `path` hold exactly `value`; missing parents are made. An index equal to
    the length of its list appends. `shared` allows changes in a flow list or mapping that holds
    other entries too."""
    return _edit(data, {path: render.clean(value)}, Bounds(limit, nodes, shared))


def merge_entry(data: bytes, path: Path, patch: Mapping[str, Any], *, limit: int = SIZE) -> bytes:
    """RFC 7386: keys of `patch` are set, mappings merged, None removes; other keys stay."""
    bounds = Bounds(limit)
    node = bounds.parse(data).node(*path)
    merged = _merge(node.value if node else None, render.clean(patch))
    if path:
        return _edit(data, {path: merged}, bounds)
    return _edit(data, {(key,): merged.get(key, REMOVE) for key in patch}, bounds)


def remove_entry(
    data: bytes,
    path: Path,
    *,
    limit: int = SIZE,
    nodes: int | None = None,
    shared: bool = False,
) -> bytes:
    """Remove the entry at `path` with its lines; does nothing if there is none."""
    return _edit(data, {path: REMOVE}, Bounds(limit, nodes, shared))


def _merge(now: Any, patch: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(now) if isinstance(now, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict):
            result[key] = _merge(result.get(key), value)
        else:
            result[key] = value
    return result


def _edit(data: bytes, changes: Mapping[Path, Any], bounds: Bounds) -> bytes:
    bom = BOM if data.startswith(BOM) else b""
    body = data[len(bom) :]
    document = bounds.parse(body)
    open_end = bool(body) and not body.endswith(b"\n")
    if open_end:  # a line end is added for the edit, unless the last value would absorb it
        lent = replace(bounds, limit=bounds.limit + 1).parse(body + b"\n")
        document = lent if same(lent.value, document.value) else document
    layout = Layout(document.text)
    intended = document.value
    for path, value in changes.items():
        try:
            intended = _apply(intended, path, value)
        except LookupError:
            _check(layout, document, path, shared=True)
            raise layout.refuse("there is no place for this", document.root) from None
    if intended is not REMOVE and same(intended, document.value):
        return data
    for path in changes:
        _check(layout, document, path, shared=bounds.shared)
    for basis in (document, *_with_line_end(document, bounds)):
        for result in _candidates(basis, intended, open_end=open_end, shared=bounds.shared):
            made = result.encode()
            if _holds(made, intended, bounds, basis):
                return bom + made
    line = max((_line(document, path) for path in changes), default=1)
    raise NotSpliceable("this cannot be changed without touching what stands around it", line, 1)


def _with_line_end(document: Document, bounds: Bounds) -> Iterator[Document]:
    """The same document with a line end after a block scalar that ends the file without one: |- for
    |.

    Nothing else can follow such a block without giving it the line end it does not have.
    """
    text, leaf = document.text, document.root.last()
    header = HEADER.match(text, leaf.start) if leaf.style in {"|", ">"} else None
    if header is None or text.endswith("\n"):
        return
    made = f"{text[: header.end()].removesuffix('+')}-{text[header.end() :]}\n"
    with contextlib.suppress(YamlError):
        found = replace(bounds, limit=bounds.limit + 2).parse(made.encode())
        if same(found.value, document.value):
            yield found


def _candidates(
    document: Document, intended: Any, *, open_end: bool, shared: bool
) -> Iterator[str]:
    """Possible texts, best first. A block scalar at the end may need quotes, or a line end."""
    for literal in (True, False):
        text = Edits(document, literal=literal, shared=shared).text_for(intended)
        yield text.removesuffix("\n").removesuffix("\r") if open_end else text
    if open_end:
        yield text


def _apply(value: Any, path: Path, new: Any) -> Any:
    """A copy of `value` with one change made. LookupError if the path has no place in it."""
    if not path:
        return new
    part, rest = path[0], path[1:]
    if isinstance(part, int):
        items = [] if value is None else value
        if not isinstance(items, list) or not 0 <= part < len(items) + (new is not REMOVE):
            return _nowhere(value, new)
        changed = _apply(items[part] if part < len(items) else None, rest, new)
        return items[:part] + ([] if changed is REMOVE else [changed]) + items[part + 1 :]
    if not isinstance(value, dict | None):
        return _nowhere(value, new)
    result = dict(value or {})
    if new is REMOVE and part not in result:
        return value
    result[part] = _apply(result.get(part), rest, new)
    if result[part] is REMOVE:
        del result[part]
    return result


def _nowhere(value: Any, new: Any) -> Any:
    """For a removal, the value: a missing entry is removed already. Else LookupError."""
    if new is not REMOVE:
        raise LookupError
    return value


def _holds(data: bytes, intended: Any, bounds: Bounds, before: Document) -> bool:
    try:
        return same(bounds.parse(data, before).value, intended)
    except YamlError:
        return False


def _line(document: Document, path: Path) -> int:
    """The line of the entry, or of the nearest one around it."""
    lines = (document.line(*path[:depth]) for depth in range(len(path), -1, -1))
    return next((line for line in lines if line), 1)


def _check(layout: Layout, document: Document, path: Path, *, shared: bool) -> None:
    """Refuse an entry that shares its line with others, or is partly written elsewhere."""
    node = document.root
    for part in path:
        if node.kind == SCALAR and node.value is None:
            return
        _refuse_shared(layout, node)
        if node.kind != (SEQ if isinstance(part, int) else MAP):
            raise layout.refuse(f'"{part}" cannot be put here', node)
        below = _below(node, part)
        others = len(node.pairs) + len(node.items) > (1 if below else 0)
        if node.flow and others and not shared:
            raise layout.refuse("several entries share one line", node)
        if below is None:
            return
        node = below
    if document.aliased or MERGE in document.text:
        for inner in node.walk():
            _refuse_shared(layout, inner)


def _below(node: Node, part: str | int) -> Node | None:
    if isinstance(part, int):
        return node.items[part] if part < len(node.items) else None
    pair = node.get(part)
    return pair[1] if pair else None


def _refuse_shared(layout: Layout, node: Node) -> None:
    if node.kind == ALIAS:
        raise layout.refuse("this is an alias of something written elsewhere", node)
    merge = node.get(MERGE)
    if merge and not merge[0].style:  # in quotes it is a key like any other
        raise layout.refuse("a merge key mixes in what is written elsewhere", merge[0])
