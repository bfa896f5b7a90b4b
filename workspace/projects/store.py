"""Projects: directories with a project.yaml, read as they are now.

The file decides. The index row only keeps the last valid content of a file that is broken now, and
the home a name belongs to, if hosts with different projects directories share a database.
"""

from __future__ import annotations

import datetime as dt
import os
import shutil
import stat as stat_bits
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from config.errors import Conflict, Invalid, NotFound, Problem, printable
from config.network import NetworkSetting
from config.process import nodes
from config.storage import database, files, homes, paths, yamlio
from config.storage.mirror import Mirror
from workspace import ids, models
from workspace.access import reach
from workspace.engines.network import Network
from workspace.projects import cloning, folders, schema
from workspace.projects.project import FILE, Away, Project

STAGING = ".svc-new-"  # not a valid slug, so a project being made is not listed
FRESH_S = 1.0  # how long the list of other homes' projects is kept
NAMED = 20  # projects named in one sentence
_elsewhere: tuple[float, list[Away]] = (0.0, [])
READ_ONLY = frozenset(
    (
        *("inherited", "repoBacked", "dir", "workingDir", "workingDirProblem", "sharedWith"),
        *("repository", "worktrees", "hasOverview", "counts"),
        *("paused", "nextRunAt", "changedAt", "error", "errorLine", "warnings", "effectiveNetwork"),
    )
)


class Elsewhere(NotFound):
    """The project lives in another home."""

    code = "elsewhere"


class SlugTaken(Elsewhere):
    """The directory is here, but a project of another home had its name first."""

    status = 409
    code = "taken"


def get(slug: str) -> Project:
    """The project as its file is now. Raises NotFound, Elsewhere, SlugTaken."""
    project = _read(slug) if schema.is_slug(slug) else None
    if project is None:
        raise _missing(slug)
    if project.taken:
        raise SlugTaken(project.error)
    return project


def _missing(slug: str) -> NotFound:
    found = away(slug) if schema.is_slug(slug) else None
    if found is not None:
        return Elsewhere(f"The project {slug} lives {found.place}, not here")
    return NotFound(f"Project not found: {printable(slug)}")


def working_dir(slug: str) -> Path | None:
    """Where the agents of a project work; None if there is no such directory or they may not."""
    project = _read(slug) if schema.is_slug(slug) else None
    place = project.place if project else None
    return place.dir if place and not place.problem and place.dir.is_dir() else None


def workable(project: Project) -> Path:
    """The real directory in which a turn of this project will work. Conflict with the reason if
    it may not work there now."""
    place = project.place
    if place.problem:
        raise Conflict(f"This project cannot work: {place.refusal}.", code="no_folder")
    return place.dir


def working_at() -> dict[Path, list[str]]:
    """Directory -> slugs of the projects whose `path` leads to it."""
    found: dict[Path, list[str]] = {}
    wall = folders.Wall.now()
    for project in all():
        place = folders.of(project.data, wall)
        if place and not place.problem:
            found.setdefault(place.dir, []).append(project.slug)
    return found


def writable(slug: str) -> Project:
    """Like get, but Conflict if the project's file cannot be parsed."""
    return sound(get(slug))


def sound(project: Project) -> Project:
    """The project itself; Conflict if its file is broken, as every write is refused then."""
    if project.error:
        text = f"project.yaml of {project.slug} {project.trouble}"
        raise Conflict(text, code="bad_project_file")
    return project


def all() -> list[Project]:  # noqa: A001 - projects.all() reads as it should
    """Every project that is usable here, in the order of slugs."""
    return [project for project in all_with_taken() if not project.taken]


def all_with_taken() -> list[Project]:
    """Every project that has a directory, in the order of slugs, also one whose name is taken."""
    return [project for slug in sorted(slugs()) if (project := _read(slug))]


def network_warnings() -> list[str]:
    """One sentence about all projects whose turns have this machine's own network; [] if none."""
    if not reach.on_host(NetworkSetting()):
        return []  # no project has more than the instance
    slugs = [project.slug for project in all() if reach.on_host(project.network)]
    more = [f"{len(slugs) - NAMED} more"] if len(slugs) > NAMED else []
    named = ", ".join([*slugs[:NAMED], *more])
    return [reach.host_warning(f"{named} and every new project" if named else "every new project")]


def others() -> QuerySet[models.Project]:
    """Rows of projects that live in another home; none if the database serves only one home."""
    if not homes.home():
        return models.Project.objects.none()
    return models.Project.objects.exclude(homes.adoptable())


def elsewhere() -> list[Away]:
    """The projects of other homes, and where they live; [] while the database is gone.

    Queried once in FRESH_S: with every list of projects it would cost more than the list."""
    global _elsewhere  # noqa: PLW0603 - one per process
    known_until, found = _elsewhere
    if time.monotonic() >= known_until:
        found = database.unless_gone(lambda: [_away(row) for row in others()], list)
        _elsewhere = (time.monotonic() + FRESH_S, found)
    return found


def away(slug: str) -> Away | None:
    """Where a project of another home lives; None if there is no such project."""
    row = database.unless_gone(lambda: others().filter(slug=slug).first(), lambda: None)
    return _away(row) if row else None


def _away(row: models.Project) -> Away:
    name = row.data.get("name")
    name = name if isinstance(name, str) and name.strip() else row.slug
    hosts = sorted(
        (node for node in nodes.others() if node.home == row.home), key=lambda node: not node.alive
    )
    if not hosts:
        return Away(row.slug, name)
    return Away(row.slug, name, hosts[0].name, hosts[0].url or None, hosts[0].alive)


def slugs() -> Iterator[str]:
    """Names of directories that can be projects, in no order."""
    with os.scandir(settings.PROJECTS_DIR) as entries:
        yield from (entry.name for entry in entries if schema.is_slug(entry.name))


def _locate(slug: str) -> Path:
    return settings.PROJECTS_DIR / slug / FILE


MIRROR = Mirror(
    model=models.Project,
    key="slug",
    keys=slugs,
    locate=_locate,
    within=lambda slug: settings.PROJECTS_DIR / slug,
    grace_s=files.SETTLE_S,
)


def _read(slug: str) -> Project | None:
    found = MIRROR.get(slug)
    if found is None:
        return None
    return Project(
        slug=slug,
        dir=found.path.parent,
        stat=found.stat,
        etag=found.etag,
        data=found.data,
        document=found.document,
        error=_taken_text(slug) if found.taken else found.error,
        error_line=None if found.taken else found.error_line,
        taken=bool(found.taken),
    )


def _taken_text(slug: str) -> str:
    where = (away(slug) or Away(slug, slug)).place
    return f"the project {slug} lives {where} already: rename this directory"


def create(
    *,
    principal: Any,
    name: str,
    slug: str | None = None,
    repo: str | None = None,
    path: str | None = None,
    summary: str | None = None,
    group: str | None = None,
    status: str | None = None,
    over_mcp: bool = False,
    network: Network | None = None,
) -> Project:
    """Make the directory and its project.yaml. `repo` is cloned first; a caller with a `network`
    can clone only from hosts that it reaches. With `path` agents work in that directory, and this
    writes nothing in it."""
    given = {"name": name, "summary": summary, "group": group, "status": status, "repo": repo}
    given["path"] = path
    present = {key: value for key, value in given.items() if value is not None}
    values = _read_all(present, folders.problems(present))
    slug = _new_slug(slug, values["name"])
    if repo:
        cloning.check(values["repo"], local=not over_mcp, network=network)
    today = dt.datetime.now(dt.UTC).date().isoformat()
    content = {
        "name": values["name"],
        "status": values.get("status", "active"),
        **{key: values[key] for key in ("summary", "group", "repo", "path") if values.get(key)},
        "started": today,
        "updated": today,
    }
    with files.writing(FILE):
        _make(settings.PROJECTS_DIR / slug, content, local=not over_mcp, network=network)
    return get(slug)


def creation_slug(*, name: str, slug: str | None = None) -> str:
    """The slug that create would use, so that permissions can be checked before."""
    return _new_slug(slug, name, may_exist=True)


def _new_slug(slug: str | None, name: str, *, may_exist: bool = False) -> str:
    if slug is None:
        slug = schema.derive_slug(name)
    elif not schema.is_slug(slug):
        reason = "must be lower-case letters and digits joined by single hyphens (1-64)"
        raise Invalid([Problem("slug", reason, '"notes-2"')])
    if not may_exist:
        if os.path.lexists(settings.PROJECTS_DIR / slug):
            raise Conflict(f"Project already exists: {slug}", code="exists")
        if (found := away(slug)) is not None:
            raise Conflict(f"Project already exists {found.place}: {slug}", code="exists")
    return slug


def _make(
    target: Path, content: dict[str, Any], *, local: bool, network: Network | None = None
) -> None:
    """Build the project beside `target` and rename it, so that half a project is never seen."""
    staging = target.with_name(STAGING + ids.ulid())
    staging.mkdir(mode=0o700)
    try:
        if "repo" in content:
            about = {"slug": target.name, "name": content["name"]}
            cloning.clone(content["repo"], staging, local=local, network=network, **about)
        files.write(staging / FILE, yamlio.dump(content), mode=0o600)
        staging.rename(target)
    except OSError as error:
        if os.path.lexists(target):
            raise Conflict(f"Project already exists: {target.name}", code="exists") from None
        raise error
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def clear_staging(*, older_than_s: float = 3600) -> None:
    """Remove what a crash during a creation left behind."""
    limit = dt.datetime.now(dt.UTC).timestamp() - older_than_s
    for path in settings.PROJECTS_DIR.glob(STAGING + "*"):
        entry = path.lstat()
        if stat_bits.S_ISDIR(entry.st_mode) and entry.st_mtime < limit:
            shutil.rmtree(path, ignore_errors=True)


def update(
    slug: str, patch: Mapping[str, Any], *, if_match: str | None = None
) -> tuple[Project, list[str]]:
    """Apply a partial change; `None` removes a key. Return the project and warnings."""
    project = writable(slug)
    known = {key: value for key, value in patch.items() if key in schema.KEYS}
    ignored = patch.keys() - known.keys() - READ_ONLY
    warnings = [f'unknown key "{key}" ignored' for key in sorted(ignored)]
    changes = _changes(project, known)
    if if_match is not None or changes:
        edit_file(project, lambda data: _with_changes(data, changes), if_match=if_match)
    return get(slug), warnings


def _changes(project: Project, patch: Mapping[str, Any]) -> dict[str, Any]:
    """The keys that really change; `None` = remove. Immutable keys must be unchanged or null."""
    if patch.get(folders.KEY) == "":  # how a project without `path` is shown
        patch = {**patch, folders.KEY: None}
    fixed = [key for key in patch if schema.KEYS[key].immutable]
    problems = [
        Problem(key, "cannot be changed")
        for key in fixed
        if key != "updated" and patch[key] not in (project.effective(key), None)
    ]
    if patch.get("network") not in (None, project.data.get("network")):
        problems += _refused_network(patch["network"])
    if patch.get(folders.KEY) not in (None, project.data.get(folders.KEY)):
        problems += folders.problems({"repo": project.data.get("repo"), **patch})
    values = _read_all(
        {key: value for key, value in patch.items() if value is not None and key not in fixed},
        problems,
    )
    values |= {key: None for key, value in patch.items() if value is None and key not in fixed}
    if values.get("group") == "":
        values["group"] = None
    changes = {key: value for key, value in values.items() if project.data.get(key) != value}
    return changes | {"updated": dt.datetime.now(dt.UTC).date().isoformat()} if changes else {}


def _refused_network(value: Any) -> list[Problem]:
    """Problems of a network setting that would have no effect if written by hand."""
    return [Problem("network", reason) for reason in reach.refusals(reach.parse_setting(value))]


def _read_all(values: Mapping[str, Any], problems: list[Problem] | None = None) -> dict[str, Any]:
    """All values, each read by its key's reader; Invalid with all problems together."""
    problems = problems or []
    accepted = {}
    for key, value in values.items():
        try:
            accepted[key] = (schema.KEYS[key].write or schema.KEYS[key].read)(value)
        except schema.Unfit as error:
            problems.append(Problem(key, str(error), schema.KEYS[key].example))
    if problems:
        raise Invalid(problems)
    return accepted


def _with_changes(data: bytes, changes: Mapping[str, Any]) -> bytes:
    for key, value in changes.items():
        data = (
            yamlio.remove_entry(data, (key,))
            if value is None
            else yamlio.set_entry(data, (key,), value)
        )
    return data


def edit_file(
    project: Project, edit: Callable[[bytes], bytes], *, if_match: str | None = None
) -> None:
    """Change project.yaml through the kernel's writer; this app writes it only here."""

    def apply(data: bytes | None) -> bytes:
        if data is None:
            raise NotFound(f"Project not found: {project.slug}")
        try:
            return edit(data)
        except yamlio.NotSpliceable as error:
            raise Conflict(f"project.yaml: {error}; change it by hand") from None
        except yamlio.YamlError as error:
            text = f"project.yaml of {project.slug} cannot be read: {error}"
            raise Conflict(text, code="bad_project_file") from None

    files.change(project.path, apply, if_match=if_match, within=project.dir)


def document(project: Project, name: str, *, limit: int = 4 * 1024 * 1024) -> bytes | None:
    """One of DOCUMENTS as it is now, None if missing; symlinks to the outside are not followed.

    OSError if it is unreadable or over `limit` bytes, UnsafePath if it leads elsewhere.
    """
    snapshot = files.read(paths.inside(project.dir, name), limit=limit, within=project.dir)
    return snapshot.data if snapshot else None


def document_text(project: Project, name: str) -> str | None:
    """The text of one of DOCUMENTS; None if missing, unreadable or over 256 KiB."""
    try:
        data = document(project, name, limit=256 * 1024)
    except (OSError, paths.UnsafePath):
        return None
    return None if data is None else data.decode(errors="replace")
