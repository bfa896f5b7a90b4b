"""The instance over REST: health, the caller, engines, clients, audit, the demo project."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

from drf_spectacular.utils import extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from config import __version__
from config.errors import DatabaseGone, translate
from config.logs import timestamp
from config.storage import database, ranges
from config.web import rest
from config.web.palette import BadgeList, DestinationList, DestinationQuery, badges, places
from config.web.shapes import serializer
from workspace import demo
from workspace.access import describe, reach
from workspace.api.answers import Limit, documented, page_of, principal
from workspace.api.projects import AllRead, OneProject, count, view
from workspace.chats import unread
from workspace.chats.search import search
from workspace.engines import select
from workspace.mcp.catalogue import REGISTRY
from workspace.models import AuditEntry
from workspace.projects import store


class Health(TypedDict):
    ok: bool
    version: str


class Unhealthy(Health):
    error: str
    code: str


class Me(TypedDict):
    username: str
    anonymous: NotRequired[bool]
    email: NotRequired[str]
    groups: NotRequired[list[str]]


class Model(TypedDict):
    id: str
    label: str
    engine: str
    contextLimit: int | None
    pricing: NotRequired[dict[str, Any]]


class Models(TypedDict):
    models: list[Model]
    defaultModel: str | None


class ModelQuery(s.Serializer[Any]):
    project = rest.Text(required=False, allow_blank=True)


class Engines(TypedDict):
    engines: list[dict[str, Any]]
    default: str | None
    sandbox: dict[str, Any]


class AuditRow(TypedDict):
    id: int
    time: str
    clientId: str | None
    turnId: str | None  # of a turn that called a tool of this service
    operation: str | None
    project: str | None
    sessionId: str | None
    runId: str | None
    outcome: str
    ms: int
    peer: str
    requestId: str
    count: int


class Audit(TypedDict):
    entries: list[AuditRow]
    next: str | None


class AuditQuery(Limit):
    client = rest.Text(required=False, allow_blank=True)
    operation = rest.Text(required=False, allow_blank=True)
    project = rest.Text(required=False, allow_blank=True)
    outcome = rest.Text(required=False, allow_blank=True)
    since = s.DateTimeField(required=False)
    until = s.DateTimeField(required=False)
    before = s.IntegerField(required=False, min_value=0, max_value=2**63 - 1)


class UnreadProject(TypedDict):
    slug: str
    unread: int


class Unread(TypedDict):
    unread: int
    projects: list[UnreadProject]


class SearchQuery(s.Serializer[Any]):
    q = rest.Text(help_text="words; each may be part of one")
    project = rest.Text(required=False, allow_blank=True)
    limit = s.IntegerField(min_value=1, max_value=100, default=20)
    before = s.IntegerField(required=False, min_value=0, max_value=2**63 - 1)


class Piece(TypedDict):
    """A piece of a snippet, and whether it matches the query."""

    text: str
    marked: bool


class Hit(TypedDict):
    id: str
    project: str
    sessionId: str
    name: str
    archived: bool
    offset: int
    role: str
    timestamp: str | None
    snippet: list[Piece]


class Hits(TypedDict):
    hits: list[Hit]
    next: str | None
    indexing: bool


@extend_schema(tags=["instance"])
class InstanceViewSet(rest.ViewSet):
    """Routes that belong to no project."""

    @extend_schema(auth=[], responses={200: serializer(Health), 503: serializer(Unhealthy)})
    def health(self, request: Request) -> Response:
        """Whether the service answers and accepts writes, and its version. Needs no login."""
        if not database.gone():
            return Response(Health(ok=True, version=__version__))
        told = translate(DatabaseGone()).body()
        return Response({"ok": False, "version": __version__, **told}, status=503)

    @documented(DestinationList, query=DestinationQuery)
    def places(self, request: Request) -> Response:
        """Destinations in all parts that match by name; best first."""
        return Response(places(request))

    @documented(BadgeList)
    def badges(self, request: Request) -> Response:
        """How much waits for a person in each part."""
        return Response(badges(request))

    @documented(Me)
    def me(self, request: Request) -> Response:
        """The caller, according to the browser auth mode."""
        user = principal(request)
        shown = Me(username=user.username)
        if user.anonymous:
            shown["anonymous"] = True
        if user.email:
            shown["email"] = user.email
        if user.groups:
            shown["groups"] = list(user.groups)
        return Response(shown)

    @documented(Models, query=ModelQuery, errors=(404,))
    def models(self, request: Request) -> Response:
        """The values that can be chosen as `model`."""
        slug = rest.query(request, ModelQuery).get("project")
        if slug:
            store.get(slug)
        return Response(select.models_listing())

    @documented(Engines)
    def engines(self, request: Request) -> Response:
        """The four engines, whether each can run here or why not, and the sandbox."""
        listing = select.engines_listing()
        warnings = [*select.warnings(), *store.network_warnings()]
        listing["sandbox"] |= {"network": reach.mode(), "warnings": warnings}
        return Response(listing)

    @documented(describe.Clients)
    def clients(self, request: Request) -> Response:
        """The management clients, what each may do and when it last called; no secrets."""
        return Response(describe.clients(REGISTRY))

    @documented(Audit, query=AuditQuery)
    def audit(self, request: Request) -> Response:
        """Calls on /mcp, calls of the service's tools by turns, and refusals, newest first."""
        asked = rest.query(request, AuditQuery)
        rows = AuditEntry.objects.order_by("-id")
        for name, lookup in FILTERS.items():
            if asked.get(name) not in (None, ""):
                rows = rows.filter(**{lookup: asked[name]})
        rows = ranges.between(rows, "time", asked.get("since"), asked.get("until"))
        shown, following = page_of(rows, asked["limit"])
        return Response(Audit(entries=[entry(row) for row in shown], next=following))

    @documented(Hits, query=SearchQuery, errors=(404,))
    def search(self, request: Request) -> Response:
        """Messages that contain every word, in all chats or those of one project; newest first."""
        asked = rest.query(request, SearchQuery)
        only = asked.pop("project", "") or None
        among = store.all() if only is None else [store.get(only)]
        page = search.search(among, asked.pop("q"), only=only, **asked)
        following = None if page.next is None else str(page.next)
        rows = [hit(one) for one in page.hits]
        return Response(Hits(hits=rows, next=following, indexing=page.indexing))

    @documented(Unread)
    def unread(self, request: Request) -> Response:
        """The number of chats with something unread, in total and by project."""
        rows = [UnreadProject(slug=slug, unread=many) for slug, many in unread.counts().items()]
        return Response(Unread(unread=sum(row["unread"] for row in rows), projects=rows))

    @documented(AllRead, errors=(409,))
    def read(self, request: Request) -> Response:
        """Mark every chat of every project as read."""
        return Response(AllRead(ok=True, changed=unread.mark_all(store.all())))

    @documented(OneProject, status=201, errors=(409,))
    def demo(self, request: Request) -> Response:
        """Make the demo project, or answer with the existing one."""
        project = demo.make(principal(request))
        return Response(OneProject(project=view(project, count(project.slug))), status=201)


FILTERS = {
    "client": "client",
    "operation": "operation",
    "project": "project",
    "outcome": "outcome",
    "before": "id__lt",
}


def hit(found: search.Hit) -> Hit:
    """One found message, as clients read it."""
    place = found.found
    return {
        "id": str(place.id),  # too large for a number in JavaScript
        "project": place.project,
        "sessionId": place.chat,
        "name": place.name,
        "archived": place.archived,
        "offset": place.offset,
        "role": found.shown["role"],
        "timestamp": found.shown.get("timestamp"),
        "snippet": [Piece(text=piece.text, marked=piece.marked) for piece in found.snippet],
    }


def entry(row: AuditEntry) -> AuditRow:
    """One audit row, as clients read it."""
    return {
        "id": row.pk,
        "time": timestamp(row.time),
        "clientId": row.client or None,
        "turnId": row.turn or None,
        "operation": row.operation or None,
        "project": row.project or None,
        "sessionId": row.session_id or None,
        "runId": row.run or None,
        "outcome": row.outcome,
        "ms": row.ms,
        "peer": row.peer,
        "requestId": row.request_id,
        "count": row.count,
    }
