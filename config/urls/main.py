"""Routes of the main port: the workspace. The other parts' mounts are told apart before Django."""

from django.urls import include, path

import dashboard.admin  # noqa: F401 - fills the admin's site before its pages get their URLs
import review.admin  # noqa: F401

handler404 = "config.kernel.web.answers.not_found"
handler500 = "config.kernel.web.answers.failed"

urlpatterns = [path("", include("workspace.urls"))]
