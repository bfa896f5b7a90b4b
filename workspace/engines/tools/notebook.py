"""NotebookEdit: one cell of a Jupyter notebook (nbformat 4), the others unchanged."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

from config.process.light_typing import Any
from workspace.engines.tools import ToolContext, ToolError, opening

Cell = dict[str, Any]


def edit(args: Mapping[str, Any], place: ToolContext, cwd: str) -> str:
    path, mode = args["notebook_path"], args.get("edit_mode", "replace")
    data = opening.read_whole(path, place, cwd)
    if data is None:
        raise ToolError(f"file not found: {path}")
    book = _parse(data)
    cell_id = args.get("cell_id")
    if cell_id is None and mode != "insert":
        raise ToolError("cell_id is required unless a cell is inserted at the front")
    at = _position(book["cells"], cell_id) if cell_id is not None else -1
    match mode:
        case "replace":
            _rewrite(book["cells"][at], args)
        case "insert":
            book["cells"].insert(at + 1, _new_cell(book, args))
        case _:
            del book["cells"][at]
    text = json.dumps(book, indent=1, ensure_ascii=False) + "\n"
    opening.replace(path, text.encode(errors="replace"), place, cwd)
    return f"{mode} done; the notebook has {len(book['cells'])} cells"


def _parse(data: bytes) -> dict[str, Any]:
    try:
        book = json.loads(data)
    except (ValueError, RecursionError):
        raise ToolError("not a notebook: unreadable JSON") from None
    cells = book.get("cells") if isinstance(book, dict) else None
    if not isinstance(cells, list) or book.get("nbformat") != 4:
        raise ToolError("not a notebook of nbformat 4")
    if not all(isinstance(cell, dict) for cell in cells):
        raise ToolError("not a notebook: a cell is not an object")
    return dict(book)


def _position(cells: list[Cell], cell_id: str) -> int:
    for at, cell in enumerate(cells):
        if cell.get("id") == cell_id:
            return at
    raise ToolError(f"no cell has the id {cell_id}")


def _rewrite(cell: Cell, args: Mapping[str, Any]) -> None:
    """Set the new source, and clear the outputs of the old one."""
    cell["source"] = args["new_source"]
    cell["cell_type"] = args.get("cell_type", cell.get("cell_type", "code"))
    if cell["cell_type"] == "code":
        cell["outputs"], cell["execution_count"] = [], None
    else:
        cell.pop("outputs", None)
        cell.pop("execution_count", None)


def _new_cell(book: dict[str, Any], args: Mapping[str, Any]) -> Cell:
    cell: Cell = {"cell_type": args.get("cell_type", "code"), "metadata": {}}
    if book.get("nbformat_minor", 0) >= 5:
        cell["id"] = os.urandom(4).hex()
    _rewrite(cell, args)
    return cell
