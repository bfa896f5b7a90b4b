"""The workspace's destinations and badge for the palette, read only from the index, and the
directories of other programs' sessions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from urllib.parse import quote

from config.web.palette import Badge, Destination, Folder
from workspace.chats import unread
from workspace.chats.turns import questions
from workspace.models import Chat, Project, TriggerState
from workspace.projects import sessions, store
from workspace.worktrees import place

CHATS = 3000  # the newest ones only
PAGES = (
    ("Workspace", "part", "/"),
    ("All runs", "page", "/runs"),
    ("Clients of /mcp", "page", "/clients"),
    ("Audit", "page", "/audit"),
    ("Settings: notifications", "page", "/settings"),
)
SECTIONS = ("chats", "triggers", "runs", "settings")


def destinations() -> Iterator[Destination]:
    """Chats that ask a person, pages, projects and their pages, triggers, and chats that are not
    archived, newest first."""
    yield from _asking()
    for label, kind, path in PAGES:
        yield Destination(label, kind, path)
    names = _projects()
    for slug, name in names.items():
        yield Destination(name, "project", _path(slug), "Project", slug)
    for slug, name in names.items():
        for section in SECTIONS:
            yield Destination(f"{name}: {section}", "page", _path(slug, section), terms=slug)
    yield from _triggers(names)
    yield from _chats(names)


def waiting() -> Badge:
    asking = len({one["sessionId"] for one in questions.everywhere()})
    if asking:
        return Badge(asking, "chat needs you" if asking == 1 else "chats need you", urgent=True)
    count = sum(unread.counts().values())
    return Badge(count, "unread chat" if count == 1 else "unread chats")


def folders() -> Iterator[Folder]:
    """Directories in which other agents of this user had sessions, the latest first."""
    yield from (Folder(path, "claude") for path in sessions.claude())
    yield from (Folder(path, "codex") for path in sessions.codex())


def _asking() -> Iterator[Destination]:
    for one in questions.everywhere():
        path = _path(one["project"], "chats", one["sessionId"])
        hint = f"asks: {one['tool']} {one['summary']}".strip()
        yield Destination(one["name"], "asks", path, hint, f"needs you {one['project']}")


def branches(project: str) -> Iterator[Destination]:
    """Chats with their own worktree, labelled by their branch."""
    rows = Chat.objects.filter(project=project, record__worktree__isnull=False)
    for session_id, record in rows.order_by("created").values_list("id", "record"):
        if tree := place.of_file(session_id, record):
            yield Destination(tree.branch, "chat", _path(project, "chats", session_id))


def _projects() -> dict[str, str]:
    """Slug -> name of every project here; the name of one not read yet is its slug."""
    rows = dict(Project.objects.values_list("slug", "data"))
    here = {*store.slugs()} - {*store.others().values_list("slug", flat=True)}
    return {slug: str(rows.get(slug, {}).get("name") or slug) for slug in sorted(here)}


def _triggers(names: Mapping[str, str]) -> Iterator[Destination]:
    rows = TriggerState.objects.filter(project__in=names).values_list("project", "name")
    for slug, name in rows:
        path = f"{_path(slug, 'triggers')}?name={quote(name, safe='')}"
        yield Destination(name, "trigger", path, f"Trigger of {names[slug]}", slug)


def _chats(names: Mapping[str, str]) -> Iterator[Destination]:
    rows = Chat.objects.filter(project__in=names, archived=False).order_by("-updated")
    for chat, slug, name in rows.values_list("id", "project", "name")[:CHATS]:
        yield Destination(name or chat, "chat", _path(slug, "chats", chat), names[slug], slug)


def _path(slug: str, *rest: str) -> str:
    return "/".join(["/projects", *(quote(part, safe="") for part in (slug, *rest))])
