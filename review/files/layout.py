"""The paths of the files. Only names of the forms listed here ever reach the disk."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Literal

from django.conf import settings

from config.storage.paths import UnsafePath

Kind = Literal["reviews", "prs"]

PROJECT = "project.yaml"
KINDS: tuple[Kind, ...] = ("reviews", "prs")
SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
REPO = re.compile(r"(?!\.{1,2}\Z)[A-Za-z0-9._-]{1,64}")
SHA_FILE = re.compile(r"([0-9a-f]{7,64})\.yaml")
WORKTREE = "WORKTREE"  # replaces the sha in names and routes, for what is not committed


def path(*parts: str) -> Path:
    """The path of a file from its parts below the projects directory. UnsafePath for any other."""
    match parts:
        case (slug, "project.yaml") if SLUG.fullmatch(slug):
            return root() / slug / PROJECT
        case (slug, "reviews" | "prs" as kind, repo, name) if (
            SLUG.fullmatch(slug) and REPO.fullmatch(repo) and is_named(kind, name)
        ):
            return root() / slug / kind / repo / name
    raise UnsafePath("this names no file of a project")


def state_dir() -> Path:
    """The folder of the review part outside the projects, for this user alone."""
    folder = Path(settings.DATA_DIR) / "state" / "review"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def drafts(slug: str, repo: str) -> Path:
    """The folder of a repo's unsent drafts: outside the projects, with a file for each commit."""
    return Path(settings.DATA_DIR) / "state/review/drafts" / slug / repo


def slugs() -> list[str]:
    """Names of the directories that hold a project.yaml, sorted."""
    return sorted(name for name in list_folder(root()) if SLUG.fullmatch(name) and is_project(name))


def names(slug: str, kind: Kind, repo: str) -> list[str]:
    """The shas, full or short, that have a file of this kind, sorted."""
    if not (SLUG.fullmatch(slug) and REPO.fullmatch(repo)):
        return []
    found = map(SHA_FILE.fullmatch, list_folder(root() / slug / kind / repo))
    return sorted(match[1] for match in found if match)


def name_of(slug: str, kind: Kind, repo: str, sha: str) -> str | None:
    """The name of a commit's file: its full sha rather than a shorter one; None without a file."""
    found = (name for name in names(slug, kind, repo) if sha.startswith(name))
    return max(found, key=len, default=None)


def is_named(kind: str, name: str) -> bool:
    """Whether a file of this kind can be named so: after a commit, or after the work tree."""
    if SHA_FILE.fullmatch(name):
        return True
    return kind == "reviews" and name == f"{WORKTREE}.yaml"


def has_worktree(slug: str, repo: str) -> bool:
    """Whether there is a review of what is not committed in this repo."""
    if not (SLUG.fullmatch(slug) and REPO.fullmatch(repo)):
        return False
    return os.path.isfile(root() / slug / "reviews" / repo / f"{WORKTREE}.yaml")  # noqa: PTH113


def is_project(slug: str) -> bool:
    return os.path.isfile(root() / slug / PROJECT)  # noqa: PTH113 - no error is one of ours


def list_folder(folder: Path) -> list[str]:
    """The names in a folder; empty if there is no folder or it cannot be read."""
    try:
        return os.listdir(folder)  # noqa: PTH208 - names are all that is wanted
    except OSError:
        return []


def project(slug: str) -> Path:
    """The project's folder: its files may not lead out of it by a link, but it may be a link."""
    return root() / slug


def root() -> Path:
    return Path(settings.PROJECTS_DIR)
