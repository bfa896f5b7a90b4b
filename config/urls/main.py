"""Routes of the main port: the workspace, and the admin over every part's tables.

The other parts' mounts are told apart before Django.
"""

from importlib import import_module

from django.urls import include, path

from config.web import answers
from config.web.admin import site
from config.web.pages import or_page
from workspace import pages

handler404 = or_page(pages.missing, answers.not_found)
handler500 = "config.web.answers.failed"

for part in ("workspace", "review", "dashboard"):
    import_module(f"{part}.admin")  # fills the site, whose URLs are made once

urlpatterns = [path("admin/", site.urls), path("", include("workspace.urls"))]
