"""The index equals the files after any mix of edits by program and by hand."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from config.errors import Conflict
from config.storage import files, yamlio
from tests.config.disks import quick_folder
from tests.promises.rings import ring, seeded
from workspace.models import Project
from workspace.projects import store
from workspace.projects.project import FILE

SLUGS = ("alpha", "beta", "gamma", "delta")
BROKEN = (b"a: [", b"a: 1\na: 2\n", b"\tx", b"\xff", b"- no mapping\n", b"a: *b\n")


class World:
    """Files, and what the index must say of them: computed from what was done, not from it."""

    def __init__(self, folder: Path, rng: random.Random) -> None:
        self.folder = folder
        self.rng = rng
        self.good: dict[str, dict[str, Any]] = {}
        self.broken: set[str] = set()
        self.number = 0

    def step(self) -> str:
        slug = self.rng.choice(SLUGS)
        verbs = [self.create, self.create_by_hand] if slug not in self.known() else [
            self.edit, self.edit_in_place, self.edit_same_size, self.rename_over, self.corrupt,
            self.restore, self.delete, self.rename_project, self.touch,
        ]  # fmt: skip
        verb = self.rng.choice(verbs)
        verb(slug)
        return slug

    def known(self) -> set[str]:
        return set(self.good) | self.broken

    def path(self, slug: str) -> Path:
        return self.folder / slug / FILE

    def next(self) -> dict[str, Any]:
        self.number += 1
        return {"name": f"name {self.number:06d}", "status": "active"}

    def became(self, slug: str, value: dict[str, Any]) -> None:
        self.good[slug] = value
        self.broken.discard(slug)

    def create(self, slug: str) -> None:
        value = self.next()
        self.path(slug).parent.mkdir()
        files.write(self.path(slug), yamlio.dump(value))
        self.became(slug, value)

    def create_by_hand(self, slug: str) -> None:
        value = self.next()
        self.path(slug).parent.mkdir()
        self.path(slug).write_bytes(yamlio.dump(value))
        self.became(slug, value)

    def edit(self, slug: str) -> None:
        name = self.next()["name"]
        if slug in self.broken:
            with pytest.raises(Conflict):
                store.update(slug, {"name": name})
            return
        store.update(slug, {"name": name})
        updated = yamlio.parse(self.path(slug).read_bytes()).value["updated"]
        self.became(slug, self.good[slug] | {"name": name, "updated": updated})

    def edit_in_place(self, slug: str) -> None:
        value = self.next() | {"summary": "x" * self.rng.randrange(100)}
        self.path(slug).write_bytes(yamlio.dump(value))
        self.became(slug, value)

    def edit_same_size(self, slug: str) -> None:
        """The same size, and the same inode: only the time tells, if that."""
        value = self.next()
        self.path(slug).write_bytes(yamlio.dump(value))
        self.became(slug, value)

    def rename_over(self, slug: str) -> None:
        value = self.next()
        draft = self.path(slug).with_name(".draft")
        draft.write_bytes(yamlio.dump(value))
        draft.replace(self.path(slug))
        self.became(slug, value)

    def corrupt(self, slug: str) -> None:
        self.path(slug).write_bytes(self.rng.choice(BROKEN))
        self.broken.add(slug)

    def restore(self, slug: str) -> None:
        value = self.good.get(slug) or self.next()
        self.path(slug).write_bytes(yamlio.dump(value))
        self.became(slug, value)

    def touch(self, slug: str) -> None:
        os.utime(self.path(slug))

    def delete(self, slug: str) -> None:
        shutil.rmtree(self.path(slug).parent)
        self.good.pop(slug, None)
        self.broken.discard(slug)

    def rename_project(self, slug: str) -> None:
        free = [other for other in SLUGS if other not in self.known()]
        if not free or slug in self.broken:
            return
        self.path(slug).parent.rename(self.folder / free[0])
        self.became(free[0], self.good.pop(slug))


def index() -> dict[str, tuple[Any, bool]]:
    return {row.slug: (row.data, bool(row.error)) for row in Project.objects.all()}


@pytest.mark.promise("F6")
@pytest.mark.django_db
def test_rows_say_what_the_files_say_after_every_step(settings: Any):
    runs, steps = ring(fast=10, slow=5_000), ring(fast=30, slow=100)
    rng = seeded()
    for _ in range(runs):
        with quick_folder() as folder:
            settings.PROJECTS_DIR = folder
            world = World(folder, rng)
            store.MIRROR.scan()
            for _ in range(steps):
                world.step()
                store.MIRROR.scan()

                assert index() == expected(world)
            Project.objects.update(stat="")
            store.MIRROR._known.clear()  # as a new process
            store.MIRROR.scan()
            assert index() == expected(world)


def expected(world: World) -> dict[str, tuple[Any, bool]]:
    return {slug: (world.good.get(slug, {}), slug in world.broken) for slug in world.known()}
