"""The JSON routes of the dashboard part."""

from rest_framework.request import Request
from rest_framework.response import Response

from config import __version__
from config.kernel.web.rest import ViewSet


class Health(ViewSet):
    """Whether the part answers (README 17)."""

    def list(self, request: Request) -> Response:
        return Response({"ok": True, "version": __version__})
