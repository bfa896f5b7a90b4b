"""The fronted host: a further host name that the guard lets through."""

from __future__ import annotations

from django.conf import settings

from config.errors import Unavailable
from dashboard.daemon import current, ownport


def fronted_names() -> frozenset[str]:
    """The names in lower case, as config.yaml says at this moment; SVC_FRONTED_HOST takes
    precedence. Reads no file, because the guard calls it for requests."""
    names = ownport.names(settings.SVC, _configured_host())
    return frozenset(name.lower().removesuffix(".") for name in names)


def _configured_host() -> str | None:
    try:
        host: str | None = current().state.config.fronted.host
    except Unavailable:
        return None
    return host
