"""The package a directory belongs to: its nearest manifest, of eight kinds.

A manifest that is too large, broken or not a regular file is not used, and never waited for.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson

from config.storage import files

LIMIT = 256 * 1024  # bytes; real manifests have a tenth of that
NAME = 214
MOST_DOTS = 100  # in one line

Facts = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Package:
    """`name` and `version` as declared, None if not; `needs`: the names of its dependencies.

    `whole` is False if the manifest could not be read.
    """

    file: Path
    name: str | None
    version: str | None
    manager: str
    needs: frozenset[str] = frozenset()
    whole: bool = True


def find(folders: Iterable[Path]) -> Package | None:
    """The first manifest in these directories, nearest first; None if none has one."""
    folders = list(folders)
    for folder in folders:
        for name in MANIFESTS:
            file = folder / name
            if _is_file(file):
                return _read(file, folders[folders.index(folder) :])
    return None


def installed_version(package: Package, need: str) -> str | None:
    """The version of a dependency that is installed beside the manifest (node_modules)."""
    if package.file.name != "package.json":
        return None
    file = package.file.parent / "node_modules" / need / "package.json"
    return _read(file, []).version if _is_file(file) else None


def _read(file: Path, folders: list[Path]) -> Package:
    try:
        facts, whole = _facts(file, files.stat_of(file))
    except OSError:  # not cached: it may become readable without a change of its stat
        facts, whole = {}, False
    manager = _text(facts.get("manager")) or _manager(file.name, folders)
    return Package(
        file=file,
        name=_text(facts.get("name")),
        version=_text(facts.get("version")),
        manager=manager,
        needs=frozenset(facts.get("needs", ())),
        whole=whole,
    )


@lru_cache(1024)
def _facts(file: Path, _stat: str | None) -> tuple[Facts, bool]:
    """A manifest's content, and whether it could be read; parsed once per state of the file."""
    try:
        snapshot = files.read(file, limit=LIMIT)
        return (MANIFESTS[file.name](snapshot.data.decode()) if snapshot else {}), True
    except (ValueError, RecursionError):
        return {}, False


def _text(value: object) -> str | None:
    return value.strip()[:NAME] or None if isinstance(value, str) else None


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a loop of links, a name too long, another user's directory
        return False


def _manager(manifest: str, folders: list[Path]) -> str:
    """The manager of the nearest lock file; without one, the usual manager of the manifest."""
    locks, usual = MANAGERS[manifest]
    for folder in folders:
        for lock, manager in locks.items():
            if os.path.lexists(folder / lock):
                return manager
    return usual


def _mapping(value: object) -> Facts:
    return value if isinstance(value, dict) else {}


def _javascript(text: str) -> Facts:
    found = _mapping(orjson.loads(text))
    manager = found.get("packageManager")
    known = manager.partition("@")[0] if isinstance(manager, str) else None
    return {
        **_name_and_version(found),
        "manager": known if known in {"npm", "pnpm", "yarn", "bun"} else None,
        "needs": [
            name
            for kind in ("dependencies", "devDependencies", "imports")
            for name in _mapping(found.get(kind))
        ],
    }


def _composer(text: str) -> Facts:
    found = _mapping(orjson.loads(text))
    return {**_name_and_version(found), "needs": [*_mapping(found.get("require"))]}


def _toml(text: str) -> Facts:
    """Parse TOML. ValueError also for a line with many dots: the parser takes quadratic time for
    keys with many parts."""
    if any(line.count(".") > MOST_DOTS for line in text.split("\n")):
        raise ValueError("a line has too many dots")
    return tomllib.loads(text)


def _python(text: str) -> Facts:
    found = _toml(text)
    project, tool = _mapping(found.get("project")), _mapping(found.get("tool"))
    poetry = _mapping(tool.get("poetry"))
    needs = project.get("dependencies")
    listed = needs if isinstance(needs, list) else []
    return {
        "name": project.get("name") or poetry.get("name"),
        "version": project.get("version") or poetry.get("version"),
        "needs": [
            *(_requirement(need) for need in listed if isinstance(need, str)),
            *(name.lower() for name in _mapping(poetry.get("dependencies"))),
        ],
    }


def _requirement(text: str) -> str:
    """The name at the start of a requirement: `Django>=5` is django."""
    return re.split(r"[^\w.\-]", text.strip(), maxsplit=1)[0].lower()


def _cargo(text: str) -> Facts:
    found = _toml(text)
    return {
        **_name_and_version(_mapping(found.get("package"))),
        "needs": [*_mapping(found.get("dependencies"))],
    }


def _name_and_version(found: Facts) -> dict[str, Any]:
    return {"name": found.get("name"), "version": found.get("version")}


def _go(text: str) -> Facts:
    named = re.search(r"^module[ \t]+(\S+)", text, re.MULTILINE)
    needs = re.findall(r"^(?:require)?[ \t]+([\w.\-/]+)[ \t]+v\d", text, re.MULTILINE)
    return {"name": named[1].strip('"') if named else None, "needs": needs}


def _gems(text: str) -> Facts:
    return {"needs": re.findall(r"^[ \t]*gem[ \t]+[\"']([\w.\-]+)", text, re.MULTILINE)}


def _mix(text: str) -> Facts:
    named = re.search(r"\bapp:\s*:(\w+)", text)
    version = re.search(r"\bversion:\s*\"([^\"\n]+)\"", text)
    return {
        "name": named[1] if named else None,
        "version": version[1] if version else None,
        "needs": re.findall(r"\{:(\w+),", text),
    }


MANIFESTS: dict[str, Callable[[str], Facts]] = {
    "package.json": _javascript,
    "pyproject.toml": _python,
    "Cargo.toml": _cargo,
    "go.mod": _go,
    "composer.json": _composer,
    "Gemfile": _gems,
    "deno.json": _javascript,
    "mix.exs": _mix,
}

MANAGERS: dict[str, tuple[dict[str, str], str]] = {
    "package.json": (
        {
            "package-lock.json": "npm", "pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn",
            "bun.lock": "bun", "bun.lockb": "bun",
        },
        "npm",
    ),
    "pyproject.toml": (
        {"uv.lock": "uv", "poetry.lock": "poetry", "pdm.lock": "pdm", "Pipfile.lock": "pipenv"},
        "pip",
    ),
    "Cargo.toml": ({}, "cargo"),
    "go.mod": ({}, "go"),
    "composer.json": ({}, "composer"),
    "Gemfile": ({}, "bundler"),
    "deno.json": ({}, "deno"),
    "mix.exs": ({}, "mix"),
}  # fmt: skip
