"""What goes into an archive comes back from it, and nothing else ever does."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import sqlite3
import tarfile
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from django.conf import settings

from config import __version__
from config.errors import Conflict, Invalid
from config.storage.backups import backup, restoring
from config.storage.backups.copies import SqliteFile
from review.threads import drafts
from tests.config.disks import as_ordinary_user, ordinary_user, quick_folder


def plan(root: Path) -> backup.Plan:
    return backup.Plan(
        folders={"projects": root / "projects", "dashboard": root / "dashboard"},
        config=root / "svc.config.yaml",
        database=SqliteFile(root / "svc.sqlite3"),
    )


@pytest.fixture
def full(tmp_path: Path) -> backup.Plan:
    """A data directory with a bit of everything."""
    root = tmp_path / "full"
    (root / "projects/alpha/.chats").mkdir(parents=True)
    (root / "projects/alpha/project.yaml").write_bytes(b"name: A\n")
    (root / "projects/alpha/run.sh").touch(0o755)
    (root / "projects/alpha/link").symlink_to("/etc/hostname")
    (root / "projects/alpha/.svc-tmp-1-a").write_bytes(b"unfinished")
    os.mkfifo(root / "projects/alpha/pipe")
    (root / "dashboard/logs/shop").mkdir(parents=True)
    (root / "dashboard/logs/shop/current").write_bytes(b"a line\n")
    (root / "svc.config.yaml").write_bytes(b"port: 1\n")
    (root / "state").mkdir()
    (root / "state/secret").write_bytes(b"secret")
    with contextlib.closing(sqlite3.connect(root / "svc.sqlite3")) as database:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("CREATE TABLE t (x)")
        database.execute("INSERT INTO t VALUES (42)")
        database.commit()
    return plan(root)


def names(archive: Path) -> set[str]:
    with tarfile.open(archive) as tar:
        return set(tar.getnames())


def archive_of(
    path: Path,
    members: dict[str, bytes | str],
    *,
    manifest: bool = True,
    end: bool = True,
    version: str = __version__,
) -> Path:
    """A hand-made archive: bytes are files, text is a symlink's target."""
    with tarfile.open(path, "w") as tar:
        everything: dict[str, bytes | str] = {}
        if manifest:
            everything["manifest.json"] = orjson.dumps({"format": 1, "version": version})
        everything |= members
        if end:
            everything["end"] = b""
        for name, content in everything.items():
            info = tarfile.TarInfo(name)
            if isinstance(content, str):
                info.type, info.linkname = tarfile.SYMTYPE, content
                tar.addfile(info)
            else:
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
    return path


def test_all_that_users_would_miss_comes_back(full: backup.Plan, tmp_path: Path):
    backup.write(full, tmp_path / "b.tar.gz", version="1")

    there = plan(tmp_path / "there")
    report = restoring.restore(there, tmp_path / "b.tar.gz")

    alpha = tmp_path / "there/projects/alpha"
    assert (alpha / "project.yaml").read_bytes() == b"name: A\n"
    assert (alpha / "run.sh").stat().st_mode & 0o777 == 0o755
    assert (alpha / "link").readlink() == Path("/etc/hostname")
    assert there.config.read_bytes() == b"port: 1\n"
    with contextlib.closing(sqlite3.connect(tmp_path / "there/svc.sqlite3")) as database:
        assert database.execute("SELECT x FROM t").fetchall() == [(42,)]
    assert report.files == 4


def test_secrets_logs_and_unfinished_files_stay_out_and_the_rest_is_named(
    full: backup.Plan, tmp_path: Path
):
    archive = tmp_path / "b.tar.gz"

    report = backup.write(full, archive, version="1")

    told = names(archive)
    assert "dashboard" in told
    assert not any(word in name for name in told for word in ("secret", ".svc-tmp-", "logs"))
    assert report.left_out == [f"{tmp_path}/full/projects/alpha/pipe: a socket, pipe or device"]
    assert archive.stat().st_mode & 0o777 == 0o600


def test_projects_behind_links_come_back_as_folders(full: backup.Plan, tmp_path: Path):
    disk = (tmp_path / "full/projects").rename(tmp_path / "disk")
    full.folders["projects"].symlink_to(disk)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "project.yaml").write_bytes(b"name: B\n")
    (elsewhere / "up").symlink_to(disk)
    (disk / "beta").symlink_to(elsewhere)
    (disk / ".trash/1-gamma").mkdir(parents=True)
    (disk / ".trash/1-gamma/project").symlink_to(elsewhere)
    (disk / "alias").symlink_to("alpha")

    report = backup.write(full, tmp_path / "b.tar.gz", version="1")
    shutil.rmtree(elsewhere)
    restoring.restore(plan(tmp_path / "there"), tmp_path / "b.tar.gz")

    there = tmp_path / "there/projects"
    for name, text in {"alpha": b"name: A\n", "beta": b"name: B\n"}.items():
        assert (there / name / "project.yaml").read_bytes() == text
    assert (there / ".trash/1-gamma/project/project.yaml").is_file()
    assert (there / "beta/up").readlink() == disk
    assert (there / "alias").readlink() == Path("alpha")
    assert report.left_out == [f"{disk}/alpha/pipe: a socket, pipe or device"]


def test_a_link_to_no_project_or_around_the_data_stays_a_link_and_is_named(
    full: backup.Plan, tmp_path: Path
):
    projects, root = full.folders["projects"], tmp_path / "full"
    (root / "project.yaml").write_bytes(b"name: All of it\n")
    (tmp_path / "notes").mkdir()
    (projects / "around").symlink_to(root)
    (projects / "notes").symlink_to(tmp_path / "notes")
    (projects / "unmounted").symlink_to(tmp_path / "gone")

    report = backup.write(full, tmp_path / "b.tar.gz", version="1")

    assert not any("secret" in name for name in names(tmp_path / "b.tar.gz"))
    for name in ("around", "notes", "unmounted"):
        assert f"{projects / name}: {backup.LINKED}" in report.left_out
        assert f"projects/{name}" in names(tmp_path / "b.tar.gz")


def test_what_may_not_be_read_is_named_and_the_rest_is_saved():
    with quick_folder() as folder:
        projects = folder / "projects"
        for name in ("closed/.chats", "open", "unsearchable", "z"):
            (projects / name).mkdir(parents=True)
            (projects / name / "project.yaml").write_bytes(b"name: A\n")
        for path in (folder, *folder.rglob("*")):
            os.chown(path, ordinary_user(), -1)
        (projects / "closed/.chats").chmod(0o000)
        (projects / "open/project.yaml").chmod(0o000)
        (projects / "unsearchable").chmod(0o444)

        def in_child() -> None:
            report = backup.write(plan(folder), folder / "b.tar.gz", version="1")
            denied = ("closed/.chats", "open/project.yaml", "unsearchable/project.yaml")
            assert report.left_out == [f"{projects / name}: Permission denied" for name in denied]
            assert "projects/z/project.yaml" in names(folder / "b.tar.gz")

        assert as_ordinary_user(in_child) == 0


def test_an_archive_inside_what_it_saves_does_not_hold_itself(full: backup.Plan):
    archive = full.folders["projects"] / "b.tar.gz"

    backup.write(full, archive, version="1")
    backup.write(full, archive, version="1")

    assert "projects/b.tar.gz" not in names(archive)


def test_a_failed_backup_leaves_the_old_archive(full: backup.Plan, tmp_path: Path):
    archive = tmp_path / "b.tar.gz"
    archive.write_bytes(b"old")
    (tmp_path / "full/svc.sqlite3").write_bytes(b"not a database, " * 100)

    with pytest.raises(sqlite3.DatabaseError):
        backup.write(full, archive, version="1")

    assert archive.read_bytes() == b"old"
    assert list(tmp_path.glob(".svc-tmp-*")) == []


def test_a_place_that_holds_data_is_not_overwritten(full: backup.Plan, tmp_path: Path):
    backup.write(full, tmp_path / "b.tar.gz", version="1")

    with pytest.raises(Conflict, match="already holds data"):
        restoring.restore(full, tmp_path / "b.tar.gz")


def test_an_empty_database_and_other_files_are_no_obstacle_and_stay(
    full: backup.Plan, tmp_path: Path
):
    backup.write(full, tmp_path / "b.tar.gz", version="1")
    there = plan(tmp_path / "there")
    (tmp_path / "there/worktrees/a").mkdir(parents=True)
    (tmp_path / "there/worktrees/a/mine.txt").write_bytes(b"mine\n")
    (tmp_path / "there/svc.sqlite3").touch()
    there.config.write_bytes(b"port: 2\n")

    report = restoring.restore(there, tmp_path / "b.tar.gz")

    assert there.config.read_bytes() == b"port: 2\n"
    assert (tmp_path / "there/worktrees/a/mine.txt").read_bytes() == b"mine\n"
    assert report.left_out == [f"svc.config.yaml: {there.config} is there already"]


@pytest.mark.parametrize(
    "name", ["projects/../../escape", "/etc/escape", "projects/a\nb", "../escape", "projects/.."]
)
def test_a_hostile_name_writes_nothing_outside(tmp_path: Path, name: str):
    archive = archive_of(tmp_path / "b.tar", {name: b"x"})

    with contextlib.suppress(Invalid):
        restoring.restore(plan(tmp_path / "there"), archive)

    found = {p.relative_to(tmp_path).parts[0] for p in tmp_path.rglob("*") if p.is_file()}
    assert found <= {"b.tar"}
    assert not Path("/etc/escape").exists()


def test_nothing_is_written_through_a_symlink_of_the_archive(tmp_path: Path):
    out = tmp_path / "out"
    out.mkdir()
    members: dict[str, bytes | str] = {
        "projects/first": b"",
        "projects/link": str(out),
        "projects/link/x": b"x",
    }

    with pytest.raises(OSError):
        restoring.restore(plan(tmp_path / "there"), archive_of(tmp_path / "b.tar", members))

    assert list(out.iterdir()) == []


def test_what_is_no_backup_is_refused(tmp_path: Path, full: backup.Plan):
    (tmp_path / "text").write_bytes(b"no archive at all" * 100)
    archive_of(tmp_path / "foreign.tar", {"x": b"1"}, manifest=False)
    archive_of(tmp_path / "short.tar", {"projects/x": b"1"}, end=False)
    backup.write(full, tmp_path / "whole.tar.gz", version="1")
    whole = (tmp_path / "whole.tar.gz").read_bytes()
    (tmp_path / "cut.tar.gz").write_bytes(whole[: len(whole) // 2])

    for name in ("text", "foreign.tar", "short.tar", "cut.tar.gz"):
        with pytest.raises(Invalid, match="not a usable backup"):
            restoring.restore(plan(tmp_path / name.replace(".", "-")), tmp_path / name)


def test_members_that_belong_nowhere_are_named(tmp_path: Path):
    archive = archive_of(
        tmp_path / "b.tar", {"other/x": b"1", "projects/a/project.yaml": b"a: 1\n"}
    )

    report = restoring.restore(plan(tmp_path / "there"), archive)

    assert report.left_out == ["other/x: has no place here"]
    assert (tmp_path / "there/projects/a/project.yaml").exists()


def test_comments_that_were_not_sent_come_back(full: backup.Plan, tmp_path: Path):
    draft = drafts.path("alpha", "api", "3" * 40)
    draft.parent.mkdir(parents=True)
    draft.write_bytes(b"- body: Why?\n")
    there = {name: tmp_path / "there" / name for name in settings.SVC_BACKUP}

    backup.write(
        replace(full, folders=settings.SVC_BACKUP), tmp_path / "b.tar", version=__version__
    )
    shutil.rmtree(draft.parents[1])
    restoring.restore(replace(plan(tmp_path / "there"), folders=there), tmp_path / "b.tar")

    kept = there["drafts"] / "alpha/api" / draft.name
    assert kept.read_bytes() == b"- body: Why?\n"
