"""Hand-written entries: what is used, what is reported, and what a write leaves alone."""

from __future__ import annotations

import pytest

from config.errors import Conflict, NotFound
from tests.workspace.triggers.world import USER, schedule
from workspace.mcp.triggers import remove_trigger
from workspace.triggers import commands
from workspace.triggers.entries import files

MIXED = """\
name: Alpha
triggers:
  good:
    trigger: {type: schedule, interval: 30m}
    run: {prompt: Say hi}
    enabled: true
  both:
    trigger: {type: schedule, cron: "0 9 * * *"}
    run: {prompt: a, promptFile: b.md}
    enabled: true
  nothing:
schedules:
  old:
    type: cron
    cron: "0 3 * * *"
    prompt: Old but good
    resume_session: true
    enabled: true
  good:
    type: interval
    interval: 1h
    prompt: shadowed
"""


def test_a_bad_entry_is_reported_with_its_line_and_the_others_are_used(world):
    entries = files.read(world.write(MIXED))

    assert [*entries.triggers] == ["good"]
    assert [(entry.name, entry.line) for entry in entries.invalid] == [
        ("both", 7), ("nothing", 11), ("good", 19),
    ]  # fmt: skip
    assert entries.invalid[0].error.startswith("run: give exactly one of prompt and promptFile")


def test_an_invalid_entry_is_not_found_and_the_sentence_says_why(world):
    world.write(MIXED)

    with pytest.raises(NotFound) as error:
        commands.get(world.project(), "both")

    assert error.value.text == (
        "No such trigger: both (its entry in project.yaml line 7 is invalid: "
        'run: give exactly one of prompt and promptFile, e.g. promptFile "daily.md")'
    )


def test_an_invalid_entry_survives_writes_to_other_triggers_untouched(world):
    world.write(MIXED)
    before = world.text()

    world.put("new", schedule(interval="1h"))

    both = before[before.index("  both:") : before.index("  nothing:")]
    assert both in world.text()
    assert [*files.read(world.project()).triggers] == ["good", "new"]


def test_put_replaces_an_invalid_entry_and_delete_removes_one(world):
    world.write(MIXED)

    assert world.put("both", schedule(interval="1h")).created
    assert commands.remove(world.project(), "nothing")

    entries = files.read(world.project())
    assert [*entries.triggers] == ["good", "both"]
    assert [entry.name for entry in entries.invalid] == ["good"]


def test_a_write_keeps_comments_unknown_keys_and_crlf_and_the_missing_last_newline(world):
    text = (
        "# mine\r\nname: Alpha # shown\r\ncolour: red\r\ntriggers:\r\n  t: # the nightly one\r\n"
        "    note: keep me # and me\r\n    trigger: {type: schedule, interval: 1h}\r\n"
        "    run:\r\n      prompt: hi # said\r\n      extra: 1\r\n    enabled: false"
    )
    (world.folder / "alpha" / "project.yaml").write_bytes(text.encode())

    commands.set_trigger(world.project(), "t", {"enabled": True})

    assert world.text() == text.replace("enabled: false", "enabled: true")


def test_an_edit_removes_known_keys_and_keeps_unknown_ones(world):
    world.write(
        """\
        triggers:
          t:
            trigger:
              type: schedule
              cron: 0 9 * * *   # mornings
              zone: Mars
            run:
              prompt: hi
            enabled: true
        """
    )

    commands.set_trigger(world.project(), "t", {"interval": "1h", "prompt_file": "a.md"})

    entry = world.project().data["triggers"]["t"]
    assert entry["trigger"] == {"type": "schedule", "zone": "Mars", "interval": "1h"}
    assert entry["run"] == {"promptFile": "a.md"}


def test_an_entry_behind_an_alias_is_refused_naming_the_line(world):
    text = """\
    base: &base {trigger: {type: schedule, interval: 1h}, run: {prompt: hi}, enabled: false}
    triggers:
      t: *base
    """
    world.write(text)
    before = world.text()

    with pytest.raises(Conflict) as error:
        commands.set_trigger(world.project(), "t", {"enabled": True})

    assert error.value.code == "conflict"
    assert "line 3" in error.value.text
    assert world.text() == before


def test_a_broken_file_refuses_every_write(world):
    world.write("triggers: [")

    with pytest.raises(Conflict) as error:
        world.put("t", schedule(interval="1h"))

    assert error.value.code == "bad_project_file"


def test_a_legacy_schedule_reads_as_a_trigger_of_the_same_name(world):
    old = files.read(world.write(MIXED)).legacy["old"]

    assert (old.type, old.when.when, old.run.session, old.enabled) == (
        "schedule", "cron 0 3 * * *", "resume", True,
    )  # fmt: skip
    assert old.own_agent
    assert old.prompt_folder == ".svc/schedules"


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("{type: cron, interval: 1h, prompt: x}", "cron: type cron needs cron and no interval"),
        ("{type: daily, prompt: x}", 'type: "daily" is not one of cron, interval'),
        ("{type: cron, cron: x, prompt: x}", 'cron: "x" has 1 field, 5 are needed'),
        (
            "{type: interval, interval: 1h, prompt: x, resume_session: 1}",
            "resume_session: must be true or false",
        ),
        ("[]", "schedule: must be a mapping with a type"),
    ],
)
def test_a_bad_legacy_schedule_is_told_in_its_own_field_names(world, body, sentence):
    entries = files.read(world.write(f"schedules:\n  old: {body}\n"))

    assert entries.invalid[0].error.startswith(sentence)
    assert entries.invalid[0].legacy


def test_a_legacy_schedule_without_enabled_is_off_with_a_warning(world):
    entries = files.read(
        world.write("schedules:\n  old: {type: interval, interval: 1h, prompt: x}\n")
    )

    assert not entries.legacy["old"].enabled
    assert entries.legacy["old"].warnings == ("enabled: absent, so the schedule is off",)


def test_maps_that_are_no_maps_are_one_invalid_entry_each(world):
    entries = files.read(world.write("triggers: [1]\nschedules: none\n"))

    assert [entry.name for entry in entries.invalid] == ["triggers", "schedules"]


def test_names_that_yaml_reads_as_numbers_are_names(world):
    world.write(
        "triggers:\n  7:\n    trigger: {type: schedule, interval: 1h}\n    run: {prompt: x}\n"
    )

    assert commands.get(world.project(), "7").trigger.name == "7"
    assert not world.put("7", schedule(interval="2h")).created
    assert commands.get(world.project(), "7").trigger.when.when == "interval 2h"
    assert commands.remove(world.project(), "7")
    assert [*files.read(world.project()).triggers] == []


BOTH = """\
name: Alpha
triggers:
  dup:
    trigger: {type: schedule, interval: 1d}
    run: {prompt: hello}
schedules:
  dup: {type: interval, interval: 1h, prompt: mine, enabled: true}
"""


def test_removing_a_trigger_leaves_the_schedule_it_hid_and_says_so(world):
    world.write(BOTH)

    gone = remove_trigger(USER, project="alpha", name="dup")

    assert (gone["removed"], gone["warnings"]) == (
        True, ["schedules.dup: this legacy schedule is used from now on, it is armed"],
    )  # fmt: skip
    legacy = BOTH[BOTH.index("schedules") :]
    assert world.text() == f"name: Alpha\ntriggers: {{}}\n{legacy}"
    gone = remove_trigger(USER, project="alpha", name="dup")
    assert (gone["removed"], gone.get("warnings")) == (True, None)
    assert world.text() == "name: Alpha\ntriggers: {}\n"


def test_an_emptied_map_of_schedules_stays_where_a_comment_stands_in_it(world):
    head = "name: Alpha\nschedules:\n  # mine\n"
    world.write(f"{head}  old: {{type: interval, interval: 1h, prompt: x}}\n")

    assert commands.remove(world.project(), "old")

    assert world.text() == f"{head}  {{}}\n"
