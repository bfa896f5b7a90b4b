"""Folders that could become a project: known ones, or completions of a typed path."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any, TypedDict

from drf_spectacular.utils import extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from config.web import palette, rest
from workspace.api.answers import documented
from workspace.projects import completing, folders, schema, store

KNOWN = 200


class FolderQuery(s.Serializer[Any]):
    prefix = rest.Text(
        required=False,
        allow_blank=True,
        max_length=4096,
        help_text="what is typed of a path, from / or ~/ on; without it, the known folders",
    )


class Folder(TypedDict):
    path: str
    sources: Annotated[list[str], "who knows of it: claude, codex, review, apps"]
    repository: Annotated[bool, "whether git is in it"]
    project: Annotated[str | None, "one that works there already"]


class FolderList(TypedDict):
    folders: list[Folder]
    more: Annotated[bool, "whether there are some that are not told"]
    problem: Annotated[str | None, "why nothing can be told of this prefix"]


@extend_schema(tags=["projects"])
class FolderViewSet(rest.ViewSet):
    """`/api/folders`."""

    @documented(FolderList, query=FolderQuery)
    def list(self, request: Request) -> Response:
        """With `prefix` the directories that complete it, else the known directories."""
        prefix = rest.query(request, FolderQuery).get("prefix", "")
        if not prefix.strip():
            known = _folders(request)
            return Response(
                FolderList(folders=known[:KNOWN], more=len(known) > KNOWN, problem=None)
            )
        found = completing.complete(prefix)
        at = store.working_at()
        rows = [_row(path, Path(path).expanduser().resolve(), [], at) for path in found.paths]
        return Response(FolderList(folders=rows, more=found.more, problem=found.problem or None))


def _folders(request: Request) -> list[Folder]:
    """The known directories, each once by its real path, in the order of the parts' answers."""
    sources: dict[str, list[str]] = {}
    for one in palette.folders(request):
        sources.setdefault(one.path, []).append(one.source)
    merged: dict[Path, list[str]] = {}
    wall = folders.Wall.now()
    for path, named in sources.items():
        try:
            merged.setdefault(folders.check(schema.folder(path), wall), []).extend(named)
        except schema.Unfit:
            continue
    at, home = store.working_at(), f"{Path.home()}/"
    return [
        _row(_short(real, home), real, [*dict.fromkeys(named)], at)
        for real, named in merged.items()
    ]


def _row(shown: str, real: Path, sources: list[str], at: dict[Path, list[str]]) -> Folder:
    return {
        "path": shown,
        "sources": sources,
        "repository": os.path.exists(f"{real}/.git"),  # noqa: PTH110 - of hundreds at once
        "project": next(iter(at.get(real, ())), None),
    }


def _short(real: Path, home: str) -> str:
    path = str(real)
    return f"~/{path.removeprefix(home)}" if path.startswith(home) else path
