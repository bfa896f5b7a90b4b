"""Files attached to a message: kept in the project, named in the prompt, shown in the page.

They are kept in `.svc/attachments/` of the working directory, where agents can read them and git
ignores them. A project that works in a directory of the user's keeps them in its own folder
instead, which its turns can read as well. A name contains the hash of the contents, so it always
means the same file. The type of a file is decided by its bytes alone, on upload and on download.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from config.errors import Invalid, NotFound, Problem, TooLarge, UnsupportedMedia, printable
from config.storage import files, paths
from workspace.engines.message.pictures import SIGNATURES as IMAGES
from workspace.projects import store
from workspace.projects.project import Project

FOLDER = ".svc/attachments"
LIMIT = 10 * 1024 * 1024
MOST = 20  # per message
STEM_MAX, HASH_LENGTH = 60, 12
NAME = re.compile(r"[^/\\\x00-\x1f]{1,200}-[0-9a-f]{12}\.[a-z0-9]{1,8}")
SUFFIX = re.compile(r"[a-z0-9]{1,8}")
TEXT = "text/plain"
SIGNATURES = (*IMAGES, ("application/pdf", "pdf", re.compile(rb"%PDF-")))
HEAD = "Attached files:\n"
PICTURE = re.compile(
    rf"- (?:/[^\n]*/)?{re.escape(FOLDER)}/(\S[^\n]*) \(image/[a-z]+, [0-9]+ bytes\)"
)
REFUSED = "the file is neither an image (PNG, JPEG, GIF, WebP) nor a PDF nor text in UTF-8"


@dataclass(frozen=True, slots=True)
class Attachment:
    """One file: `path` as a prompt names it, from the working directory; `size` in bytes."""

    project: str
    name: str
    type: str
    size: int
    created: bool = False

    @property
    def path(self) -> str:
        return f"{FOLDER}/{self.name}"

    @property
    def url(self) -> str:
        return f"/api/projects/{self.project}/attachments/{self.name}"


def type_of(data: bytes) -> str | None:
    """The type of these bytes, if it is one that is accepted; None for anything else."""
    for kind, _suffix, signature in SIGNATURES:
        if signature.match(data):
            return kind
    try:
        return None if "\0" in data.decode() else TEXT
    except UnicodeDecodeError:
        return None


def add(*, project: Project, name: str, data: bytes) -> Attachment:
    """Keep a file under a safe form of its name. `created` is False if it was there already.

    Invalid when empty, TooLarge over 10 MiB, UnsupportedMedia for a type that is not accepted."""
    store.sound(project)
    if not data:
        raise Invalid([Problem("file", "is empty")])
    if len(data) > LIMIT:
        raise TooLarge(f"the file is larger than {LIMIT // 1024 // 1024} MiB")
    kind = type_of(data)
    if kind is None:
        raise UnsupportedMedia(REFUSED)
    safe = _safe(name, kind, hashlib.sha256(data).hexdigest()[:HASH_LENGTH])
    folder = _folder(project)
    with files.writing(safe):
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / ".gitignore").exists():
            files.write(folder / ".gitignore", b"*\n", within=project.own_dir)
    known = _read(project, safe) == data
    if not known:
        files.write(folder / safe, data, within=project.own_dir)
    return Attachment(project.slug, safe, kind, len(data), created=not known)


def _safe(name: str, kind: str, digest: str) -> str:
    """Letters and digits of the name, the hash, and a suffix that fits the type of the file."""
    stem, _, suffix = name.rpartition(".")
    if not stem:
        stem, suffix = name, ""
    kept = (char if unicodedata.category(char)[0] in "LN" else "-" for char in stem)
    stem = re.sub(r"-+", "-", "".join(kept)).strip("-")[:STEM_MAX].strip("-")
    own = {one: short for one, short, _ in SIGNATURES}.get(kind)
    text = suffix.lower() if SUFFIX.fullmatch(suffix.lower()) else "txt"
    return f"{stem or 'file'}-{digest}.{own or text}"


def _folder(project: Project) -> Path:
    """The folder of attachments. UnsafePath if a link leads out of the project's own directory."""
    return paths.inside(project.own_dir, FOLDER)


def _read(project: Project, name: str) -> bytes | None:
    """The bytes of this attachment; None if the name is not one we give out or there is no file."""
    if not NAME.fullmatch(name):
        return None
    try:
        path = _folder(project) / paths.segment(name)
        found = files.read(path, limit=LIMIT, within=project.own_dir)
    except (OSError, paths.UnsafePath):
        return None
    return found.data if found else None


def get(*, project: Project, name: str) -> tuple[Attachment, bytes]:
    """One file as it is now. NotFound for any name that is not an attachment."""
    data = _read(project, name)
    kind = type_of(data) if data else None
    if data is None or kind is None:
        raise NotFound(f"Attachment not found: {printable(name)} in project {project.slug}")
    return Attachment(project.slug, name, kind, len(data)), data


def with_files(
    *, project: Project, prompt: str, attached: Sequence[str], apart: bool | None = None
) -> str:
    """The prompt with its files listed at the end, as the agent finds them: by absolute path if it
    works elsewhere (`apart`; by default as the project's place says).

    Invalid if one of them does not exist."""
    if len(attached) > MOST:
        raise Invalid([Problem("attachments", f"holds {len(attached)} files, at most {MOST}")])
    apart = project.place.apart if apart is None else apart
    lines = [_line(project, path, apart=apart) for path in dict.fromkeys(attached)]
    head = f"{prompt.rstrip()}\n\n" if prompt.strip() else ""
    return f"{head}{HEAD}" + "\n".join(lines) if lines else prompt


def pictures(*, project: Project, prompt: str) -> list[str]:
    """Absolute paths of the images that `with_files` listed at the end of a prompt."""
    listed = prompt.rpartition(HEAD)[2] if HEAD in prompt else ""
    names = [found[1] for line in listed.splitlines() if (found := PICTURE.fullmatch(line))]
    return [str(_folder(project) / name) for name in names if NAME.fullmatch(name)][:MOST]


def _line(project: Project, path: str, *, apart: bool) -> str:
    folder, _, name = path.rpartition("/")
    try:
        found = get(project=project, name=name)[0] if folder == FOLDER else None
    except NotFound:
        found = None
    if found is None:
        example = f'"{FOLDER}/shot-0a1b2c3d4e5f.png"'
        reason = f'"{printable(path)}" is not an attachment of this project; upload it first'
        raise Invalid([Problem("attachments", reason, example)])
    where = str(_folder(project) / found.name) if apart else found.path
    return f"- {where} ({found.type}, {found.size} bytes)"
