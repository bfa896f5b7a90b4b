"""Routes of the dashboard part, on its own port and under /dashboard of the main one."""

from django.urls import include, path

handler404 = "config.kernel.web.answers.not_found"
handler500 = "config.kernel.web.answers.failed"

urlpatterns = [path("", include("dashboard.urls"))]
