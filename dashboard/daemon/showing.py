"""An app as its pictures depend on it (section 14)."""

from __future__ import annotations

from dashboard.files.schema.app import Thumb
from dashboard.gallery import Shown
from dashboard.health.record import State
from dashboard.registry.census import App


def shown(app: App, state: State) -> Shown:
    sighting = app.sighting
    identity = sighting.identity if sighting is not None else None
    return Shown(
        name=app.name,
        framework=identity.framework.name if identity and identity.framework else None,
        color=app.file.color if app.file else None,
        thumb=app.file.thumb if app.file else Thumb(),
        url=app.local_url,
        state=state,
        html=_html(app),
        repository=identity.git.root if identity and identity.git else None,
        declared=app.declared,
    )


def _html(app: App) -> bool | None:
    """Whether its page is one; None while nobody knows: a redirect mostly says nothing."""
    answer = app.sighting.answer if app.sighting is not None else None
    kind = answer.headers.get("content-type") if answer is not None else None
    return "html" in kind.lower() if kind else None
