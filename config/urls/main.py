"""Routes of the main port: the workspace. The other parts' mounts are told apart before Django."""

from django.urls import include, path

handler404 = "config.kernel.web.answers.not_found"
handler500 = "config.kernel.web.answers.failed"

urlpatterns = [path("", include("workspace.urls"))]
