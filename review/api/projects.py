"""Projects over REST: detail, intro, stack notes, repos, Markdown preview, pictures, assets."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any, TypedDict

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from config.errors import Invalid
from config.web import palette, rest
from review import assets, markdown, projects, reviewer
from review.api import bodies, pictures, queries
from review.api.base import (
    MARKDOWN,
    ViewSet,
    at_most,
    binary,
    conditional_response,
    documented,
    flag,
)
from review.stacks import conversations, details, moving, notes, wire
from review.stacks.worktree import looks, reviewed


class Description(TypedDict):
    description: str | None


class Html(TypedDict):
    html: str


@extend_schema(tags=["review projects"])
class ProjectViewSet(ViewSet):
    """`/api/projects/:p` and all below it except commits."""

    @documented(details.Project, query=queries.Html, errors=(404,))
    def retrieve(self, request: Request, project: str) -> HttpResponseBase:
        """One project: repos, stacks, commits; `html` adds the rendered intro and notes."""
        html = flag(request, "html")

        def make() -> details.Project:
            found = _with_chats(request, details.project(project))
            return details.with_html(found, rest.mount(request)) if html else found

        return conditional_response(request, project, make, "project", str(html))

    @documented(conversations.Conversations, query=queries.Conversations, errors=(400, 404))
    def threads(self, request: Request, project: str) -> HttpResponseBase:
        """The threads of all commits, reviews without a commit, and files that cannot be read."""
        asked: dict[str, Any] = {
            "unresolved_only": flag(request, "unresolved"),
            "limit": at_most(request),
            "html": flag(request, "html"),
            "mount": rest.mount(request),
            "drafts_of": reviewer.me().id,
        }
        return conditional_response(
            request,
            project,
            lambda: conversations.conversations(project, **asked),
            "threads",
            *map(str, asked.values()),
            reviewed.mark(project),
        )

    @binary(MARKDOWN, query=queries.ConversationsText, errors=(404,))
    def threads_text(self, request: Request, project: str) -> HttpResponse:
        """The threads of all commits as Markdown."""
        text = conversations.markdown(project, unresolved_only=flag(request, "unresolved"))
        return HttpResponse(text, content_type=MARKDOWN)

    @documented(looks.Counts, errors=(404,))
    def changes(self, request: Request, project: str) -> Response:
        """How much is uncommitted in each repo that has a work tree."""
        return Response(looks.counts(project))

    @documented(Description, body=bodies.DescriptionBody, errors=(404, 409))
    def describe(self, request: Request, project: str) -> Response:
        """Set the intro; null or blank removes it."""
        wanted = bodies.given_values(request, "description", "was")
        return Response({"description": projects.set_description(project, **wanted)})

    @documented(notes.StackNote, body=bodies.StackNoteBody, errors=(404, 409))
    def note(self, request: Request, **place: Any) -> Response:
        """Set the note of a stack; `title` guards against a stack that has moved."""
        wanted = bodies.given_values(request, "description", "title", "was")
        return Response(notes.set_note(**place, **wanted))

    @documented(wire.Repo, status=201, body=bodies.RepoBody, errors=(404, 409))
    def add_repo(self, request: Request, project: str) -> Response:
        """Open a repository for review in this project."""
        wanted = bodies.all_of(request, "path", "range", "name")
        return Response(moving.open_repo(project, **wanted), status=201)

    @documented(wire.Repo, body=bodies.PathBody, errors=(400, 404, 409))
    def move_repo(self, request: Request, **place: Any) -> Response:
        """Set the path of a repository that has moved; `confirm` accepts a repository that has none
        of its commits."""
        wanted = bodies.all_of(request, "path", "confirm")
        return Response(moving.move_repo(**place, **wanted))

    @documented(Html, body=bodies.PreviewBody, errors=(404,))
    def preview(self, request: Request, project: str) -> Response:
        """The HTML that a Markdown text is rendered to."""
        projects.get(project)
        text = rest.body(request).get("text")
        if not isinstance(text, str):
            raise Invalid('"text" must be a string')
        return Response({"html": markdown.html(text, mount=rest.mount(request))})

    @binary(*pictures.TYPES.values(), query=queries.Picture, errors=(400, 404))
    def picture(self, request: Request, project: str, kind: str) -> HttpResponse:
        """The stacks of the whole project as a picture."""
        return pictures.answer(request, kind, project)

    @binary(*assets.TYPES.values(), errors=(404,))
    def asset(self, request: Request, project: str, name: str) -> HttpResponse:
        """An uploaded image."""
        data = assets.read(project, name)
        kind = assets.TYPES[PurePath(name).suffix]
        return HttpResponse(data, content_type=kind, headers=assets.HEADERS)


def _with_chats(request: Request, found: details.Project) -> details.Project:
    """Add to each stack the address of the chat whose branch it is, if there is one."""
    if not any("branch" in stack for repo in found["repos"] for stack in repo["stacks"]):
        return found
    chats = palette.branches(request, found["slug"])
    repos: list[wire.Repo] = []
    for repo in found["repos"]:
        stacks = [_with_chat(stack, chats) for stack in repo["stacks"]]
        repos.append({**repo, "stacks": stacks})
    return {**found, "repos": repos}


def _with_chat(stack: wire.Stack, chats: dict[str, str]) -> wire.Stack:
    url = chats.get(stack.get("branch", ""))
    return {**stack, "chat": url} if url else stack
