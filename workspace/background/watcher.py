"""The background work of the server: follow files and rows, and notify clients of changes.

Events carry only ids; correctness never depends on them, as every request reads the files. See
docs/design/workspace.md#files-are-the-truth.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable
from pathlib import Path

from django.conf import settings
from django.db import InterfaceError, OperationalError, connections

from config.errors import NotFound
from config.process import prctl
from config.storage import files, locks
from config.storage.paths import own_folder
from config.storage.watch import Watcher
from config.web.events import broadcaster
from workspace import ids
from workspace.background import renames
from workspace.background.indexer import Indexer
from workspace.background.ledger import Ledger
from workspace.background.places import Places
from workspace.chats import index
from workspace.chats.search import indexing
from workspace.chats.turns import recovery
from workspace.notify import showing
from workspace.projects import schema, store
from workspace.projects.project import DOCUMENTS, FILE
from workspace.trees import undo
from workspace.triggers import following, pausing
from workspace.worktrees import making

log = logging.getLogger(__name__)

QUIET_S = 1.0  # shortest time between two events of a growing chat


class Background:
    """One of settings.SVC_BACKGROUND: file watcher, ledger, and one sweep at the start."""

    def __init__(self) -> None:
        self._events = broadcaster("main")
        self._ledger = Ledger(
            self._events.publish, asks=showing.questions, healed=self._settle_soon
        )
        self._watcher = Watcher(folders, self.on_change)
        self._places = Places(self._events.publish, watched=lambda: self._events.clients)
        self._indexer = Indexer()
        self._told: dict[str, float] = {}

    def start(self) -> None:
        prctl.hide_memory()
        self._indexer.start()
        self._watcher.start()
        self._ledger.start()
        self._places.start()
        self._settle_soon()

    def _settle_soon(self) -> None:
        threading.Thread(target=self._settle, name="settle", daemon=True).start()

    def stop(self) -> None:
        self._watcher.stop()
        self._indexer.stop()
        self._ledger.stop()
        self._places.stop()

    def _settle(self) -> None:
        """Bring rows up to date with files, and settle turns that a crash ended."""
        try:
            files.sweep(folders())
            locks.sweep_locks()
            reindex()
            renames.follow()
            recovery.sweep(on_change=following.follow)
            for project, row in indexing.behind(store.all()):
                self._indexer.grew(project.slug, row.id)
            making.sweep()
            undo.sweep()  # last, since a disk that hangs may hold a work tree
        except Exception:
            log.exception("the index was not settled at the start; requests bring it up to date")
        finally:
            connections.close_all()

    def on_change(self, paths: set[Path]) -> None:
        """Update the rows of changed files, and notify clients which projects and chats changed."""
        if pausing.switch() in paths:
            self._events.publish("pause", {})
        changed_projects, changed_chats = find_affected(paths)
        if changed_projects:
            self._follow_renames()
        for slug in sorted(changed_projects):
            store.MIRROR.refresh(slug)
            self._events.publish("project", {"slug": slug})
        for slug, session_id, quick in sorted(changed_chats):
            if quick or self._due(session_id):
                self._chat(slug, session_id)

    def _follow_renames(self) -> None:
        try:
            renames.follow()
        except (OperationalError, InterfaceError):  # the database is down: that is logged by itself
            log.warning("messages of a renamed project wait for the next change of one")
        except Exception:
            log.exception("messages of a renamed project wait for the next start")

    def _due(self, session_id: str) -> bool:
        now = time.monotonic()
        if now - self._told.get(session_id, -QUIET_S) < QUIET_S:
            return False
        self._told = {key: at for key, at in self._told.items() if now - at < QUIET_S}
        self._told[session_id] = now
        return True

    def _chat(self, slug: str, session_id: str) -> None:
        """Update the chat's row, on which some clients rely, before the event; index it later."""
        try:
            index.get(store.get(slug), session_id)
        except NotFound:
            pass  # it was deleted: clients are notified of that, too
        except Exception:
            log.exception("the row of a chat lags", extra={"chat": session_id})
        self._events.publish("chat", {"project": slug, "sessionId": session_id})
        self._indexer.grew(slug, session_id)


def folders() -> Iterable[Path]:
    """The projects directory, the folder of each project and its folder of chats."""
    root: Path = settings.PROJECTS_DIR
    yield root
    for slug in store.slugs():
        yield root / slug
        if own_folder(root / slug, root / slug / ".chats"):
            yield root / slug / ".chats"


def find_affected(paths: set[Path]) -> tuple[set[str], set[tuple[str, str, bool]]]:
    """(slugs of changed projects, changed chats: slug, id, whether its record changed)."""
    root: Path = settings.PROJECTS_DIR
    slugs: set[str] = set()
    chats: set[tuple[str, str, bool]] = set()
    for path in paths:
        parts = path.relative_to(root).parts if path.is_relative_to(root) else ()
        match parts:
            case (slug,) if schema.is_slug(slug):
                slugs.add(slug)
            case (slug, name) if schema.is_slug(slug) and name in (FILE, *DOCUMENTS):
                slugs.add(slug)
            case (slug, ".chats", name) if ids.UUID.fullmatch(Path(name).stem):
                if path.suffix in (".yaml", ".jsonl"):
                    chats.add((slug, path.stem, path.suffix == ".yaml"))
    return slugs, chats


def reindex() -> int:
    """Update every row of projects and chats from its file; return how many changed."""
    changed = len(store.MIRROR.scan())
    return changed + sum(len(index.rescan(project)) for project in store.all())
