"""What a real app, turn and thread do reaches a channel of a real service."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.dashboard.served import NO_PICTURES
from tests.review.repos import Repo
from tests.service import Service, until
from tests.stubs.receiver import Receiver

pytestmark = pytest.mark.timeout(240)

EVENTS = ["finished", "crash_loop", "app_down", "review"]
ASKS = "#!runbook\n```Bash\necho asked\n```\n"
ANSWERS = """#!runbook
```mcp__svc_review__reply
{"thread": "THREAD", "body": "Done."}
```
"""
TWO_MINUTES_LONGER = """
from datetime import timedelta
from django.db.models import F
from workspace.models import Turn
Turn.objects.filter(state="running").update(started=F("started") - timedelta(minutes=2))
"""


@pytest.fixture
def service(tmp_path: Path, receiver: Receiver) -> Iterator[Service]:
    config = {"notify": [{"name": "hook", "url": receiver.url, "events": EVENTS}]}
    with Service(tmp_path / "service", config=config, dashboard=NO_PICTURES) as running:
        yield running


def told(receiver: Receiver) -> list[tuple[str, str, str]]:
    return [(one["event"], one["title"], one["text"]) for one in receiver.got]


def post(service: Service, url: str, **body: object) -> Any:
    answer = service.http.post(url, json=body)
    assert answer.status_code < 300, answer.text
    return answer.json()


@pytest.mark.slow
def test_an_app_that_crashes_again_and_again(service: Service, receiver: Receiver, tmp_path: Path):
    crashes = {"command": "exit 3", "cwd": str(tmp_path), "restart": "always"}
    app = {"name": "Shop", "service": crashes}
    service.http.put("/dashboard/api/apps/shop", json=app).raise_for_status()

    post(service, "/dashboard/api/apps/shop/service/start")

    until(lambda: receiver.got, seconds=120, what="the crash loop was told")
    assert told(receiver) == [("crash_loop", "Shop crashes again and again", "crash loop")]
    assert receiver.got[0]["url"].endswith("/dashboard/#app=shop")


@pytest.mark.slow
def test_a_service_that_fell_is_told_and_one_that_its_user_stopped_is_not(
    service: Service, receiver: Receiver, tmp_path: Path
):
    for slug in ("fell", "quit"):
        runs = {"command": f"echo $$ > {tmp_path}/{slug}; exec sleep 600", "cwd": str(tmp_path)}
        app = {"name": slug.title(), "service": runs, "health": {"type": "process"}}
        service.http.put(f"/dashboard/api/apps/{slug}", json=app).raise_for_status()
        post(service, f"/dashboard/api/apps/{slug}/service/start")
        until(lambda: state(service, slug) == "up", seconds=30, what="up")  # noqa: B023

    post(service, "/dashboard/api/apps/quit/service/stop")
    until(lambda: state(service, "quit") == "stopped", seconds=30, what="stopped")
    psutil.Process(int((tmp_path / "fell").read_text())).kill()

    until(lambda: receiver.got, seconds=30, what="the fall was told")
    assert told(receiver) == [("app_down", "Fell is down", "exited")]


def state(service: Service, slug: str) -> str:
    return str(service.http.get(f"/dashboard/api/apps/{slug}").json()["state"])


@pytest.mark.slow
def test_a_turn_that_took_long(service: Service, receiver: Receiver):
    post(service, "/api/projects", name="Alpha")
    sent = post(service, "/api/projects/alpha/chats", name="Mend it", prompt=ASKS)
    chat = f"/api/projects/alpha/chats/{sent['chat']['sessionId']}"
    found = until(lambda: service.http.get(chat).json()["chat"]["asked"], seconds=30, what="asks")
    moved = service.run("shell", "-c", TWO_MINUTES_LONGER)
    assert moved.returncode == 0, moved.stderr

    post(service, f"{chat}/permissions/{found['call']}", allow=True)

    until(lambda: receiver.got, seconds=30, what="the end was told")
    assert told(receiver) == [("finished", "Mend it is done", "after 2 min")]


@pytest.mark.slow
def test_a_thread_that_an_agent_answers(service: Service, receiver: Receiver, tmp_path: Path):
    repo = Repo(tmp_path / "api")
    repo.commit({"a.py": "1\n"}, "One")
    repo.branch("feature")
    sha = repo.commit({"a.py": "2\n"}, "Two")
    folder = service.projects / "pay"
    folder.mkdir(parents=True)
    listed = f"repos: [{{name: api, path: {repo.path}, range: main..feature}}]\n"
    (folder / "project.yaml").write_text(f"name: Pay\npath: {repo.path}\n{listed}")
    commit = f"/review/api/projects/pay/repos/api/commits/{sha}"
    until(lambda: service.http.get(f"{commit}/review").status_code == 200, what="under review")
    thread = post(service, f"{commit}/threads", body="Why 2?", path="a.py", line=1)["id"]

    post(service, "/api/projects/pay/chats", prompt=ANSWERS.replace("THREAD", thread))

    until(lambda: receiver.got, seconds=60, what="the answer was told")
    assert told(receiver) == [("review", "agent:runbook answered at a.py:1", "Done.")]
    assert receiver.got[0]["url"].endswith(f"/review/p/pay/api/{sha}#thread-{thread}")
