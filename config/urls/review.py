"""Routes of the review part, on its own port and under /review of the main one."""

from django.urls import include, path

handler404 = "config.kernel.web.answers.not_found"
handler500 = "config.kernel.web.answers.failed"

urlpatterns = [path("", include("review.urls"))]
