"""Changes of turns in the working directory over REST: list, read, undo, redo."""

from __future__ import annotations

from typing import TypedDict

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from config.web import rest
from workspace.api.answers import documented
from workspace.chats import files
from workspace.projects import store
from workspace.trees import edits
from workspace.trees.edits import EditedFile, NotUndone, TurnEdits
from workspace.trees.undo import Way, restore_files


class ChatEdits(TypedDict):
    turns: list[TurnEdits]


class OneTurnsEdits(TypedDict):
    turnId: str
    undone: bool
    files: list[EditedFile]


class Undone(TypedDict):
    """Paths that were changed, and paths that were left alone, with the reason."""

    ok: bool
    restored: list[str]
    kept: list[NotUndone]


@extend_schema(tags=["chats"])
class EditViewSet(rest.ViewSet):
    """`C/edits` and `C/turns/:turnId/…`."""

    @documented(ChatEdits, errors=(404,))
    def list(self, request: Request, slug: str, session_id: str) -> Response:
        """The turns of a chat that changed files, while their edits are kept."""
        return Response(ChatEdits(turns=edits.of_chat(store.get(slug), session_id)))

    @documented(OneTurnsEdits, errors=(404, 503))
    def retrieve(self, request: Request, slug: str, session_id: str, turn: str) -> Response:
        """The files that one turn changed."""
        found, undone = edits.of_turn(store.get(slug), session_id, turn)
        return Response(OneTurnsEdits(turnId=turn, undone=undone, files=found))

    @documented(Undone, errors=(404, 409, 503))
    def undo(self, request: Request, slug: str, session_id: str, turn: str) -> Response:
        """Undo what the turn changed and nothing has changed since; `kept` lists the rest."""
        return self._undo_or_redo(slug, session_id, turn, "undo")

    @documented(Undone, errors=(404, 409, 503))
    def redo(self, request: Request, slug: str, session_id: str, turn: str) -> Response:
        """Apply again the changes that were undone."""
        return self._undo_or_redo(slug, session_id, turn, "redo")

    def _undo_or_redo(self, slug: str, session_id: str, turn: str, way: Way) -> Response:
        project = store.get(slug)
        files.read(project, session_id)
        done = restore_files(project, session_id, turn, way)
        restored = [edits.printable_path(path) for path in done.restored]
        return Response(Undone(ok=True, restored=restored, kept=edits.render_kept(done)))
