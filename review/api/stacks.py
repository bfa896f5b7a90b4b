"""A stack over REST, read as one diff."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.http.response import HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from review.api import queries
from review.api.base import ViewSet, conditional_response, documented
from review.stacks.compared import finding, stack
from review.stacks.contents import files as texts


@extend_schema(tags=["review projects"])
class StackViewSet(ViewSet):
    """`P/repos/:repo/stacks/:n`, except its note."""

    @documented(stack.StackDiff, query=queries.Contents, errors=(400, 404))
    def retrieve(self, request: Request, **place: Any) -> HttpResponseBase:
        """The stack as one diff, from its base to its top."""
        contents = request.query_params.get("contents", "all")
        make = partial(stack.whole, contents=contents, **place)
        return conditional_response(
            request, place["project"], make, "stack", contents, *place.values()
        )

    @documented(texts.Record, query=queries.Path, errors=(400, 404))
    def file(self, request: Request, **place: Any) -> Response:
        """One file of the stack's diff, with its contents."""
        return Response(stack.file(path=request.query_params.get("path") or None, **place))

    @documented(finding.Search, query=queries.Search, errors=(400, 404))
    def search(self, request: Request, **place: Any) -> Response:
        """The lines of the stack's diff that contain a text."""
        return Response(finding.in_stack(q=request.query_params.get("q"), **place))
