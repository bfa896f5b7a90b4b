"""What the routes of the dashboard share: names, bodies, tags, and the texts of its refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NotRequired, TypedDict
from urllib.parse import unquote

from django.http import HttpRequest, HttpResponse
from drf_spectacular.views import SpectacularSwaggerSplitView
from rest_framework.request import Request
from rest_framework.response import Response

from config.errors import Invalid, NotFound, SvcError, printable
from config.web import answers, rest, wire
from config.web.described import Described, DescriptionView
from dashboard.api import strict
from dashboard.files import errors
from dashboard.files.errors import BadValues
from dashboard.files.fields import Issue as Mistake
from dashboard.operations.common import Record, Written, defect


class Issue(TypedDict):
    path: str
    message: str


class Error(TypedDict):
    """Every refusal, on every route, with the fields that a code adds to the sentence."""

    error: str
    code: str
    issues: NotRequired[list[Issue]]
    etag: NotRequired[str | None]
    file: NotRequired[str]
    line: NotRequired[int | None]
    column: NotRequired[int | None]
    holder: NotRequired[dict[str, Any]]
    id: NotRequired[str]


ESCAPES = ("%2f", "%5c", "%00")  # would end a name, or begin another one
documented = Described(Error, always=(403, 500, 503))


class Parser(wire.JSONParser):
    """One JSON object, strictly; an empty body is {}."""

    def parse(
        self, stream: Any, media_type: str | None = None, parser_context: Any = None
    ) -> dict[str, Any]:
        raw = stream.read()
        return strict.loads(raw) if raw.strip() else {}


class ErrorWords:
    """A view whose refusals use the dashboard's own sentences and codes."""

    def get_exception_handler(self) -> Callable[[Exception, dict[str, Any]], Response]:
        return exception_handler


class ViewSet(ErrorWords, rest.ViewSet):
    """Base of the viewsets of this part."""

    parser_classes = (Parser,)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse escapes in the path before the handler runs, if the method exists."""
        super().initial(request, *args, **kwargs)
        if hasattr(self, (request.method or "").lower()):
            refuse_escapes(request._request)


class Description(ErrorWords, DescriptionView):
    """/api/schema."""

    urlconf = "dashboard.urls"


class Docs(ErrorWords, SpectacularSwaggerSplitView):
    """/api/docs."""

    url_name = "dashboard-schema"
    http_method_names = ("get", "head")


def exception_handler(error: Exception, context: dict[str, Any]) -> Response:
    """DRF's exception hook."""
    response = wire.exception_handler(error, context)
    request = context["request"]._request
    if response.status_code == 405:
        response.data["error"] = wrong_method(request, response["Allow"])
    elif response.data["error"] == "internal error":
        response.data = internal(request).body()
    return response


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's handler404 on this surface."""
    try:
        refuse_escapes(request)
    except Invalid as error:
        return answers.django(error)
    text = f"No route {request.method} {printable(request.path, 200)}."
    return answers.django(NotFound(text))


def method_not_allowed(request: HttpRequest, allow: str) -> HttpResponse:
    """The kernel's handler405 on this surface."""
    return answers.method_not_allowed(request, allow, wrong_method(request, allow))


def server_error(request: HttpRequest) -> HttpResponse:
    """Django's handler500 on this surface."""
    return answers.django(internal(request))


def wrong_method(request: HttpRequest, allow: str) -> str:
    return f"{request.method} is not possible on {printable(request.path, 200)}; use {allow}."


def internal(request: HttpRequest) -> SvcError:
    return defect(getattr(request, "request_id", ""))


def refuse_escapes(request: HttpRequest) -> None:
    """Raise `bad_slug` for a path with an encoded slash, backslash or NUL in a name."""
    raw = getattr(request, "scope", {}).get("raw_path", b"").decode("latin1")
    for name in raw.split("/"):
        if any(escape in name.lower() for escape in ESCAPES):
            raise errors.bad_slug(printable(unquote(name), instead="?"))


def required_body(request: Request) -> Record:
    """The body of a PUT or PATCH; an empty body is refused, as it says nothing to write."""
    if not request._request.body.strip():
        raise strict.refusal("it is empty")
    return rest.body(request)


def fields(request: Request, *names: str) -> Record:
    """The values of a POST's body. BadValues for a key that is not one of `names`."""
    body = rest.body(request)
    unknown = [key for key in body if key not in names]
    if unknown:
        known = f"send {', '.join(names)}" if names else "send {}"
        raise BadValues([Mistake((key,), f"is not known here; {known}") for key in unknown])
    return body


def one(request: Request, name: str, default: str | None = None) -> str | None:
    """A query parameter. The values of a repeated one are joined, which makes no valid value."""
    values = request.query_params.getlist(name)
    return ",".join(values) if values else default


def as_text(request: Request) -> bool:
    """Whether the request is about the file as text (`form=yaml`)."""
    form = one(request, "form")
    if form not in (None, "yaml"):
        raise Invalid('Query "form" must be yaml.', code="bad_query")
    return form is not None


def conditions(request: Request) -> dict[str, Any]:
    """If-Match and `If-None-Match: *`, the conditions of a PUT."""
    return {
        "if_match": request.headers.get("If-Match"),
        "if_none_match": rest.fresh(request),
    }


def written_response(done: Written, headers: dict[str, str] | None = None) -> Response:
    """The answer to a write."""
    status = 201 if done.created else 200
    return Response(done.record, status=status, headers={"ETag": done.etag, **(headers or {})})


def record_response(record: Record) -> Response:
    """A record with the tag of its file. What the record shows may change while its file does not,
    so the answer is never 304."""
    return Response(record, headers={"ETag": record["etag"]} if record["etag"] else {})


def not_modified(etag: str, headers: dict[str, str] | None = None) -> HttpResponse:
    return HttpResponse(status=304, headers={"ETag": etag, **(headers or {})})
