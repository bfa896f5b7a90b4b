"""What the routes of the dashboard share: names, bodies, tags, and the words of its refusals."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any
from urllib.parse import unquote

from django.http import HttpRequest, HttpResponse
from drf_spectacular.views import SpectacularSwaggerSplitView
from rest_framework.request import Request
from rest_framework.response import Response

from config.kernel.errors import Invalid, NotFound, SvcError, printable
from config.kernel.web import answers, rest, wire
from config.kernel.web.described import Described, DescriptionView
from dashboard.api import shapes, strict
from dashboard.files import errors
from dashboard.files.errors import BadValues
from dashboard.files.fields import Issue
from dashboard.operations import Local, Record, Written
from dashboard.operations.caller import defect

ME = Local()
ESCAPES = ("%2f", "%5c", "%00")  # would end a name, or begin another one
documented = Described(shapes.Error, always=(403, 500, 503))


class Parser(wire.JSONParser):
    """One JSON object, strictly; an empty body is {}."""

    def parse(
        self, stream: Any, media_type: str | None = None, parser_context: Any = None
    ) -> dict[str, Any]:
        raw = stream.read()
        return strict.loads(raw) if raw.strip() else {}


class Told:
    """A view whose refusals have the words of section 11."""

    def get_exception_handler(self) -> Callable[[Exception, dict[str, Any]], Response]:
        return told


class ViewSet(Told, rest.ViewSet):
    """Base of the viewsets of this part."""

    parser_classes = (Parser,)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """The path is looked at first, but after the method (section 11)."""
        super().initial(request, *args, **kwargs)
        if hasattr(self, (request.method or "").lower()):
            refuse_escapes(request._request)


class Description(Told, DescriptionView):
    """/api/schema."""

    urlconf = "dashboard.urls"


class Docs(Told, SpectacularSwaggerSplitView):
    """/api/docs."""

    url_name = "dashboard-schema"
    http_method_names = ("get", "head")


def told(error: Exception, context: dict[str, Any]) -> Response:
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


def failed(request: HttpRequest) -> HttpResponse:
    """Django's handler500 on this surface."""
    return answers.django(internal(request))


def wrong_method(request: HttpRequest, allow: str) -> str:
    return f"{request.method} is not possible on {printable(request.path, 200)}; use {allow}."


def internal(request: HttpRequest) -> SvcError:
    return defect(getattr(request, "request_id", ""))


def refuse_escapes(request: HttpRequest) -> None:
    """`bad_slug` for a path that hides a slash or the end of a text in one of its names (2.1)."""
    raw = getattr(request, "scope", {}).get("raw_path", b"").decode("latin1")
    for name in raw.split("/"):
        if any(escape in name.lower() for escape in ESCAPES):
            raise errors.bad_slug(printable(unquote(name), instead="?"))


def sent(request: Request) -> Record:
    """The body of a PUT or PATCH; an empty one says nothing that could be written."""
    if not request._request.body.strip():
        raise strict.refusal("it is empty")
    return rest.body(request)


def fields(request: Request, *names: str) -> Record:
    """The values of a POST's body. BadValues for a key that is none of these."""
    body = rest.body(request)
    unknown = [key for key in body if key not in names]
    if unknown:
        known = f"send {', '.join(names)}" if names else "send {}"
        raise BadValues([Issue((key,), f"is not known here; {known}") for key in unknown])
    return body


def one(request: Request, name: str, default: str | None = None) -> str | None:
    """A query parameter. One that is repeated is no value that anything may have."""
    values = request.query_params.getlist(name)
    return ",".join(values) if values else default


def as_text(request: Request) -> bool:
    """Whether the file itself is meant (7.6)."""
    form = one(request, "form")
    if form not in (None, "yaml"):
        raise Invalid('Query "form" must be yaml.', code="bad_query")
    return form is not None


def conditions(request: Request) -> dict[str, Any]:
    """If-Match and `If-None-Match: *`, as a PUT is bound to them (12.2)."""
    return {
        "if_match": request.headers.get("If-Match"),
        "if_none_match": request.headers.get("If-None-Match", "").strip() == "*",
    }


def written(done: Written, headers: dict[str, str] | None = None) -> Response:
    """The answer to a write."""
    status = 201 if done.created else 200
    return Response(done.record, status=status, headers={"ETag": done.etag, **(headers or {})})


def tagged(record: Record) -> Response:
    """A record whose tag names its file; what it shows may change without it, so never 304."""
    return Response(record, headers={"ETag": record["etag"]} if record["etag"] else {})


def known(request: Request, etag: str) -> bool:
    """Whether If-None-Match names this tag, weakly compared."""
    listed: Collection[str] = [
        one.strip().removeprefix("W/")
        for one in request.headers.get("If-None-Match", "").split(",")
    ]
    return "*" in listed or etag.removeprefix("W/") in listed


def unchanged(etag: str, headers: dict[str, str] | None = None) -> HttpResponse:
    return HttpResponse(status=304, headers={"ETag": etag, **(headers or {})})


def mount(request: Request) -> str:
    """What stands before every address of this part: "/dashboard" on the main port, else ""."""
    found: str = request.META.get("SCRIPT_NAME", "")
    return found
