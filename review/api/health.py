"""The JSON routes of the review part."""

from rest_framework.request import Request
from rest_framework.response import Response

from config.kernel.web.rest import ViewSet


class Health(ViewSet):
    """Whether the part answers (README 17)."""

    def list(self, request: Request) -> Response:
        return Response({"ok": True})
