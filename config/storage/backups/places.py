"""Where a restored service keeps projects and rows: its svc.config.yaml may name other places than
the settings under which the restore was started, when that file was not there yet
(docs/operations.md#backup-and-restore)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from config.options import OPTIONS

PLACES = [
    (one.env, one.key, one.read)
    for one in (OPTIONS["projects_dir"], OPTIONS["database_url"])
    if one.env and one.key
]


def named(tree: Mapping[str, Any]) -> dict[str, str]:
    """The places in a configuration file, as the environment variables that say the same.

    Raises OptionError for a value that is not allowed."""
    return {env: str(read(key, tree[key])) for env, key, read in PLACES if tree.get(key)}


def only_set(environ: Mapping[str, str], tree: Mapping[str, Any]) -> list[str]:
    """The variables that name a place which the configuration file does not name."""
    said = named(tree)
    here = {env: str(read(env, environ[env])) for env, _, read in PLACES if env in environ}
    return [env for env, value in here.items() if value != said.get(env)]
