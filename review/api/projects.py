"""Projects over REST: detail, intro, stack notes, repos, Markdown preview, pictures, assets."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from config.kernel.errors import Invalid
from config.kernel.web import rest
from review import assets, markdown, operations, projects
from review.api import bodies, discussion, pictures, queries, shapes
from review.api.base import MARKDOWN, ViewSet, binary, documented, flag, mount, person, tagged


@extend_schema(tags=["review projects"])
class ProjectViewSet(ViewSet):
    """`/api/projects/:p` and what hangs below it, commits aside."""

    @documented(shapes.Project, query=queries.Html, errors=(404,))
    def retrieve(self, request: Request, project: str) -> HttpResponseBase:
        """One project: repos, stacks, commits; `html` adds the intro and the notes rendered."""
        asked: dict[str, Any] = {"html": flag(request, "html"), "mount": mount(request)}
        return tagged(
            request,
            project,
            lambda: operations.get_project(person(), project=project, **asked),
            "project",
            str(asked["html"]),
        )

    @documented(discussion.Conversations, query=queries.Conversations, errors=(404,))
    def threads(self, request: Request, project: str) -> HttpResponseBase:
        """The threads of all commits, reviews without a commit, files that cannot be read."""
        asked: dict[str, Any] = {
            "unresolved_only": flag(request, "unresolved"),
            "html": flag(request, "html"),
            "mount": mount(request),
        }
        return tagged(
            request,
            project,
            lambda: operations.get_threads(person(), project=project, **asked),
            "threads",
            *map(str, asked.values()),
        )

    @binary(MARKDOWN, query=queries.ConversationsText, errors=(404,))
    def threads_text(self, request: Request, project: str) -> HttpResponse:
        """The threads of all commits as Markdown."""
        text = operations.get_project_text(
            person(), project=project, unresolved_only=flag(request, "unresolved")
        )
        return HttpResponse(text, content_type=MARKDOWN)

    @documented(shapes.Description, body=shapes.Description, errors=(404, 409))
    def describe(self, request: Request, project: str) -> Response:
        """Set the intro; null or blank removes it."""
        wanted = bodies.sent(request, "description")
        return Response(operations.describe(person(), project=project, **wanted))

    @documented(shapes.StackNote, body=bodies.StackNoteBody, errors=(404, 409))
    def note(self, request: Request, **place: Any) -> Response:
        """Set the note of a stack; `title` guards against a stack that moved."""
        wanted = bodies.sent(request, "description", "title")
        return Response(operations.annotate(person(), **place, **wanted))

    @documented(shapes.Repo, status=201, body=bodies.RepoBody, errors=(404, 409))
    def add_repo(self, request: Request, project: str) -> Response:
        """Open a repository for review in this project."""
        wanted = bodies.all_of(request, "path", "range", "name")
        return Response(operations.add_repo(person(), project=project, **wanted), status=201)

    @documented(shapes.Repo, body=bodies.PathBody, errors=(400, 404, 409))
    def move_repo(self, request: Request, **place: Any) -> Response:
        """Say where a repository is now; `confirm` takes one that holds none of its commits."""
        wanted = bodies.all_of(request, "path", "confirm")
        return Response(operations.move_repo(person(), **wanted, **place))

    @documented(shapes.Html, body=bodies.PreviewBody, errors=(404,))
    def preview(self, request: Request, project: str) -> Response:
        """Markdown as it will look."""
        projects.get(project)
        text = rest.body(request).get("text")
        if not isinstance(text, str):
            raise Invalid('"text" must be a string')
        return Response({"html": markdown.html(text, mount=mount(request))})

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
