"""The paths of a service's logs and state."""

from __future__ import annotations

from pathlib import Path

from dashboard.files import layout


def logs(slug: str) -> Path:
    """The folder of `current` and of the archives."""
    return layout.home() / "logs" / slug


def current(slug: str) -> Path:
    return logs(slug) / "current"


def record(slug: str) -> Path:
    return _state() / f"{slug}.json"


def recorded_slugs() -> list[str]:
    """The slugs that have a record."""
    return [path.stem for path in _state().glob("*.json")]


def exit_file(slug: str) -> Path:
    """Written by the wrapper; its folder is made before the wrapper starts."""
    return _state() / f"{slug}.exit"


def _state() -> Path:
    return layout.state_dir() / "services"
