"""The data directory of every earlier release opens under this one, and loses nothing."""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import sqlite3
import tarfile
from pathlib import Path
from typing import Any

import pytest

from config import __version__
from config.storage import release
from tests.service import Service, until
from tests.upgrade import BASE, ENVIRON

ARCHIVES = sorted((Path(__file__).parent / "fixtures").glob("data-*.tar.xz"))
INDEX = {"project", "chat", "passage", "searched", "filerow", "commitrow", "patchrow", "reporow"}
MOVES = {  # what goes on with the clock and the queue, and so may say more by now
    "workspace_triggerstate": {"next_at", "armed_at"},
    "workspace_turn": {
        "state",
        "delivered",
        "started",
        "finished",
        "claim",
        "lease_until",
        "run_id",
    },
    "workspace_clientuse": {"last_used", "last_peer"},
    "dashboard_slug": {"observed_id", "state", "since", "reason", "interval"},
    "dashboard_hour": {"stopped", "up", "down", "unknown", "n", "failed", "until", "hist"},
}
Row = dict[str, Any]


@pytest.fixture(params=ARCHIVES, ids=lambda path: path.name)
def upgraded(request: pytest.FixtureRequest, tmp_path: Path) -> Service:
    """That data, and this code, not started yet."""
    with tarfile.open(request.param) as tar:
        # The "data" filter would leave the modes of directories to the umask.
        tar.extraction_filter = getattr(tarfile, "tar_filter", None)
        tar.extractall(tmp_path)
    shutil.copytree(tmp_path / "data", tmp_path / "before")
    return Service(tmp_path, env=ENVIRON)


def files(folder: Path) -> dict[str, str]:
    """Everything people and agents wrote: path -> digest."""
    kept = [path for name in ("projects", "dashboard") for path in (folder / name).rglob("*")]
    kept.append(folder / "svc.config.yaml")
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in kept
        if path.is_file() and path.suffix != ".live"
    }


def ledgers(database: Path) -> dict[str, list[Row]]:
    """The rows that no file holds, by table."""
    with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as opened:
        opened.row_factory = sqlite3.Row
        names = [
            row[0] for row in opened.execute("SELECT name FROM sqlite_master WHERE type='table'")
        ]
        tables = [name for name in names if name.partition("_")[0] in ("workspace", "dashboard")
                  and not name.startswith("workspace_passage")
                  and name.partition("_")[2] not in INDEX]  # fmt: skip
        return {name: [dict(row) for row in opened.execute(f"SELECT * FROM {name}")]
                for name in tables}  # fmt: skip


def lost(table: str, before: list[Row], after: list[Row]) -> list[Row]:
    """Rows of which something is not there any more; columns may have been added."""
    moving = MOVES.get(table, set())
    fixed = [{key: value for key, value in row.items() if key not in moving} for row in before]
    return [row for row in fixed if not any(row.items() <= found.items() for found in after)]


def test_there_is_a_release_to_upgrade_from() -> None:
    assert ARCHIVES
    assert not any(release.newer(path.name.split("-")[1].removesuffix(".tar.xz"), __version__)
                   for path in ARCHIVES)  # fmt: skip


@pytest.mark.timeout(120)
def test_an_upgrade_keeps_every_file_row_and_waiting_message(upgraded: Service) -> None:
    before = upgraded.data.parent / "before"
    known, rows = files(before), ledgers(before / "svc.sqlite3")
    assert sum(map(len, rows.values())) >= 9
    transcripts = {path for path in known if path.endswith(".jsonl")}

    with upgraded as service:
        chats = service.http.get("/api/projects/demo/chats").json()["chats"]
        assert len(chats) >= len(transcripts)  # a schedule may have fired meanwhile
        waiting = next(row["chat"] for row in rows["workspace_turn"] if row["state"] == "queued")
        asked = ended(before, waiting)
        until(lambda: ended(service.data, waiting) > asked, seconds=90, what="what waited ran")
        told(service)
        assert service.faults() == []

    after = files(upgraded.data)
    grown = {f"projects/demo/.chats/{waiting}.jsonl"}
    changed = {path for path, digest in known.items() if after.get(path) != digest}
    assert changed <= grown
    for path in grown:
        now = (upgraded.data / path).read_bytes()
        assert now.startswith((before / path).read_bytes())
    now_there = ledgers(upgraded.data / "svc.sqlite3")
    assert {table: gone for table, was in rows.items()
            if (gone := lost(table, was, now_there.get(table, [])))} == {}  # fmt: skip
    assert release.last_version(upgraded.data) == __version__


def ended(data: Path, chat: str) -> int:
    """How many turns of the chat have come to their end."""
    lines = (data / "projects" / "demo" / ".chats" / f"{chat}.jsonl").read_bytes().splitlines()
    return sum(json.loads(line)["type"] == "turn_end" for line in lines)


def told(service: Service) -> None:
    """What the pages would show of each part."""
    http = service.http
    assert http.get("/api/runs").json()["runs"][-1]["status"] == "completed"
    assert http.get("/api/audit").json()["entries"][-1]["operation"] == "list_projects"
    trigger = http.get("/api/projects/demo/triggers/nightly-check").json()["trigger"]
    assert trigger["enabled"] is True
    assert http.get("/api/clients").json()["clients"][0]["lastUsedAt"]
    shop = until(lambda: http.get("/dashboard/api/apps/shop").json().get("name"))
    assert shop == "Shop"
    group = http.get("/dashboard/api/bookmarks/sea").json()
    assert "tides.example.org" in str(group)
    assert str(BASE) in http.get("/review/api/projects/demo").text


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_copy_of_the_database_is_kept_where_it_was_migrated(upgraded: Service) -> None:
    database = upgraded.data / "svc.sqlite3"
    with contextlib.closing(sqlite3.connect(database)) as opened:
        opened.execute(
            "DELETE FROM django_migrations WHERE app = 'workspace' AND name LIKE '0003%'"
        )
        opened.execute("DROP TABLE workspace_searched")
        opened.execute("DROP TABLE workspace_passage")
        opened.execute("DROP TABLE workspace_passage_text")
        opened.commit()
    before = ledgers(database)

    with upgraded:
        pass

    copies = sorted((upgraded.data / "state").glob("before-migrate-*.sqlite3"))
    assert len(copies) == 1
    assert ledgers(copies[0]) == before
