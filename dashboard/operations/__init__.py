"""What may be done: HTTP, MCP and the command line all go through these (section 1.2, 5).

Each takes the caller and flat arguments as they were sent, and returns the body of the HTTP
answer; a write returns Written. They block, so they belong in a thread; the daemon is reached
through `current()`, which refuses with `starting` until the files are loaded.
"""

from dashboard.operations.apps import get_app, known_app, list_apps, patch_app, put_app, remove_app
from dashboard.operations.bookmarks import (
    get_bookmarks,
    list_bookmarks,
    patch_bookmarks,
    put_bookmarks,
    remove_bookmarks,
)
from dashboard.operations.caller import Local, Record, Written
from dashboard.operations.finding import find_app, wait_for_app
from dashboard.operations.history import app_history
from dashboard.operations.looks import icon, refresh_thumbs, thumb
from dashboard.operations.lost import dismiss_lost, get_lost, known_lost, restart_lost
from dashboard.operations.nodes import list_nodes
from dashboard.operations.observed import claim, ignore, known_listener, list_observed, scan
from dashboard.operations.removed import list_removed, restore_removed
from dashboard.operations.services import app_logs, service
from dashboard.operations.state import get_config, state
from dashboard.operations.texts import get_ignore, get_text, put_ignore, put_text

__all__ = [
    "Local", "Record", "Written", "app_history", "app_logs", "claim", "dismiss_lost",
    "find_app", "get_app", "get_bookmarks", "get_config", "get_ignore", "get_lost",
    "get_text", "icon", "ignore", "known_app", "known_listener", "known_lost", "list_apps",
    "list_bookmarks", "list_nodes", "list_observed", "list_removed", "patch_app", "patch_bookmarks",
    "put_app", "put_bookmarks", "put_ignore", "put_text", "refresh_thumbs", "remove_app",
    "remove_bookmarks", "restart_lost", "restore_removed", "scan", "service", "state",
    "thumb", "wait_for_app",
]  # fmt: skip
