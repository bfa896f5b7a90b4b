"""A host that died with a running turn: the row ends at once, the transcript when it is back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django_q.models import OrmQ

from config.storage import homes
from tests.workspace.chats import world as chats_world
from tests.workspace.homes.hosts import Host
from workspace.chats import actions, files, transcript
from workspace.chats.turns import endings, recovery, worker
from workspace.models import Run, Turn
from workspace.triggers import following, retention, runs


@pytest.fixture
def turn(alpha: Host) -> Turn:
    """A running turn of a run on alpha, whose lease has just ended; one more message waits."""
    with alpha.here():
        alpha.write("name: Notes\n", "notes")
        run = Run.objects.create(
            id="run_1", project="notes", trigger="t", queued_at=datetime.now(UTC), status="running"
        )
        by = chats_world.firing(run=run)
        project = alpha.project("notes")
        chat = actions.open_for(by, project=project, prompt="go")
        made = actions.fire(project=project, chat=chat.id, prompt="go", firing=by).turn
        actions.send(principal=chats_world.USER, project=project, session_id=chat.id, prompt="next")
        over = datetime.now(UTC) - timedelta(seconds=1)
        Turn.objects.filter(id=made.id).update(
            state="running", claim="dead-1-1-x", lease_until=over, started=over
        )
    OrmQ.objects.all().delete()
    return Turn.objects.get(id=made.id)


def sweep(host: Host) -> int:
    with host.here():
        return recovery.sweep(on_change=following.follow)


def wait(turn: Turn, seconds: float) -> None:
    over = datetime.now(UTC) - timedelta(seconds=seconds)
    Turn.objects.filter(id=turn.id).update(lease_until=over)


def records(host: Host, turn: Turn) -> list[str]:
    with host.here():
        path = str(files.transcript_path(host.project("notes"), turn.chat))
        return [record["type"] for _, record in transcript.read(path)]


def test_hosts_of_the_same_home_end_it_with_its_transcript(alpha: Host, beta: Host, turn: Turn):
    assert sweep(beta) == 0  # a lease more for those that have the transcript
    assert sweep(alpha) == 1

    turn.refresh_from_db()
    assert (turn.state, turn.unclosed) == ("interrupted", False)
    assert Run.objects.get().status == "interrupted"
    assert records(alpha, turn) == ["turn_start", "user", "notice", "turn_end"]


def test_another_host_ends_the_rows_and_the_home_the_transcript(
    alpha: Host, beta: Host, turn: Turn
):
    wait(turn, recovery.LEASE_S + 1)
    assert sweep(beta) == 1
    turn.refresh_from_db()
    assert (turn.state, turn.unclosed) == ("interrupted", True)
    assert (Run.objects.get().status, Run.objects.get().reason) == ("interrupted", runs.INTERRUPTED)
    assert not OrmQ.objects.exclude(key=homes.queue("turns", alpha.home)).exists()
    assert (sweep(beta), records(alpha, turn)) == (0, [])

    sweep(alpha)
    sweep(alpha)

    turn.refresh_from_db()
    assert (turn.state, turn.unclosed) == ("interrupted", False)
    assert records(alpha, turn) == ["turn_start", "user", "notice", "turn_end"]


def test_what_the_transcript_says_of_the_end_holds_after_all(alpha: Host, beta: Host, turn: Turn):
    with alpha.here():
        path = str(files.transcript_path(alpha.project("notes"), turn.chat))
        with transcript.Writer(path) as writer:
            writer.append("turn_start", turn.id, engine="runbook")
            writer.append("user", turn.id, text="go", sender={})
            writer.append("assistant", turn.id, text="All done.", block="1")
            writer.append("turn_end", turn.id, status="ok", reason=None, text=None, turns=2)
    wait(turn, recovery.LEASE_S + 1)
    sweep(beta)

    sweep(alpha)

    turn.refresh_from_db()
    run = Run.objects.get()
    assert (turn.state, turn.reason) == ("done", "")
    assert (run.status, run.reason, run.turns, run.summary) == ("completed", "", 2, "All done.")


def test_the_next_turn_of_the_chat_waits_for_the_end_of_the_one_before(
    alpha: Host, beta: Host, turn: Turn
):
    following_turn = Turn.objects.get(state="queued")
    wait(turn, recovery.LEASE_S + 1)
    sweep(beta)
    with alpha.here():
        assert worker.claim(following_turn.id, "") is None
        sweep(alpha)
        assert worker.claim(following_turn.id, "") is not None


def test_a_chat_that_went_meanwhile_keeps_nothing_open(alpha: Host, beta: Host, turn: Turn):
    wait(turn, recovery.LEASE_S + 1)
    sweep(beta)
    with alpha.here():
        files.record_path(alpha.project("notes"), turn.chat).unlink()
        sweep(alpha)

    assert not Turn.objects.filter(unclosed=True).exists()


def test_a_disk_that_is_full_leaves_it_to_the_next_sweep(
    alpha: Host, beta: Host, turn: Turn, monkeypatch: pytest.MonkeyPatch
):
    wait(turn, recovery.LEASE_S + 1)
    sweep(beta)

    def full(*_: object) -> None:
        raise transcript.StorageError("full")

    with monkeypatch.context() as patched:
        patched.setattr(endings, "close", full)
        sweep(alpha)
    assert Turn.objects.filter(unclosed=True).exists()
    sweep(alpha)

    assert not Turn.objects.filter(unclosed=True).exists()
    assert records(alpha, turn)[-1] == "turn_end"


def test_it_is_not_pruned_before_its_transcript_is_whole(alpha: Host, beta: Host, turn: Turn):
    wait(turn, recovery.LEASE_S + 1)
    sweep(beta)
    Turn.objects.filter(id=turn.id).update(created=datetime.now(UTC) - timedelta(days=4000))
    with alpha.here():
        retention.prune()

    assert Turn.objects.filter(id=turn.id).exists()
