"""The stack pictures over REST."""

from __future__ import annotations

from django.http import HttpResponse
from rest_framework.request import Request

from review import operations
from review.api.base import flag, known, person, tag
from review.stacks import pictures

TYPES = {"svg": "image/svg+xml", "png": "image/png"}


def answer(
    request: Request, kind: str, project: str, repo: str | None = None, sha: str | None = None
) -> HttpResponse:
    """`stack.svg` or `stack.png`; of one commit with its row highlighted."""
    asked = request.query_params
    headers = {"ETag": tag(request, project, kind, asked.urlencode(), repo or "", sha or "")}
    if known(request, headers["ETag"]):
        return HttpResponse(status=304, headers=headers)
    item = operations.find(project, repo, sha)[1] if repo and sha else None
    text = pictures.svg(
        operations.get_project(person(), project=project),
        scope=asked.get("scope", "project") if item else "project",
        repo=repo,
        sha=item.commit.sha if item else None,
        scale=asked.get("scale", "sqrt"),
        title=asked.get("title") != "0",
    )
    headers["Cache-Control"] = "no-cache"
    if flag(request, "download"):
        name = "-".join([project, *([repo, item.commit.sha[:7]] if repo and item else [])])
        headers["Content-Disposition"] = f'attachment; filename="{name}.{kind}"'
    data = text.encode() if kind == "svg" else pictures.png(text)
    return HttpResponse(data, content_type=TYPES[kind], headers=headers)
