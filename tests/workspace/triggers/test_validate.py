"""Every field of a trigger: the exact sentence of each mistake."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from config.errors import Invalid
from tests.promises.rings import ring
from tests.workspace.triggers.world import schedule
from workspace.triggers.entries import catalogue, validate

EVENTS = ", ".join(catalogue.EVENTS)


def said(name: str = "t", **changes: Any) -> list[str]:
    """The problems of a good schedule after `trigger__cron=…`-style changes."""
    body = schedule(cron="0 9 * * *")
    for path, value in changes.items():
        section, _, key = path.partition("__")
        if key and value is ...:
            del body[section][key]
        elif key:
            body[section][key] = value
        else:
            body[section] = value
    return [str(problem) for problem in validate.read(name, body)[1].problems]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        (
            "bad name!",
            'name: "bad name!" must start with a letter or digit and use only letters, digits, '
            '".", "_", "-" (1-64), e.g. "nightly-scan"',
        ),
        ("runtime", 'name: "runtime" is reserved, e.g. "runtime-check"'),
    ],
)
def test_a_bad_name_is_named(name, sentence):
    assert said(name) == [sentence]


@pytest.mark.parametrize("name", ["-x", "", "a" * 65, "a/b", "ä", "a\n"])
def test_other_bad_names_are_refused(name):
    assert said(name)[0].startswith("name: ")


@pytest.mark.parametrize("name", ["a", "a.b_c-1", "A" * 64, "7"])
def test_good_names_pass(name):
    assert said(name) == []


ROWS: list[tuple[dict[str, Any], str]] = [
    (
        {"trigger__type": "cronjob"},
        'trigger.type: "cronjob" is not one of schedule, event, webhook',
    ),
    (
        {"trigger__cron": "0 0 3 * * *"},
        'trigger.cron: "0 0 3 * * *" has 6 fields, 5 are needed, e.g. "0 9 * * 1-5"',
    ),
    (
        {"trigger__cron": "75 * * * *"},
        'trigger.cron: "75 * * * *" field 1 (minute): 75 is not within 0-59, e.g. "0 9 * * 1-5"',
    ),
    (
        {"trigger__cron": "0 0 30 2 *"},
        'trigger.cron: "0 0 30 2 *" never occurs, e.g. "0 9 * * 1-5"',
    ),
    (
        {"trigger__cron": 5},
        'trigger.cron: 5 is not a cron pattern in quotes, e.g. "0 9 * * 1-5"',
    ),
    (
        {"trigger": {"type": "schedule", "interval": "soon"}},
        'trigger.interval: "soon" is not a duration (whole number plus s, m, h or d), e.g. "30m"',
    ),
    (
        {"trigger__interval": "30m"},
        'trigger: give exactly one of cron and interval, e.g. interval "30m"',
    ),
    (
        {"trigger": {"type": "schedule"}},
        'trigger: give exactly one of cron and interval, e.g. interval "30m"',
    ),
    (
        {"trigger": {"type": "event", "on": "onDelete"}},
        f'trigger.on: "onDelete" is not one of {EVENTS}',
    ),
    ({"trigger": {"type": "event"}}, f"trigger.on: is required, one of {EVENTS}"),
    (
        {"trigger": {"type": "event", "on": "onArchive", "timezone": "UTC"}},
        "trigger.timezone: belongs to schedule triggers, this one is of type event, "
        'e.g. type "schedule"',
    ),
    (
        {"trigger": {"type": "webhook", "path": "deploy"}},
        'trigger.path: must start with "/", e.g. "/deploy"',
    ),
    ({"trigger__catchUp": "all"}, 'trigger.catchUp: "all" is not one of skip, once'),
    (
        {"run": {}},
        'run: give exactly one of prompt and promptFile, e.g. promptFile "daily.md"',
    ),
    (
        {"run__promptFile": "daily.md"},
        'run: give exactly one of prompt and promptFile, e.g. promptFile "daily.md"',
    ),
    ({"run__prompt": "  "}, 'run.prompt: must not be blank, e.g. "Summarise new issues"'),
    (
        {"run": {"promptFile": "../x.md"}},
        'run.promptFile: "../x.md" leaves .svc/triggers/, e.g. "daily.md"',
    ),
    ({"run__session": "same"}, 'run.session: "same" is not one of new, resume'),
    (
        {"run__tools": ["Bash(git status)"]},
        'run.tools: unknown tool "Bash(git status)": a list names whole tools, not patterns of '
        "commands (did you mean Bash?)",
    ),
    ({"run__tools": ["bash"]}, 'run.tools: unknown tool "bash" (did you mean Bash?)'),
    (
        {"run__permissionMode": "yolo"},
        'run.permissionMode: "yolo" is not one of default, acceptEdits, bypassPermissions, plan',
    ),
    ({"run__network": "open"}, 'run.network: "open" is not one of off, guarded, host'),
    (
        {"run__network": False},
        'run.network: false is not one of off, guarded, host; "off" is the word for no network',
    ),
    (
        {"run__network": {"mode": "off"}},
        "run.network: a map is not one of off, guarded, host; "
        "ports and hosts are listed in the project",
    ),
    ({"run__maxTurns": 0}, "run.maxTurns: 0 is not a whole number from 1 to 1000, e.g. 30"),
    ({"run__maxTurns": True}, "run.maxTurns: true is not a whole number from 1 to 1000, e.g. 30"),
    (
        {"run__maxSpawnDepth": -1},
        "run.maxSpawnDepth: -1 is not a whole number of 0 or more, e.g. 1",
    ),
    (
        {"run": {"prompt": "x", "overlap": "parallel", "session": "resume"}},
        'run.overlap: parallel needs run.session "new" (turns of one chat never overlap)',
    ),
    ({"run__onAsk": "ever"}, 'run.onAsk: "ever" is not one of deny, wait'),
    ({"run__backoff": 0}, "run.backoff: must be true or false, e.g. false"),
    ({"enabled": "yes"}, "enabled: must be true or false"),
]


@pytest.mark.parametrize(("changes", "sentence"), ROWS)
def test_each_mistake_has_its_sentence(changes, sentence):
    assert said(**changes) == [sentence]


@pytest.mark.parametrize(
    "name",
    ["/etc/x.md", "a/../../x.md", "a\\b.md", "x.txt", "", "a//b.md", "./x.md", "x\0.md", "a" * 201],
)
def test_other_prompt_files_that_could_lead_elsewhere_are_refused(name):
    assert said(run={"promptFile": name})[0].startswith("run.promptFile: ")


def test_a_prompt_file_may_lie_in_a_sub_folder():
    assert said(run={"promptFile": "weekly/report.md"}) == []


@pytest.mark.parametrize(
    "tools",
    [["mcp__svc_manage__*"], ["mcp__svc_manage__read_chat"], ["mcp__x__*"], ["Read", "Read"]],
)
def test_catalogue_names_and_mcp_patterns_are_granted(tools):
    assert said(run__tools=tools) == []


@pytest.mark.parametrize("tool", ["mcp__*x", "mcp__a**", "*", "Read*", "mcp__", ""])
def test_other_patterns_are_unknown_tools(tool):
    assert said(run__tools=[tool])[0].startswith("run.tools: unknown tool ")


def test_a_field_of_another_type_is_refused_by_name():
    sentence = "trigger.cron: belongs to schedule triggers, this one is of type event"
    problems = said(trigger={"type": "event", "on": "onArchive", "cron": "0 9 * * *"})
    assert problems == [f'{sentence}, e.g. type "schedule"']


def test_all_mistakes_are_collected_and_counted_in_the_first_line():
    _, findings = validate.read("runtime", {"trigger": {}, "run": {}, "enabled": 1})

    error = Invalid(findings.problems)
    assert error.text == 'name: "runtime" is reserved, e.g. "runtime-check" (and 3 more)'
    assert [entry["field"] for entry in error.extra["errors"]] == [
        "name", "trigger.type", "run", "enabled",
    ]  # fmt: skip


def test_what_works_but_may_surprise_is_a_warning():
    body = schedule(interval="5s", tools=["CronCreate"]) | {"colour": "red"}
    trigger, findings = validate.read("t", body)

    assert trigger is not None
    assert findings.warnings == [
        "colour: unknown key, not stored",
        "trigger.interval: fires more than once a minute",
        "run.tools: no engine grants CronCreate",
    ]


def test_tools_of_the_curator_are_ignored_with_a_warning():
    body = {
        "trigger": {"type": "event", "on": "afterTurn"},
        "run": {"prompt": "x", "tools": ["Read"]},
        "enabled": True,
    }

    assert validate.read("t", body)[1].warnings == ["run.tools: ignored, the curator has no tools"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
fields = st.fixed_dictionaries(
    {},
    optional={
        "trigger": st.dictionaries(
            st.sampled_from(["type", "cron", "interval", "on", "path", "catchUp", "x"]),
            json_values | st.sampled_from(["schedule", "event", "webhook", "30m", "@daily"]),
        )
        | json_values,
        "run": st.dictionaries(st.sampled_from([*validate.RUN_KEYS, "x"]), json_values)
        | json_values,
        "enabled": json_values,
    },
)


@settings(max_examples=ring(fast=40, slow=600), deadline=None)
@given(st.text(max_size=70), fields | json_values)
def test_no_body_whatever_breaks_the_reader(name, body):
    trigger, findings = validate.read(name, body)

    assert (trigger is None) == bool(findings.problems)
    assert all(len(str(problem)) < 600 for problem in findings.problems)
