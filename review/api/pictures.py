"""The stack pictures over REST."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from django.http import HttpResponse
from rest_framework.request import Request

from config.web import rest
from review.api.base import find_kept, flag, keep, tag
from review.stacks import details
from review.stacks import repo as repos
from review.stacks.pictures import render

TYPES = {"svg": "image/svg+xml", "png": "image/png"}


def answer(
    request: Request, kind: str, project: str, repo: str | None = None, sha: str | None = None
) -> HttpResponse:
    """`stack.svg` or `stack.png`; with a `sha`, the row of that commit is highlighted."""
    asked = request.query_params
    parts = (kind, asked.urlencode(), repo or "", sha or "")
    etag = tag(request, project, *parts)
    headers = {"ETag": etag}
    if rest.matches_etag(request, etag):
        return HttpResponse(status=304, headers=headers)
    headers["Cache-Control"] = "no-cache"
    item = repos.look_up(project, repo, sha)[1] if repo and sha else None
    if flag(request, "download"):
        name = "-".join([project, *([repo, item.commit.sha[:7]] if repo and item else [])])
        headers["Content-Disposition"] = f'attachment; filename="{name}.{kind}"'
    data = find_kept(project, etag)
    if data is None:
        data, missing = _draw(asked, kind, project, repo, item.commit.sha if item else None)
        if missing:
            headers["Missing-Characters"] = quote(missing)
        else:
            keep(request, project, etag, data, *parts)
    return HttpResponse(data, content_type=TYPES[kind], headers=headers)


def _draw(
    asked: Mapping[str, str], kind: str, project: str, repo: str | None, sha: str | None
) -> tuple[bytes, str]:
    """The picture, and the characters that it can only show as boxes."""
    text = render.svg(
        details.project(project),
        scope=asked.get("scope", "project") if sha else "project",
        repo=repo,
        sha=sha,
        scale=asked.get("scale", "sqrt"),
        title=asked.get("title") != "0",
        narrow=asked.get("narrow", "0") != "0",
    )
    if kind == "svg":
        return text.encode(), ""  # drawn by the program that shows it
    drawn = render.png(text)
    return drawn.data, drawn.missing
