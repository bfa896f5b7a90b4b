"""What each file may hold, as typed values, with one sentence for every mistake.

Every reader takes the mapping of the file (and its texts, see Fields) and returns the value with
the issues found. Unknown keys stay in the file and in answers, and only cause a warning.
"""

from dashboard.files.schema.app import AppFile, Link, Match, Thumb, read_app
from dashboard.files.schema.config import (
    DEFAULTS,
    UNREADABLE,
    Config,
    read_config,
    with_defaults,
    without_wrong,
)
from dashboard.files.schema.group import BookmarkLink, Group, read_group
from dashboard.files.schema.health import SILENT_PORTS, Health
from dashboard.files.schema.ignore import IgnoreRule, read_ignore, same_rule
from dashboard.files.schema.service import Ready, Service

__all__ = [
    "DEFAULTS", "SILENT_PORTS", "UNREADABLE", "AppFile", "BookmarkLink", "Config", "Group",
    "Health", "IgnoreRule", "Link", "Match", "Ready", "Service", "Thumb", "read_app",
    "read_config", "read_group", "read_ignore", "same_rule", "with_defaults", "without_wrong",
]  # fmt: skip
