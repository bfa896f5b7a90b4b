"""A data directory as one release leaves it: made once per release, opened by every later one.

At a release: `python -m tests.upgrade tests/fixtures/data-<version>.tar.xz`. It drives the running
service as people and agents do, leaves a message waiting, and packs what is left.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

from tests.service import Service, until

BASE = Path("/var/tmp/svc-of-a-release")  # paths stand in files and rows: the same on any machine
SECRET = "the-secret-of-a-fixture-signs-nothing-of-value-0123456789"
TOKEN = "svc_desk_of-a-fixture-and-of-no-instance"
ENVIRON = {"SVC_TOKEN_CI": TOKEN, "SVC_REVIEWER": "you@example.org"}
LEFT_OUT = ("cache", "home", "logs", "run", "up.out", "state/locks", "state/review/examples")
CONFIG: dict[str, Any] = {
    "retention": {"runDays": 36500, "auditDays": 36500},  # whenever this is opened
    "managementApi": {
        "publicUrl": "http://localhost:8000",
        "instanceId": "desk",
        "clients": {"ci": {"auth": {"type": "token", "ref": "env:SVC_TOKEN_CI"}}},
    },
}
GIT = (
    "init -q -b main .",
    "config user.name You",
    "config user.email you@example.org",
    "commit -q --allow-empty -m Start",
    "switch -q -c topic",
    "add .",
    "commit -q -m List",
)
RUNBOOK = '#!runbook\nCounting.\n```Grep name=lines\n{"pattern": "."}\n```\nCounted.'


def make(archive: Path) -> None:
    """Fill a data directory and pack it."""
    BASE.mkdir()
    data = BASE / "data"
    secret = data / "state" / "secret"
    for folder in (data, secret.parent):
        folder.mkdir(mode=0o700)
    secret.touch(mode=0o600)
    secret.write_text(SECRET)
    with Service(BASE, config=CONFIG, env=ENVIRON) as service:
        fill(service)
    with Service(BASE, env=ENVIRON, scheduler=False) as service:
        chat = service.http.get("/api/projects/demo/chats").json()["chats"][0]["sessionId"]
        say(service, chat, RUNBOOK)  # nobody runs it: it waits
    with tarfile.open(archive, "w:xz") as tar:
        tar.add(data, "data", filter=kept)


def fill(service: Service) -> None:
    """A bit of everything that a user would miss."""
    http = service.http
    http.post("/api/demo", json={}).raise_for_status()
    chats = http.get("/api/projects/demo/chats").json()["chats"]
    chat = f"/api/projects/demo/chats/{chats[0]['sessionId']}"
    say(service, chats[0]["sessionId"], RUNBOOK)
    until(lambda: http.get(chat).json()["chat"]["running"] is False, what="the turn ends")
    trigger = "/api/projects/demo/triggers/nightly-check"
    was = http.get(trigger).json()["trigger"]
    body = {"trigger": was["trigger"], "run": was["run"], "enabled": True}
    http.put(trigger, json=body).raise_for_status()
    run = http.post(f"{trigger}/run").json()["runId"]
    until(lambda: http.get(f"/api/runs/{run}").json()["run"]["finishedAt"], what="the run ends")
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "list_projects", "arguments": {}}}  # fmt: skip
    http.post("/mcp", json=call, headers={
        "Authorization": f"Bearer {TOKEN}", "Accept": "application/json, text/event-stream",
    }).raise_for_status()  # fmt: skip
    review(service)
    marks = {"bookmarks": [{"name": "Tides", "url": "https://tides.example.org/"}]}
    http.put("/dashboard/api/bookmarks/sea", json=marks).raise_for_status()
    apps = service.data / "dashboard" / "apps"
    apps.mkdir(exist_ok=True)
    (apps / "shop.yaml").write_text(
        "# by hand\nname: Shop\nport: 3210\nservice: {command: sleep 1}\n"
    )
    (apps / "sea.yaml").write_text("name: Sea\nurl: http://127.0.0.1:9/\nexpected: always\n")
    with contextlib.closing(sqlite3.connect(service.data / "svc.sqlite3")) as database:
        count = "SELECT count(*) FROM dashboard_sample"
        until(lambda: database.execute(count).fetchone()[0], what="a probe is in the history")


def review(service: Service) -> None:
    """A thread on a commit of a repository."""
    shop = BASE / "shop"
    shop.mkdir()
    (shop / "list.txt").write_text("one\ntwo\n")
    for command in GIT:
        subprocess.run(["git", *command.split()], cwd=shop, check=True)
    base = "/review/api/projects/demo/repos"
    made = service.http.post(base, json={"path": str(shop)}).raise_for_status().json()
    body = {"path": "list.txt", "side": "RIGHT", "line": 2, "body": "Why *two*?"}
    commit = f"{base}/shop/commits/{made['commits'][0]['sha']}"
    service.http.post(f"{commit}/threads", json=body).raise_for_status()


def say(service: Service, chat: str, prompt: str) -> None:
    answer = service.http.post(f"/api/projects/demo/chats/{chat}/messages", json={"prompt": prompt})
    answer.raise_for_status()


def kept(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """What a data directory is made of, without what every start makes anew."""
    name = member.name.removeprefix("data/")
    if any(name == out or name.startswith(f"{out}/") for out in LEFT_OUT):
        return None
    if name.endswith(("-shm", "-wal", ".lock", "__pycache__", ".pyc")):
        return None
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


if __name__ == "__main__":
    os.environ["SVC_DATA_DIR"] = str(BASE / "data")
    make(Path(sys.argv[1]).absolute())
