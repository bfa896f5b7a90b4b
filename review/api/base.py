"""What the routes of the review part share: bodies, tagged answers, the words of its errors."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypedDict

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from rest_framework.request import Request
from rest_framework.response import Response

from config import __version__, jsonio
from config.errors import Invalid, NotFound, SvcError
from config.web import answers, rest, wire
from config.web.described import Described
from review import caches, refusals
from review.stacks import details

Answer = Mapping[str, Any] | Iterator[bytes]


class Error(TypedDict):
    """The body of every refusal, on every route."""

    error: str
    code: str


documented = Described(Error, always=(403, 500), asked=())
binary = documented.binary

DEPTH = 64
KEPT, MOST_KEPT = 1 << 20, 32 << 20  # bytes: of one answer that is kept, of all of them together
_sent: caches.Memory[tuple[str, str], bytes] = caches.Memory(MOST_KEPT, weigh=len)
MARKDOWN = "text/markdown; charset=utf-8"
NO_JSON = "Body is not valid JSON"
WORDS = {
    "not found": "Not found",
    "method not allowed": "Method not allowed",
    "internal error": "Internal error",
}


class Parser(wire.JSONParser):
    """Accepts one JSON object, with the error sentences of this part. An empty body is refused."""

    def parse(
        self, stream: Any, media_type: str | None = None, parser_context: Any = None
    ) -> dict[str, Any]:
        raw = stream.read()
        try:
            value = jsonio.loads(raw, depth=DEPTH)
            if b"\\ud" in raw.lower():
                json.dumps(value, ensure_ascii=False).encode()
        except (jsonio.JsonError, UnicodeEncodeError):  # the latter: a lone surrogate
            raise Invalid(NO_JSON, code="bad_json") from None
        if not isinstance(value, dict):
            raise Invalid("Body must be a JSON object", code="bad_json")
        return value


class ViewSet(rest.ViewSet):
    """Base of the viewsets of this part."""

    parser_classes = (Parser,)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Check the body before the resource: a bad body gives 400 whatever it was sent to."""
        super().initial(request, *args, **kwargs)
        method = request.method or ""
        if method in {"POST", "PUT", "PATCH"} and hasattr(self, method.lower()):
            if not request._request.body:  # no parser is called for an empty body
                raise Invalid(NO_JSON, code="bad_json")
            _ = request.data

    def get_exception_handler(self) -> Callable[[Exception, dict[str, Any]], Response]:
        return _exception_handler


def _exception_handler(error: Exception, context: dict[str, Any]) -> Response:
    response = wire.exception_handler(refusals.sentence(error), context)
    response.data["error"] = WORDS.get(response.data["error"], response.data["error"])
    return response


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's handler404 on this surface."""
    return answers.django(NotFound(WORDS["not found"]))


def server_error(request: HttpRequest) -> HttpResponse:
    """Django's handler500 on this surface."""
    return answers.django(SvcError(WORDS["internal error"]))


def flag(request: Request, name: str) -> bool:
    """Whether the query parameter is given with any value but 0."""
    return request.query_params.get(name, "0") != "0"


def at_most(request: Request, name: str = "limit") -> int | None:
    """The query parameter as a number, None without one. Raises Invalid unless it is 1 or more."""
    given = request.query_params.get(name)
    if given is None:
        return None
    if not (given.isascii() and given.isdecimal() and len(given) < 10 and int(given)):
        raise Invalid(f'"{name}" must be a whole number, 1 at least')
    return int(given)


def conditional_response(
    request: Request, slug: str, make: Callable[[], Answer], *parts: str
) -> HttpResponseBase:
    """The answer with a tag of all it shows; 304 without making it if the caller has that version.

    `parts` tell the answers below one project apart. An answer in pieces is streamed; others are
    kept in memory as they were sent, until their tag changes.
    """
    etag = tag(request, slug, *parts)
    headers = {"ETag": etag}
    if rest.matches_etag(request, etag):
        return HttpResponse(status=304, headers=headers)
    kind = answers.JSON.decode()
    if body := find_kept(slug, etag):
        return HttpResponse(body, content_type=kind, headers=headers)
    found = make()
    if not isinstance(found, Mapping):
        return StreamingHttpResponse(found, content_type=kind, headers=headers)
    if request.accepted_renderer.format != "json":
        return Response(found, headers=headers)
    body = jsonio.dumps(found)
    keep(request, slug, etag, body, *parts)
    return HttpResponse(body, content_type=kind, headers=headers)


def find_kept(slug: str, etag: str) -> bytes | None:
    """The body that was made for this tag, None if it is no longer kept."""
    return _sent.get((slug, etag))


def keep(request: Request, slug: str, etag: str, body: bytes, *parts: str) -> None:
    """Keep the body, unless it is big or something changed while it was made."""
    if len(body) <= KEPT and tag(request, slug, *parts) == etag:
        _sent.put((slug, etag), body)


def tag(request: Request, slug: str, *parts: str) -> str:
    """A tag that changes with anything that is shown below the project."""
    kind = request.accepted_renderer.format
    return f'"{details.etag(slug, __version__, kind, rest.mount(request), *parts)}"'
