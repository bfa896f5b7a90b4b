"""Routes of the main port: the workspace, and the admin over every part's tables.

Requests to the mounts of the other parts are routed before they reach Django.
"""

from importlib import import_module

from django.urls import include, path

from config.web import answers
from config.web.admin import site
from config.web.pages import or_page
from workspace import pages

handler404 = or_page(pages.missing, answers.not_found)
handler500 = "config.web.answers.server_error"

for part in ("workspace", "review", "dashboard"):
    import_module(f"{part}.admin")  # registers with the site, whose URLs are built once

urlpatterns = [path("admin/", site.urls), path("", include("workspace.urls"))]
