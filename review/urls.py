"""Routes of the review part, the same on its own port and under its mount."""

from django.urls import path

from review import pages
from review.api import health as api

urlpatterns = [
    path("", pages.start, name="review-start"),
    path("api/health", api.Health.as_view({"get": "list"}), name="review-health"),
]
