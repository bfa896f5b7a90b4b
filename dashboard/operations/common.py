"""What the operations share: records, answers to writes, refusals of what was sent.

Nothing here decides whether something may be done; the nouns do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

from config.errors import SvcError
from config.waits import Bound
from dashboard.daemon import Daemon
from dashboard.files import errors
from dashboard.files.bodies import SURROGATE
from dashboard.files.errors import BadValues
from dashboard.files.fields import Issue
from dashboard.registry.records import App, WithConfig

MOST = 16  # half of the process's threads (config.web.http.threads)
waiting = Bound(MOST, "actions on services are under way; try again soon.")
Record = Mapping[str, Any]


class Removed(TypedDict):
    ok: bool
    removed: str


@dataclass(frozen=True, slots=True)
class Written:
    """The answer to a write: the record after it, its tag with quotes, and whether it is new."""

    record: Mapping[str, Any]
    etag: str
    created: bool


def directory(one: Record) -> str | None:
    """The directory in which an app or a listener runs, else the one its service is started in."""
    running = (one["identity"] or {}).get("cwd")
    started = ((one.get("config") or {}).get("service") or {}).get("cwd")
    return running or started


def app_record(daemon: Daemon, slug: str, *, config: WithConfig = "masked") -> App:
    """The record App. NotFound if the slug is not that of an app."""
    found = daemon.ask(daemon.views.app, slug, config)
    if found is None and is_app(daemon, slug):
        found = daemon.ask(daemon.views.app, slug, config)
    if found is None:
        raise errors.not_found("apps", slug)
    return found


def is_app(daemon: Daemon, slug: str) -> bool:
    """Whether there is such an app, declared or discovered.

    The files are read again before the answer is no, as one may have been written a moment ago.
    """

    def is_known() -> bool:
        return slug in daemon.state.census.apps

    if daemon.ask(is_known):
        return True
    daemon.sync()
    return daemon.ask(is_known)


def written_app(daemon: Daemon, slug: str, *, created: bool) -> Written:
    """The answer to a write of an app's file, once the daemon has read the file."""
    daemon.sync()
    record = app_record(daemon, slug)
    return Written(record, record["etag"] or "", created)


def defect(number: str) -> SvcError:
    """500 `internal`; the log identifies the request by the same id."""
    text = f"Something failed here (id {number}); the server log has it."
    return SvcError(text, extra={"id": number})


def invalid(key: str, message: str) -> BadValues:
    """400 `invalid` for one value of a body or of a tool's arguments."""
    return BadValues([Issue((key,), message)])


def text(key: str, value: Any) -> str:
    """A text that was sent. BadValues if it is not text or is blank."""
    if not isinstance(value, str) or not value.strip() or SURROGATE.search(value):
        raise invalid(key, "must be text")
    return value


def choice(key: str, value: Any, *words: str) -> str:
    """A value that must be one of these words. BadValues for anything else."""
    if value not in words:
        raise invalid(key, f"must be {', '.join(words[:-1])} or {words[-1]}")
    return str(value)
