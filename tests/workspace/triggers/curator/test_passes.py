"""When the curator works, what it is given, and what becomes of its answer."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connections

from tests.workspace.access.world import configure
from tests.workspace.chats.world import World
from workspace.access.policy import Scope
from workspace.access.principals import Client
from workspace.chats import actions, files, transcript
from workspace.chats.turns import endings
from workspace.models import Run, Turn
from workspace.triggers import commands, following, pausing, render, runs
from workspace.triggers.curator import passes

ON = "name: Alpha\ncuration: {enabled: true}\n"
GOOD = "<overview>\n# Alpha\nA new overview.\n</overview>\n<changelog>\n- It began.\n</changelog>"


class Curated(World):
    """Turns end as a worker would end them; the answers are written by hand."""

    def end(self, turn: Turn, *texts: str, status: str = "ok", **end: Any) -> Turn:
        path = self.transcript(turn.chat)
        with transcript.Writer(str(path)) as writer:
            writer.append("turn_start", turn.id, engine="builtin", model="m")
            writer.append("user", turn.id, text=turn.message, sender=turn.sender)
            for text in texts:
                writer.append("assistant", turn.id, text=text, block="1")
            writer.append("turn_end", turn.id, status=status, **end)
        Turn.objects.filter(id=turn.id).update(state="running", started=datetime.now(UTC))
        endings.settle(turn.id, {"status": status, **end}, following.follow)
        return Turn.objects.get(id=turn.id)

    def user_turn(self, prompt: str = "Rename the module", answer: str = "Renamed.") -> Turn:
        chat = self.chat(prompt)
        assert chat.turn
        return self.end(chat.turn, answer)

    def passes(self) -> list[Run]:
        return [*Run.objects.filter(kind="curation").order_by("id")]

    def turn_of(self, run: Run) -> Turn:
        return Turn.objects.get(run=run)

    def read(self, name: str) -> str | None:
        path = self.folder / "alpha" / name
        return path.read_text() if path.exists() else None

    def put(self, name: str, text: str) -> None:
        (self.folder / "alpha" / name).write_text(text)

    def customise(self, name: str = "mine", by: str = "", **run: Any) -> None:
        body = {"trigger": {"type": "event", "on": "afterTurn"},
                "run": {"prompt": "Write in French."} | run, "enabled": True}  # fmt: skip
        commands.put(self.project, name, body | ({"clients": [by]} if by else {}))


@pytest.fixture
def world(transactional_db: None, settings, tmp_path: Path) -> Iterator[Curated]:
    settings.PROJECTS_DIR = tmp_path / "projects"
    settings.PROJECTS_DIR.mkdir()
    world = Curated(settings.PROJECTS_DIR)
    world.write(ON)
    yield world
    world.close()


# -- when ----------------------------------------------------------------------------------------


def test_it_is_off_by_default(world):
    world.write("name: Alpha\n")
    world.user_turn()

    assert world.passes() == []


def test_a_user_turn_begins_a_pass_without_tools_in_an_archived_chat_of_its_own(world):
    turn = world.user_turn()

    (run,) = world.passes()
    assert (run.kind, run.cause, run.trigger, run.trigger_type) == (
        "curation",
        "event",
        "",
        "event",
    )
    pass_turn = world.turn_of(run)
    assert (pass_turn.tools, pass_turn.mode, pass_turn.spawn_limit) == ([], "default", 0)
    assert pass_turn.chat == run.session_id != turn.chat
    assert files.read(world.project, run.session_id).archived is True
    assert render.run(run)["trigger"] is None


def test_it_is_told_what_happened_and_what_the_documents_say(world):
    world.put("OVERVIEW.md", "# Alpha\nOld overview.\n")
    world.put("CHANGELOG.md", "# Changelog\n\n## 2026-01-01\n\n- Begun.\n")
    world.user_turn("Rename the module", "Renamed it to core.")

    message = world.turn_of(world.passes()[0]).message
    assert "<current-overview>\n# Alpha\nOld overview.\n</current-overview>" in message
    assert "- Begun.\n</newest-changelog>" in message
    assert "asked: Rename the module\nanswered: Renamed it to core." in message


def test_a_turn_of_a_trigger_a_failed_one_and_the_pass_itself_begin_none(world):
    world.end(world.fired(), "Done.")
    failed = world.chat("x").turn
    assert failed
    world.end(failed, status="error", reason="api_error")
    assert world.passes() == []

    world.user_turn()
    world.end(world.turn_of(world.passes()[0]), GOOD)

    assert len(world.passes()) == 1


def test_at_most_one_pass_an_interval_and_none_without_news(world):
    world.user_turn()
    first = world.passes()[0]
    world.end(world.turn_of(first), GOOD)
    world.user_turn("Second", "Two.")
    assert len(world.passes()) == 1  # the interval is not over

    later = datetime.now(UTC) + timedelta(minutes=6)
    passes.consider_all(later)
    second = world.passes()[1]
    assert "asked: Second" in world.turn_of(second).message
    assert "asked: Rename the module" not in world.turn_of(second).message

    world.end(world.turn_of(second), GOOD)
    passes.consider_all(later + timedelta(minutes=6))
    assert len(world.passes()) == 2  # nothing new


def test_an_interval_longer_than_any_time_is_never_over(world):
    world.write(f"name: Alpha\ncuration: {{enabled: true, minIntervalMs: {10**18}}}\n")
    world.user_turn()
    world.end(world.turn_of(world.passes()[0]), GOOD)
    world.user_turn("Second", "Two.")

    passes.consider_all(datetime.now(UTC) + timedelta(minutes=6))

    assert len(world.passes()) == 1


def test_a_pass_of_a_clock_that_was_ahead_holds_up_no_other(world):
    world.user_turn()
    world.end(world.turn_of(world.passes()[0]), GOOD)
    ahead = datetime.now(UTC) + timedelta(days=1)
    Run.objects.update(queued_at=ahead)
    Turn.objects.update(finished=ahead)

    world.user_turn("Second", "Two.")

    second = world.passes()[1]
    assert "asked: Second" in world.turn_of(second).message
    assert "asked: Rename the module" not in world.turn_of(second).message
    world.end(world.turn_of(second), GOOD)
    passes.consider_all(datetime.now(UTC) + timedelta(minutes=6))
    assert len(world.passes()) == 2  # what lies ahead is no news at every look


def test_many_ends_at_once_begin_one_pass(world):
    world.write("name: Alpha\n")
    world.user_turn()
    world.write(ON)

    def consider() -> None:
        passes.consider("alpha")
        connections.close_all()

    threads = [threading.Thread(target=consider) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(world.passes()) == 1


def test_what_a_client_customised_stays_with_that_client(world, monkeypatch):
    configure(monkeypatch, ci=Scope(("alpha",), ("*",)))
    world.write("name: Alpha\n")
    world.customise(by="ci")
    world.user_turn()

    (run,) = world.passes()
    turn = world.turn_of(run)
    assert (run.client, run.clients) == ("ci", ["ci"])
    assert (turn.client, turn.clients) == ("ci", ["ci"])
    assert "Write in French." in turn.message


@pytest.mark.parametrize("scopes", [{}, {"ci": Scope(("beta",), ("*",))}])
def test_the_words_of_a_client_that_is_gone_or_left_the_project_are_not_used(
    world, monkeypatch, scopes
):
    configure(monkeypatch, **scopes)
    world.customise(by="ci")
    world.user_turn()
    (run,) = world.passes()
    assert (run.trigger, run.clients) == ("", [])
    assert "Write in French." not in world.turn_of(run).message

    world.write("name: Alpha\n")
    world.customise(by="ci")
    assert not passes.enabled(world.project)


def test_nothing_is_curated_while_the_project_is_paused(world):
    pausing.pause(world.project, paused=True)
    world.user_turn()

    assert world.passes() == []


def test_a_broken_project_file_begins_no_pass_and_harms_no_turn(world):
    chat = world.chat("hi")
    assert chat.turn
    world.write("name: [\n")

    assert world.end(chat.turn, "Hello.").state == "done"
    assert world.passes() == []


# -- the afterTurn trigger -----------------------------------------------------------------------


def test_an_enabled_trigger_switches_it_on_and_adds_its_prompt_and_model(world):
    world.write("name: Alpha\n")
    world.customise(model="openai:small")
    world.user_turn()

    (run,) = world.passes()
    turn = world.turn_of(run)
    assert (run.trigger, turn.model) == ("mine", "openai:small")
    assert "Write in French." in turn.message
    assert "You keep two documents" in turn.message


def test_an_explicit_no_of_the_project_wins(world):
    world.write("name: Alpha\ncuration: {enabled: false}\n")
    world.customise()
    world.user_turn()

    assert world.passes() == []


def test_of_several_the_one_of_the_known_name_is_used(world):
    world.customise("first")
    world.customise("curate-overview")
    world.user_turn()

    assert world.passes()[0].trigger == "curate-overview"


def test_a_prompt_file_that_is_missing_is_a_failed_run_and_no_chat(world):
    world.customise(prompt=None, promptFile="absent.md")
    world.user_turn()

    (run,) = world.passes()
    assert (run.status, run.session_id) == ("failed", "")
    assert "absent.md does not exist" in run.reason


# -- the answer ----------------------------------------------------------------------------------


def answered(world: Curated, *texts: str, **end: Any) -> Run:
    run = world.passes()[-1]
    world.end(world.turn_of(run), *texts, **end)
    return Run.objects.get(id=run.id)


def test_the_overview_is_replaced_and_entries_are_added_and_the_run_has_its_cost(world):
    world.put("OVERVIEW.md", "Old.\n")
    world.user_turn()

    run = answered(world, GOOD, usage={"totalTokens": 9}, cost=0.01, turns=1)

    assert (run.status, run.reason, run.cost_usd, run.usage) == (
        "completed", "", 0.01, {"totalTokens": 9},
    )  # fmt: skip
    assert world.read("OVERVIEW.md") == "# Alpha\nA new overview.\n"
    changelog = world.read("CHANGELOG.md") or ""
    assert re.fullmatch(r"# Changelog\n\n## \d{4}-\d\d-\d\d\n\n- It began\.\n", changelog)


def test_what_a_person_wrote_meanwhile_stays_and_the_pass_fails(world):
    world.put("OVERVIEW.md", "Old.\n")
    world.user_turn()
    world.put("OVERVIEW.md", "Written by hand.\n")

    run = answered(world, GOOD)

    assert (run.status, run.reason) == (
        "failed", "OVERVIEW.md was edited meanwhile; the curator left it alone",
    )  # fmt: skip
    assert world.read("OVERVIEW.md") == "Written by hand.\n"
    assert world.read("CHANGELOG.md") is None


def test_an_overview_made_meanwhile_stays(world):
    world.user_turn()
    world.put("OVERVIEW.md", "Mine.\n")

    assert answered(world, GOOD).status == "failed"
    assert world.read("OVERVIEW.md") == "Mine.\n"


def test_a_changelog_edited_meanwhile_keeps_the_edit_beside_the_entries(world):
    world.user_turn()
    world.put("CHANGELOG.md", "# Changelog\n\n## 2020-01-01\n\n- By hand.\n")

    assert answered(world, GOOD).status == "completed"
    text = world.read("CHANGELOG.md") or ""
    assert text.index("- It began.") < text.index("- By hand.")


@pytest.mark.parametrize("text", ["Sorry, I cannot.", GOOD + "\nDone.", ""])
def test_an_answer_of_another_form_is_a_failed_run_and_nothing_else(world, text):
    world.put("OVERVIEW.md", "Old.\n")
    turn = world.user_turn()

    run = answered(world, *([text] if text else []))

    assert run.status == "failed"
    assert run.reason.startswith("the answer") or run.reason == passes.NOTHING
    assert world.read("OVERVIEW.md") == "Old.\n"
    assert world.read("CHANGELOG.md") is None
    assert Turn.objects.get(id=turn.id).state == "done"


def test_a_turn_that_failed_writes_nothing_whatever_it_said(world):
    world.user_turn()

    run = answered(world, GOOD, status="error", reason="rate_limited", text="slow down")

    assert (run.status, run.reason) == ("failed", "slow down")
    assert world.read("OVERVIEW.md") is None


def test_an_overview_longer_than_its_budget_is_not_written(world):
    world.write("name: Alpha\ncuration: {enabled: true, overviewMaxTokens: 2}\n")
    world.user_turn()

    run = answered(world, GOOD)

    assert "the overview has 23 characters, more than the 8 it may have" in run.reason
    assert world.read("OVERVIEW.md") is None


def test_an_overview_too_long_to_show_is_left_alone(world):
    world.put("OVERVIEW.md", "x" * 100_001)
    world.user_turn()

    (run,) = world.passes()
    assert (run.status, run.session_id) == ("failed", "")
    assert "the curator leaves it alone" in run.reason


def test_documents_behind_a_link_out_of_the_project_are_not_written(world, tmp_path):
    outside = tmp_path / "outside.md"
    outside.write_text("theirs")
    (world.folder / "alpha" / "OVERVIEW.md").symlink_to(outside)
    world.user_turn()

    (run,) = world.passes()
    assert run.status == "failed"
    assert outside.read_text() == "theirs"


def test_a_worker_lost_behind_the_answer_does_not_lose_it_and_does_not_write_it_twice(world):
    world.user_turn()
    run = world.passes()[0]
    turn = world.turn_of(run)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(following, "follow", lambda turn: None)
        world.end(turn, GOOD)
    assert world.read("OVERVIEW.md") is None

    for _ in range(2):
        runs.recover(datetime.now(UTC), following.follow)

    assert Run.objects.get(id=run.id).status == "completed"
    assert (world.read("CHANGELOG.md") or "").count("- It began.") == 1


def test_a_start_that_was_lost_is_interrupted_and_the_next_turn_begins_another(world):
    world.user_turn()
    Run.objects.all().update(session_id="", lease_until=datetime.now(UTC) - timedelta(minutes=1))
    Turn.objects.filter(run__isnull=False).delete()
    runs.recover(datetime.now(UTC), following.follow)
    assert world.passes()[0].status == "interrupted"

    Run.objects.all().update(queued_at=datetime.now(UTC) - timedelta(minutes=6))
    world.user_turn()

    assert len(world.passes()) == 2


def test_a_pass_fires_no_hook_of_the_archive(world):
    commands.put(world.project, "tidy", {
        "trigger": {"type": "event", "on": "onArchive"}, "run": {"prompt": "Tidy"}, "enabled": True,
    })  # fmt: skip
    world.user_turn()

    answered(world, GOOD)

    assert [run.kind for run in Run.objects.all()] == ["curation"]


def test_the_clients_whose_turns_a_pass_is_told_of_are_behind_its_failure(world, monkeypatch):
    configure(monkeypatch, ci=Scope(("alpha",), ("*",), max_spawn_depth=3))
    world.write(ON + "maxSpawnDepth: 9\n")
    world.customise()
    failed = {"trigger": {"type": "event", "on": "onRunFailed"}, "enabled": True}
    commands.put(world.project, "f", failed | {"run": {"prompt": "Look at it"}})
    client = Client("ci", Scope(("alpha",), ("*",)))
    made = actions.create(principal=client, project=world.project, prompt="Rename the module")
    assert made.turn

    world.end(made.turn, "Renamed.")
    [first] = world.passes()
    world.end(world.turn_of(first), "No such form.")

    [run] = Run.objects.filter(trigger="f")
    assert (run.client, run.clients) == ("ci", ["ci"])
