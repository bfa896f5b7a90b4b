"""One project as a value: the content of its file, and the values in effect where it has none.

Files are read and written by `store.py`; only `place` looks at the disk.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings

from config import readers, servers, zones
from config.network import NetworkSetting
from config.storage import yamlio
from workspace.access import reach
from workspace.projects import cloning, folders, schema

FILE = "project.yaml"
OVERVIEW, CHANGELOG = "OVERVIEW.md", "CHANGELOG.md"
DOCUMENTS = (OVERVIEW, CHANGELOG)
CHARACTERS_PER_TOKEN = 4  # for the token budgets of the documents
_INSTANCE = {
    "maxSpawnDepth": "max_spawn_depth",
    "hooksMcpEnabled": "hooks_mcp",
    "engine": "engine",
    "model": "model",
}


@dataclass(frozen=True, slots=True)
class Away:
    """A project that lives in another home: on the nodes that have its directory.

    `node` is one of them, a running one if possible; None if none is known.
    """

    slug: str
    name: str
    node: str | None = None
    url: str | None = None
    alive: bool = False

    @property
    def place(self) -> str:
        """Where it lives, as part of a sentence."""
        if self.node is None:
            return "with another projects directory on the same database"
        url = f", {self.url}" if self.url else ""
        return f"on {self.node} ({'running' if self.alive else 'gone'}{url})"


@dataclass(frozen=True, slots=True)
class Project:
    """One project as its file is now; with `error`, as the file was when last valid.

    `taken`: its name belongs to another home's project, so it is only shown.
    """

    slug: str
    dir: Path
    stat: str = ""
    etag: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    document: yamlio.Document | None = field(default=None, repr=False)
    error: str = ""
    error_line: int | None = None
    taken: bool = False

    def written(self, key: str) -> Any:
        """The value in the file, or None if it is absent or not usable."""
        value = self.data.get(key)
        try:
            return None if value is None else schema.KEYS[key].read(value)
        except schema.Unfit:
            return None

    def effective(self, key: str) -> Any:
        """The value in effect: the file's, else the instance's, else the default."""
        value = self.written(key)
        if key == "curation":
            return _curation_defaults() | (value or {})
        if key == "mcpServers":
            return {name: one.plain() for name, one in servers.read(self.data.get(key))[0].items()}
        if key == "network":
            return self.network.plain() or reach.mode()
        if key == "timezone" and value is None:
            return default_zone()
        if value is None or value == "":
            instance = _INSTANCE.get(key)
            return getattr(settings.SVC, instance) if instance else self._default(key)
        return value

    def _default(self, key: str) -> Any:
        default = schema.KEYS[key].default
        if key in ("name", "slug"):
            return self.slug
        return list(default) if isinstance(default, tuple) else default

    @property
    def inherited(self) -> list[str]:
        """Keys whose effective value does not come from the file."""
        return [key for key in schema.KEYS if self.written(key) is None and key != "slug"]

    @property
    def warnings(self) -> list[str]:
        """One sentence for each part of the file that has no effect."""
        found = []
        if self.place.problem and not folders.has_path(self.data):
            found.append(self.place.refusal)
        for key, value in self.data.items():
            if key == yamlio.MERGE:
                found.append(f"{key}: must name a mapping, or a list of them; nothing is mixed in")
            elif key == "slug" and value != self.slug:
                found.append(f'slug: "{str(value)[:100]}" is ignored, the directory is {self.slug}')
            elif key == folders.KEY:
                found += [self.place.refusal] if self.place.problem else []
            elif key == "network" and value is not None:
                found += reach.warnings(value)
            elif key == "mcpServers":
                found += servers.sentences(servers.read(value)[1])
            elif key in schema.KEYS and value is not None and self.written(key) is None:
                holds = "no cron fires by it" if key == "timezone" else "the default holds"
                found.append(f"{key}: not usable, {holds}")
            elif key == "engine" and (fault := readers.engine_fault(self.written(key) or "")):
                found.append(f"{key}: {fault}: messages that name no other engine cannot run")
        return found

    @property
    def trouble(self) -> str:
        """What is wrong with its file, as the end of a sentence that begins with its name."""
        prefix = "" if self.error.startswith("cannot be ") else "cannot be read: "
        return f"{prefix}{self.error}"

    @property
    def path(self) -> Path:
        return self.dir / FILE

    @property
    def chats_dir(self) -> Path:
        return self.dir / ".chats"

    @property
    def name(self) -> str:
        return str(self.effective("name"))

    @property
    def status(self) -> str:
        return str(self.effective("status"))

    @property
    def group(self) -> str:
        return str(self.effective("group"))

    @property
    def repo(self) -> str:
        return str(self.effective("repo"))

    @property
    def repo_backed(self) -> bool:
        return bool(self.repo)

    @property
    def place(self) -> folders.WorkingDirectory:
        """Where its agents work, by the disk as it is now, and the reason if they may not."""
        return folders.of(self.data) or folders.own(self.own_dir)

    @property
    def working_dir(self) -> Path:
        """The directory named by `path`, else the checkout of a cloned project, else the project's
        directory. Code that acts in it must first check `place.problem`."""
        return self.place.dir

    @property
    def own_dir(self) -> Path:
        """Where prompt files and attachments are kept: the working directory, unless that is a
        directory of the user's."""
        if self.repo and not folders.has_path(self.data):
            return self.dir / cloning.directory_name(self.repo)
        return self.dir

    @property
    def permission_mode(self) -> str:
        return str(self.effective("permissionMode"))

    @property
    def network(self) -> NetworkSetting:
        """The file's own setting; `reach.network` combines it with the instance's."""
        return reach.parse_setting(self.data.get("network"))

    @property
    def max_turns(self) -> int:
        return int(self.effective("maxTurns"))

    @property
    def max_spawn_depth(self) -> int:
        return int(self.effective("maxSpawnDepth"))

    @property
    def hooks_mcp(self) -> bool:
        return bool(self.effective("hooksMcpEnabled"))


def default_zone() -> str:
    """The time zone where none is named: the instance's, else that of this machine."""
    return settings.SVC.timezone or zones.host().name


def _curation_defaults() -> dict[str, Any]:
    svc = settings.SVC
    return {
        "enabled": svc.curation,
        "minIntervalMs": svc.curation_min_interval_ms,
        "overviewMaxTokens": svc.curation_overview_max_tokens,
        "changelogMaxTokens": svc.curation_changelog_max_tokens,
    }
