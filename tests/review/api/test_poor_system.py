"""Where the system knows no exchange of names, no flock and no notification."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.promises.rings import ring
from tests.review.api.crowd import all_reply
from tests.review.api.served import Project, Served
from tests.review.api.test_events import test_hand_edits_are_told as hand_edits
from tests.service import ROOT, Service

POOR = ROOT / "tests" / "review" / "poor_system"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder, refused = tmp_path_factory.mktemp("poor"), tmp_path_factory.mktemp("refused")
    env = {"PYTHONPATH": str(POOR), "POOR_SYSTEM": str(refused)}
    service = Service(folder, env=env, scheduler=False).start()
    made = Served(service)
    try:
        yield made
        assert {path.name for path in refused.iterdir()} == {"renameat2", "flock", "inotify"}
        assert "file watching failed; polling goes on" in service.log()  # with its traceback
    finally:
        made.close()
        service.kill9()
        service.http.close()


@pytest.mark.slow
def test_eight_clients_reply_at_once_and_lose_nothing(served: Served, pay: Project):
    all_reply(served, pay, replies=ring(fast=15, slow=50))


@pytest.mark.slow
def test_hand_edits_are_told(served: Served, pay: Project):
    hand_edits(served, pay)


@pytest.mark.slow
def test_an_edit_and_refs_of_a_linked_worktree_are_told_and_a_write_once(
    served: Served, pay: Project, tmp_path: Path
):
    linked = pay.repo.worktree(tmp_path / "linked", "topic")
    review = {"type": "review", "project": pay.slug, "repo": "api", "sha": pay.shas[0]}
    with served.listening() as events:
        pay.write(entry={"path": str(linked.path)})
        events.until({"type": "project", "project": pay.slug, "reason": "config"})
        events.of(pay.slug)
        events.text = b""
        linked.commit({}, "On the linked worktree")
        events.until({"type": "project", "project": pay.slug, "reason": "git"})
        events.text = b""
        served.api.post(pay.c(0, "/threads"), {"body": "x"})

        assert events.of(pay.slug) == [review]
