"""A legacy schedule becomes a trigger, and what its entry says goes along."""

from __future__ import annotations

import pytest
import yaml

from workspace.triggers import commands, render

OLD = """\
name: Alpha
schedules:
  # Asked for by the ops team.
  old:
    type: cron
    cron: "0 9 * * 1-5"  # before the stand-up
    owner: {team: ops, since: 2019}  # not ours
    # Three lines.
    prompt: |  # as text
      # no comment
      Look around
    enabled: true
    # The end of it.
# Of the file.
"""


def test_convert_takes_comments_and_unknown_keys_along(world):
    world.write(OLD)

    commands.convert(world.project(), "old")

    text = world.text()
    assert text.startswith("name: Alpha\n")
    assert "schedules" not in text
    assert [line.strip() for line in text.splitlines() if line.strip().startswith("#")] == [
        "# Asked for by the ops team.",
        "# before the stand-up",
        "# not ours",
        "# Three lines.",
        "# as text",
        "# The end of it.",
        "# no comment",
        "# Of the file.",
    ]
    entry = yaml.safe_load(text)["triggers"]["old"]
    assert entry["owner"] == {"team": "ops", "since": 2019}
    assert entry["run"]["prompt"] == "# no comment\nLook around\n"


@pytest.mark.parametrize(
    "text",
    [
        "# a\nschedules:  # b\n  # c\n\n  old: {type: cron, cron: '@daily', prompt: '# x'}  # d\n",
        "# a\nschedules: {old: {type: cron, cron: '@daily', prompt: x}}  # b\n# c\n# d",
        "schedules:\r\n  # a\r\n  old:  # b\r\n    {type: cron,  # c\r\n"
        "    cron: '@daily', prompt: x}\r\n  # d\r\n",
        "schedules:\n  # a\n  old:\n    type: cron\n    cron: '@daily'\n    prompt: x\n  # b\n"
        "  new: {type: cron}\ntriggers:\n  # c\n  x: {}  # d\n",
    ],
)
def test_convert_keeps_each_comment_once_wherever_it_stands(world, text: str):
    world.write(text)

    commands.convert(world.project(), "old")

    made = world.text()
    assert [made.count(f"# {letter}") for letter in "abcd"] == [1, 1, 1, 1]
    assert "old" in yaml.safe_load(made)["triggers"]
    assert ("\r\n" in made) == ("\r\n" in text)
    assert [*yaml.safe_load(made).get("schedules", {"new": 0})] == ["new"]


def test_convert_says_what_it_cannot_keep(world):
    world.write(
        "schedules:\n  old: {type: interval, interval: 1h, prompt: x, run: odd, clients: [ci]}\n"
    )

    view = render.trigger(commands.convert(world.project(), "old"))

    assert view["warnings"][:2] == [
        "run: not kept, a trigger has a key of this name",
        "clients: not kept, a trigger has a key of this name",
    ]
    assert "clients" not in view
