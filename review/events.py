"""The events of the review part: ids of what changed, never contents.

A write through the API publishes its own event at once; its echo from the watcher is dropped
there (background/). See docs/design/review.md#events-of-review.
"""

from __future__ import annotations

from typing import Any

from config.errors import MethodNotAllowed
from config.web.answers import Receive, Send, refusal, refuse
from config.web.events import Broadcaster, EventStream, declare

RESYNC = {"type": "projects", "reason": "resync"}

EVENTS = declare("review", Broadcaster(resync=lambda: [("", RESYNC)], hello=False, retry_ms=1000))
STREAM = EventStream("review")


def review(project: str, repo: str, sha: str) -> None:
    """The review shown on this commit changed; `sha` is the full sha of the commit shown."""
    EVENTS.publish("", {"type": "review", "project": project, "repo": repo, "sha": sha})


def pr(project: str, repo: str, sha: str) -> None:
    """The PR record shown on this commit changed."""
    EVENTS.publish("", {"type": "pr", "project": project, "repo": repo, "sha": sha})


def project(slug: str, reason: str) -> None:
    """`reason` of a change: config, git, description, stack, assets, reviews or worktree."""
    EVENTS.publish("", {"type": "project", "project": slug, "reason": reason})


def projects(reason: str) -> None:
    """`reason` of a change of the list: added, removed, changed, examples or resync."""
    EVENTS.publish("", {"type": "projects", "reason": reason})


async def stream(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """ASGI: GET /api/events."""
    if scope["method"] == "GET":
        await STREAM(scope, receive, send)
    else:
        await refuse(send, refusal(MethodNotAllowed("Method not allowed"), (b"allow", b"GET")))
