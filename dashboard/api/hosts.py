"""The further host name that the guard lets through: the fronted host."""

from __future__ import annotations

from django.conf import settings

from config.errors import Unavailable
from dashboard.daemon import current, ownport


def fronted() -> frozenset[str]:
    """Lower case, as config.yaml says now; SVC_FRONTED_HOST wins. Reads no file: it guards."""
    names = ownport.names(settings.SVC, _written())
    return frozenset(name.lower().removesuffix(".") for name in names)


def _written() -> str | None:
    try:
        host: str | None = current().state.config.fronted.host
    except Unavailable:
        return None
    return host
