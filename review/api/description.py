"""The description of this API, telling where it is mounted."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularJSONAPIView
from rest_framework.request import Request
from rest_framework.response import Response


class DescriptionView(SpectacularJSONAPIView):
    """/api/schema."""

    urlconf = "review.urls"
    http_method_names = ("get", "head")

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        response: Response = super().get(request, *args, **kwargs)  # type: ignore[no-untyped-call]
        if mount := request.META.get("SCRIPT_NAME"):
            response.data["servers"] = [{"url": mount}]
        return response
