"""One commit over REST: detail, one file, review, PR record, viewed marks, what changed since."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from config.web import rest
from review import assets
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
from review.stacks import changes, details, interdiff, taking
from review.stacks.compared import comparison, finding, versions
from review.stacks.worktree import reviewed
from review.threads import export, records


@extend_schema(tags=["review commits"])
class CommitViewSet(ViewSet):
    """`{c}` = `/api/projects/:p/repos/:r/commits/:sha` and all below it except threads."""

    @documented(details.Commit, query=queries.Commit, errors=(400, 404))
    def retrieve(self, request: Request, **place: Any) -> HttpResponseBase:
        """One commit; `contents` says whether all files have their contents, none, or how many."""
        contents = request.query_params.get("contents", "all")
        rendered = at_most(request, "rendered") or 0
        mount = rest.mount(request)
        make = partial(details.commit, contents=contents, rendered=rendered, mount=mount, **place)
        parts = ("commit", contents, str(rendered), *place.values())
        return conditional_response(request, place["project"], make, *parts)

    @documented(details.File, query=queries.Path, errors=(400, 404))
    def file(self, request: Request, **place: Any) -> Response:
        """One file of the commit, with its contents."""
        return Response(details.file(path=request.query_params.get("path") or None, **place))

    @binary(*assets.TYPES.values(), query=queries.Image, errors=(400, 404))
    def image(self, request: Request, **place: Any) -> HttpResponse:
        """An image that the commit changes, as it is before (LEFT) or after the commit (RIGHT)."""
        path, side = request.query_params.get("path"), request.query_params.get("side")
        data, kind = details.image(path=path, side=side, **place)
        return HttpResponse(data, content_type=kind, headers=assets.HEADERS)

    @documented(records.Review, query=queries.Html, errors=(400, 404))
    def review(self, request: Request, **place: Any) -> HttpResponseBase:
        """The threads placed on this commit, and its viewed marks."""
        html = flag(request, "html")
        return conditional_response(
            request,
            place["project"],
            lambda: records.review(reviewed.at(**place), html=html, mount=rest.mount(request)),
            "review",
            str(html),
            *place.values(),
        )

    @documented(details.Pr, errors=(400, 404))
    def pr(self, request: Request, **place: Any) -> HttpResponseBase:
        """The PR record."""
        return conditional_response(
            request,
            place["project"],
            lambda: details.pr(**place),
            "pr",
            *place.values(),
        )

    @documented(details.Pr, body=bodies.PrBody, errors=(404, 409))
    def set_pr(self, request: Request, **place: Any) -> Response:
        """Change the PR record; null clears a field."""
        patch = dict(rest.body(request))
        was = patch.pop("was", None)
        return Response(changes.set_pr(patch=patch, was=was, **place))

    @documented(taking.TakenOver, body=bodies.TakeBody, errors=(404, 409))
    def take(self, request: Request, **place: Any) -> Response:
        """Declare that a gone commit became this one, which takes over its review and PR record."""
        old = rest.body(request).get("from")
        return Response(taking.take(old=old, **place))

    @documented(changes.Viewed, body=bodies.ViewedBody, errors=(404, 409))
    def viewed(self, request: Request, **place: Any) -> Response:
        """Mark a file or several files as viewed, or remove the marks."""
        mark = bodies.all_of(request, "path", "paths", "viewed", "look")
        return Response(changes.mark_viewed(**mark, **place))

    @documented(interdiff.Interdiff, query=queries.Interdiff, errors=(400, 404))
    def interdiff(self, request: Request, **place: Any) -> Response:
        """What changed since the commit this one was carried over from, or since `from`."""
        asked = request.query_params
        found = interdiff.interdiff(old=asked.get("from"), path=asked.get("path"), **place)
        return Response(found)

    @documented(versions.Versions, errors=(400, 404))
    def versions(self, request: Request, **place: Any) -> HttpResponseBase:
        """Every sha that the commit had while it was reviewed, and the one of your last look."""
        make = partial(versions.versions, **place)
        return conditional_response(request, place["project"], make, "versions", *place.values())

    @documented(comparison.Comparison, query=queries.Since, errors=(400, 404))
    def since(self, request: Request, old: str, **place: Any) -> HttpResponseBase:
        """The files that differ between that version and the current one, or `to`."""
        asked = request.query_params
        contents, to = asked.get("contents", "all"), asked.get("to")
        whole = flag(request, "base")
        make = partial(
            comparison.since, old=old, to=to, whole=whole, contents=contents, **place
        )  # fmt: skip
        parts = ("since", old, str(to), str(whole), contents, *place.values())
        return conditional_response(request, place["project"], make, *parts)

    @documented(comparison.ComparedFile, query=queries.SinceFile, errors=(400, 404))
    def since_file(self, request: Request, old: str, **place: Any) -> Response:
        """One of the files that differ, with its contents."""
        asked = request.query_params
        found = comparison.file(
            old=old,
            path=asked.get("path"),
            to=asked.get("to"),
            whole=flag(request, "base"),
            **place,
        )
        return Response(found)

    @documented(finding.Search, query=queries.SinceSearch, errors=(400, 404))
    def since_search(self, request: Request, old: str, **place: Any) -> Response:
        """The lines that contain a text in what differs between the two versions."""
        asked = request.query_params
        q, to = asked.get("q"), asked.get("to")
        return Response(finding.since(old=old, q=q, to=to, whole=flag(request, "base"), **place))

    @binary(*assets.TYPES.values(), query=queries.SinceImage, errors=(400, 404))
    def since_image(self, request: Request, old: str, **place: Any) -> HttpResponse:
        """An image that differs, from the older version (LEFT) or the newer one (RIGHT)."""
        asked = request.query_params
        path, side = asked.get("path"), asked.get("side")
        data, kind = comparison.image(old=old, path=path, side=side, to=asked.get("to"), **place)
        return HttpResponse(data, content_type=kind, headers=assets.HEADERS)

    @documented(finding.Search, query=queries.Search, errors=(400, 404))
    def search(self, request: Request, **place: Any) -> Response:
        """The lines of the whole diff that contain a text."""
        return Response(finding.in_commit(q=request.query_params.get("q"), **place))

    @binary(MARKDOWN, query=queries.ThreadsText, errors=(400, 404))
    def threads_text(self, request: Request, **place: Any) -> HttpResponse:
        """The threads as Markdown with path, line and code; only of one file or thread if asked."""
        asked = request.query_params
        text = export.markdown(
            reviewed.at(**place),
            unresolved_only=flag(request, "unresolved"),
            path=asked.get("path"),
            thread=asked.get("thread"),
        )
        return HttpResponse(text, content_type=MARKDOWN)

    @binary(*pictures.TYPES.values(), query=queries.CommitPicture, errors=(400, 404))
    def picture(self, request: Request, kind: str, **place: Any) -> HttpResponse:
        """The stacks as a picture, with the row of this commit highlighted."""
        return pictures.answer(request, kind, **place)
