"""Records of the API as the guide reads them, with one value wherever a program may put one."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from dashboard.files.schema import DEFAULTS
from dashboard.guide.live import Live


def app(value: str, **changes: Any) -> dict[str, Any]:
    """A running app whose texts are all `value`."""
    return {
        "slug": "shop", "name": value, "source": "declared", "state": "down", "reason": "refused",
        "message": value, "url": "http://localhost:3000/", "port": 3000, "tags": [value],
        "identity": {
            "process": {"name": value, "pid": 5, "argv": [value, value]}, "cwd": f"/home/{value}",
            "git": {"branch": value}, "title": value,
        },
        "config": {"name": value, "service": {"command": value}},
        **changes,
    }  # fmt: skip


def listener(value: str) -> dict[str, Any]:
    return {
        "id": "o-0123456789ab",
        "port": 5173,
        "hidden": False,
        "identity": app(value)["identity"],
    }


def live(value: str, *, url: str = "http://localhost:3000/", **config: Any) -> Live:
    """The same machine, whatever `value` is."""
    return Live(
        base="http://localhost:4255",
        now=datetime(2026, 11, 20, 12, tzinfo=UTC),
        config={**DEFAULTS, **config},
        apps=[app(value, url=url), app(value, slug="other", url=url)],
        observed=[listener(value)],
        groups=[
            {"group": "docs", "name": value,
             "links": [{"name": value, "url": url, "description": value}]}
        ],
        lost={"items": [{"id": "o-0123456789ab", "name": value, "port": 1, "cwd": f"/{value}",
                         "command": [value], "blocked": value}]},
        nodes=[{"name": value, "alive": False, "goneSince": "2026-11-20T11:00:00.000Z",
                "dashboard": url, "version": value, "apps": {value: 1}}],
        errors=[{"file": "apps/x.yaml", "line": 3, "level": "error", "message": value}],
    )  # fmt: skip
