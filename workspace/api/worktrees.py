"""The worktree of a chat over REST: read its state, make it again, bring its branch over."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, TypedDict

from drf_spectacular.utils import extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from config.web import palette, rest
from workspace.api.answers import Warned, documented
from workspace.chats import files
from workspace.projects import store
from workspace.worktrees import bringing, making, standing
from workspace.worktrees.bringing import Brought
from workspace.worktrees.standing import Standing


class Bring(s.Serializer[Any]):
    onto = rest.Text(
        required=False,
        allow_null=True,
        max_length=250,
        help_text="a branch; the one that the project's directory has checked out",
    )
    how = s.ChoiceField(("rebase", "merge"), default="rebase")
    commit = rest.Text(
        required=False,
        allow_null=True,
        line=False,
        max_length=10_000,
        help_text="the message under which what is not committed is committed first",
    )


class OneWorktree(TypedDict):
    worktree: Standing
    review: Annotated[str | None, "address of the review of its commits"]


class BroughtOver(Warned):
    brought: Brought


@extend_schema(tags=["chats"])
class WorktreeViewSet(rest.ViewSet):
    """`C/worktree` and `C/worktree/bring`."""

    @documented(OneWorktree, errors=(404, 409))
    def retrieve(self, request: Request, slug: str, session_id: str) -> Response:
        """The chat's branch compared with the project's, and its worktree's uncommitted changes."""
        return Response(self._render(request, slug, session_id))

    @documented(OneWorktree, errors=(404, 409, 503))
    def again(self, request: Request, slug: str, session_id: str) -> Response:
        """Make a missing worktree again from its branch; does nothing if it exists."""
        project = store.get(slug)
        making.again(project, files.read(project, session_id))
        return Response(self._render(request, slug, session_id))

    @documented(BroughtOver, errors=(404, 409), body=Bring)
    def bring(self, request: Request, slug: str, session_id: str) -> Response:
        """Rebase or merge the chat's branch, and move the target branch forward to it.

        If changes conflict: 409 `not_brought` with `files`, and both branches are unchanged."""
        body = rest.read(request, Bring)
        done = bringing.bring(store.get(slug), session_id, **body.values)
        return Response(rest.with_warnings(BroughtOver(brought=done), body.warnings))

    def _render(self, request: Request, slug: str, session_id: str) -> OneWorktree:
        tree = making.of_chat(store.get(slug), session_id)
        found = standing.of(tree)
        return {"worktree": found, "review": _review(request, tree.repository, tree.branch)}


def _review(request: Request, repository: Path, branch: str) -> str | None:
    """The address of its commits in the review: their own stack, if that was read already."""
    places = [one for one in palette.around(request, repository) if one["kind"] == "review"]
    own = next((one for one in places if one["label"] == branch), None)
    found = own or next(iter(places), None)
    return str(found["url"]) if found else None
