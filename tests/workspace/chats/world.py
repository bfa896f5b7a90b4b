"""A small world for chats: one project, callers, and real workers in forked processes."""

from __future__ import annotations

import dataclasses
import multiprocessing
from collections.abc import Mapping
from datetime import UTC, datetime
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import yaml
from django.db import connections
from django_q.brokers import get_broker
from django_q.models import OrmQ
from django_q.signing import SignedPackage

from config.storage import homes
from tests.service import until
from workspace.access.principals import Agent, User
from workspace.broker import WakingBroker
from workspace.chats import actions, files, transcript
from workspace.chats.actions import Firing, Started
from workspace.chats.turns import queue, tokens, worker
from workspace.models import Run, Turn
from workspace.projects import store
from workspace.projects.project import Project

USER = User()
HELLO = "#!runbook\n```Write file_path=hello.txt\nhello\n```\nWritten.\n"
FAILS = "#!runbook\n```Read file_path=absent.txt\n```\n"
FORK = multiprocessing.get_context("fork")


def sleeps(seconds: float = 60) -> str:
    return f"#!runbook\n```Bash\nsleep {seconds}\n```\n"


class World:
    """The project alpha, whose turns may run commands unasked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.write("name: Alpha\npermissionMode: bypassPermissions\n")
        self.workers: list[BaseProcess] = []

    @property
    def project(self) -> Project:
        return store.get("alpha")

    def write(self, text: str, slug: str = "alpha") -> None:
        (self.folder / slug).mkdir(exist_ok=True)
        (self.folder / slug / "project.yaml").write_text(text)

    def chat(self, prompt: str | None = None, **values: Any) -> Started:
        return actions.create(principal=USER, project=self.project, prompt=prompt, **values)

    def send(self, chat: str, prompt: str = HELLO, key: str = "") -> queue.Queued:
        return actions.send(
            principal=USER, project=self.project, session_id=chat, prompt=prompt, key=key
        )

    def fired(self, prompt: str = HELLO, **values: Any) -> Turn:
        """The turn of a firing in a chat of its own."""
        by = firing(run=run_row(), **values)
        chat = actions.open_for(by, project=self.project, prompt=prompt)
        return actions.fire(project=self.project, chat=chat.id, prompt=prompt, firing=by).turn

    def transcript(self, chat: str) -> Path:
        return self.folder / "alpha" / ".chats" / f"{chat}.jsonl"

    def records(self, chat: str, kind: str | None = None) -> list[dict[str, Any]]:
        found = [record for _, record in transcript.read(str(self.transcript(chat)))]
        return [record for record in found if kind is None or record["type"] == kind]

    def finish(self, chat: str, *texts: str, status: str = "ok", **end: Any) -> str:
        """A whole turn in the transcript, written as a turn process would."""
        turn = f"msg_{len(self.records(chat)):026}"
        with transcript.Writer(str(self.transcript(chat))) as writer:
            writer.append("turn_start", turn, engine="runbook")
            writer.append("user", turn, text=texts[0] if texts else "hi", sender={"kind": "user"})
            for text in texts[1:]:
                writer.append("assistant", turn, text=text, block="1")
            writer.append("turn_end", turn, status=status, **end)
        return turn

    def record(self, chat: str) -> dict[str, Any]:
        found: dict[str, Any] = yaml.safe_load(files.record_path(self.project, chat).read_text())
        return found

    def work(self, turn: str) -> BaseProcess:
        """One worker that was given this turn, in a process of its own."""
        return self._fork(worker.run, turn)

    def run(self, turn: str) -> Turn:
        """Let a worker run the turn to its end."""
        ended(self.work(turn))
        return Turn.objects.get(id=turn)

    def cluster(self, workers: int = 2) -> None:
        """Workers that take what is delivered until nothing is left."""
        for process in [self._fork(serve) for _ in range(workers)]:
            ended(process)

    def _fork(self, target: Any, *args: Any) -> BaseProcess:
        connections.close_all()
        process = FORK.Process(target=target, args=args, daemon=True)
        process.start()
        self.workers.append(process)
        return process

    def states(self, chat: str) -> list[str]:
        return list(Turn.objects.filter(chat=chat).order_by("id").values_list("state", flat=True))

    def until_state(self, turn: str, *states: str) -> Turn:
        until(lambda: Turn.objects.get(id=turn).state in states, what=f"{turn} {states}")
        return Turn.objects.get(id=turn)

    def until_record(self, chat: str, kind: str) -> None:
        until(lambda: self.records(chat, kind), what=kind)

    def close(self) -> None:
        for process in self.workers:
            if process.is_alive():
                process.kill()
            process.join(10)


def ended(process: BaseProcess, seconds: float = 60) -> None:
    process.join(seconds)
    assert process.exitcode == 0, process.exitcode


def serve(nothing_more: Event | None = None) -> None:
    """A django-q2 worker as far as turns see it: take, run, acknowledge, until all is done."""
    broker = get_broker(homes.queue("turns"))
    take = broker._take if isinstance(broker, WakingBroker) else broker.dequeue  # without the nap
    while True:
        over = nothing_more is None or nothing_more.is_set()
        for key, package in take() or ():
            task = SignedPackage.loads(package)
            worker.run(*task["args"])
            broker.acknowledge(key)
        if over and not Turn.objects.filter(state__in=("queued", "running")).exists():
            return


def delivered() -> list[str]:
    """The turns that wait in the cluster's queue, in order."""
    rows: list[Mapping[str, Any]] = [
        SignedPackage.loads(row.payload)
        for row in OrmQ.objects.filter(key=homes.queue("turns")).order_by("id")
    ]
    return [row["args"][0] for row in rows]


def agent(chat: str, *, depth: int = 0, limit: int = 3, client: str = "") -> Agent:
    return Agent(
        turn="msg_x", project="alpha", chat=chat, chat_name="Caller", depth=depth,
        spawn_limit=limit, client=client, tools=None, plan=False, gates=tokens.gates("alpha"),
    )  # fmt: skip


def firing(**values: Any) -> Firing:
    sender = {"kind": "trigger", "name": "nightly", "cause": "cron", "runId": "run_1"}
    return dataclasses.replace(
        Firing(trigger="nightly", origin="scheduled", sender=sender), **values
    )


def run_row() -> Run:
    """The run of a firing that has just begun."""
    number = Run.objects.count() + 1
    return Run.objects.create(id=f"run_{number}", project="alpha", queued_at=datetime.now(UTC))
