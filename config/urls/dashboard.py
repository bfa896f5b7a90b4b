"""Routes of the dashboard part, on its own port and under /dashboard of the main one."""

from django.urls import include, path

from config.web.pages import or_page
from dashboard import pages
from dashboard.api import base

handler404 = or_page(pages.missing, base.not_found)
handler405 = "dashboard.api.base.method_not_allowed"
handler500 = "dashboard.api.base.server_error"

urlpatterns = [path("", include("dashboard.urls"))]
