"""Routes of the review part, on its own port and under /review of the main one."""

from django.urls import include, path

handler404 = "review.api.base.not_found"
handler500 = "review.api.base.failed"

urlpatterns = [path("", include("review.urls"))]
