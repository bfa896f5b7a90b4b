"""The instance itself over REST: health, who I am, engines, clients, audit, the demo project."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from config import __version__
from config.kernel.errors import DatabaseGone, translate
from config.kernel.logs import timestamp
from config.kernel.storage import database, ranges
from config.kernel.web import rest
from config.kernel.web.places import BadgeList, PlaceList, PlaceQuery, badges, found
from workspace import demo, projects
from workspace.access import describe, reach
from workspace.api import shapes
from workspace.api.answers import Limit, documented, page_of, perform, principal
from workspace.api.projects import AllRead, OneProject, count, view
from workspace.engines import select
from workspace.models import AuditEntry
from workspace.operations import REGISTRY


class Health(shapes.Shape):
    ok = s.BooleanField()
    version = s.CharField()


class Unhealthy(Health):
    error = s.CharField()
    code = s.CharField()


class Me(shapes.Shape):
    username = s.CharField()
    anonymous = s.BooleanField(required=False)
    email = s.CharField(required=False)
    groups = s.ListField(child=s.CharField(), required=False)


class Model(shapes.Shape):
    id = s.CharField()
    label = s.CharField()  # type: ignore[assignment] # a field, not the field label
    engine = s.CharField()
    contextLimit = s.IntegerField(allow_null=True)  # noqa: N815
    pricing = s.DictField(required=False)


class Models(shapes.Shape):
    models = Model(many=True)
    defaultModel = s.CharField(allow_null=True)  # noqa: N815


class ModelQuery(s.Serializer[Any]):
    project = rest.Text(required=False, allow_blank=True)


class Engines(shapes.Shape):
    engines = s.ListField(child=s.DictField())
    default = s.CharField(allow_null=True)
    sandbox = s.DictField()


class Clients(shapes.Shape):
    enabled = s.BooleanField()
    publicUrl = s.CharField(allow_null=True)  # noqa: N815
    instanceId = s.CharField(allow_null=True)  # noqa: N815
    discovery = s.BooleanField()
    trustedProxies = s.ListField(child=s.CharField())  # noqa: N815
    clients = s.ListField(child=s.DictField())


class AuditRow(shapes.Shape):
    id = s.IntegerField()
    time = s.CharField()
    clientId = s.CharField(allow_null=True)  # noqa: N815
    operation = s.CharField(allow_null=True)
    project = s.CharField(allow_null=True)
    sessionId = s.CharField(allow_null=True)  # noqa: N815
    runId = s.CharField(allow_null=True)  # noqa: N815
    outcome = s.CharField()
    ms = s.IntegerField()
    peer = s.CharField()
    requestId = s.CharField()  # noqa: N815
    count = s.IntegerField()


class Audit(shapes.Shape):
    entries = AuditRow(many=True)
    next = s.CharField(allow_null=True)


class AuditQuery(Limit):
    client = rest.Text(required=False, allow_blank=True)
    operation = rest.Text(required=False, allow_blank=True)
    project = rest.Text(required=False, allow_blank=True)
    outcome = rest.Text(required=False, allow_blank=True)
    since = s.DateTimeField(required=False)
    until = s.DateTimeField(required=False)
    before = s.IntegerField(required=False, min_value=0, max_value=2**63 - 1)


class UnreadProject(shapes.Shape):
    slug = s.CharField()
    unread = s.IntegerField()


class Unread(shapes.Shape):
    unread = s.IntegerField()
    projects = UnreadProject(many=True)


class SearchQuery(s.Serializer[Any]):
    q = rest.Text(help_text="words; each may be part of one")
    project = rest.Text(required=False, allow_blank=True)
    limit = s.IntegerField(min_value=1, max_value=100, default=20)
    before = s.IntegerField(required=False, min_value=0, max_value=2**63 - 1)


class Piece(shapes.Shape):
    text = s.CharField(trim_whitespace=False)
    marked = s.BooleanField()


class Hit(shapes.Shape):
    id = s.CharField()
    project = s.CharField()
    sessionId = s.CharField()  # noqa: N815
    name = s.CharField()
    archived = s.BooleanField()
    offset = s.IntegerField()
    role = s.CharField()
    timestamp = s.CharField(allow_null=True)
    snippet = Piece(many=True)


class Hits(shapes.Shape):
    hits = Hit(many=True)
    next = s.CharField(allow_null=True)
    indexing = s.BooleanField()


@extend_schema(tags=["instance"])
class InstanceViewSet(rest.ViewSet):
    """Routes that belong to no project."""

    @extend_schema(auth=[], responses={200: Health, 503: Unhealthy})
    def health(self, request: Request) -> Response:
        """Whether the service answers and takes writes, and its version. Never asks who asks."""
        if not database.gone():
            return Response({"ok": True, "version": __version__})
        told = translate(DatabaseGone()).body()
        return Response({"ok": False, "version": __version__, **told}, status=503)

    @documented(PlaceList, query=PlaceQuery)
    def places(self, request: Request) -> Response:
        """Where one can go in all parts, by name; best first."""
        return Response(found(request))

    @documented(BadgeList)
    def badges(self, request: Request) -> Response:
        """How much waits for somebody in each part."""
        return Response(badges(request))

    @documented(Me)
    def me(self, request: Request) -> Response:
        """Who the browser auth mode says you are."""
        user = principal(request)
        shown: dict[str, Any] = {"username": user.username}
        if user.anonymous:
            shown["anonymous"] = True
        if user.email:
            shown["email"] = user.email
        if user.groups:
            shown["groups"] = list(user.groups)
        return Response(shown)

    @documented(Models, query=ModelQuery, errors=(404,))
    def models(self, request: Request) -> Response:
        """What can be chosen as `model`."""
        slug = rest.query(request, ModelQuery).get("project")
        if slug:
            projects.get(slug)
        return Response(select.models_listing())

    @documented(Engines)
    def engines(self, request: Request) -> Response:
        """The four engines, which of them can run here and why not; the sandbox."""
        listing = select.engines_listing()
        warnings = [*select.warnings(), *projects.unguarded()]
        listing["sandbox"] |= {"network": reach.mode(), "warnings": warnings}
        return Response(listing)

    @documented(Clients)
    def clients(self, request: Request) -> Response:
        """The management clients, what each may do and when it last called; no secret."""
        return Response(describe.clients(REGISTRY))

    @documented(Audit, query=AuditQuery)
    def audit(self, request: Request) -> Response:
        """Calls on /mcp and refusals at its gate, newest first."""
        asked = rest.query(request, AuditQuery)
        rows = AuditEntry.objects.order_by("-id")
        for name, lookup in FILTERS.items():
            if asked.get(name) not in (None, ""):
                rows = rows.filter(**{lookup: asked[name]})
        rows = ranges.between(rows, "time", asked.get("since"), asked.get("until"))
        shown, following = page_of(rows, asked["limit"])
        return Response({"entries": [entry(row) for row in shown], "next": following})

    @documented(Hits, query=SearchQuery, errors=(404,))
    def search(self, request: Request) -> Response:
        """Messages of all chats, or of one project's, that hold every word; the newest first."""
        asked = rest.query(request, SearchQuery)
        only = asked.pop("project", "") or None
        return Response(perform(request, "search_chats", project=only, **asked))

    @documented(Unread)
    def unread(self, request: Request) -> Response:
        """How many chats hold something nobody has seen, in all and by project."""
        return Response(perform(request, "count_unread"))

    @documented(AllRead, errors=(409,))
    def read(self, request: Request) -> Response:
        """Every chat of every project was read."""
        return Response(perform(request, "mark_all_read"))

    @documented(OneProject, status=201, errors=(409,))
    def demo(self, request: Request) -> Response:
        """Make the demo project, or answer with the one that is there."""
        project = demo.make(principal(request))
        return Response({"project": view(project, count(project.slug))}, status=201)


FILTERS = {
    "client": "client",
    "operation": "operation",
    "project": "project",
    "outcome": "outcome",
    "before": "id__lt",
}


def entry(row: AuditEntry) -> dict[str, Any]:
    """One audit row (workspace.md 13)."""
    return {
        "id": row.pk,
        "time": timestamp(row.time),
        "clientId": row.client or None,
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
