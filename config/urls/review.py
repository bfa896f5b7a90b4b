"""Routes of the review part, on its own port and under /review of the main one."""

from django.urls import include, path

from config.web.pages import or_page
from review import pages
from review.api import base

handler404 = or_page(pages.missing, base.not_found)
handler500 = "review.api.base.server_error"

urlpatterns = [path("", include("review.urls"))]
