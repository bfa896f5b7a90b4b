"""The runbook document: what is a step, what is text, and which line is at fault."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.promises.rings import ring
from workspace.engines import grammar
from workspace.engines.grammar import NO_STEPS, Narration, Step, SyntaxFault, parse

OPS = {"read_chat": {"project": "string", "session_id": "string", "limit": "integer"}}


def step(text: str) -> Step:
    steps = [part for part in parse(text, OPS) if isinstance(part, Step)]
    assert len(steps) == 1
    return steps[0]


def fault(text: str) -> str:
    with pytest.raises(SyntaxFault) as found:
        parse(text, OPS)
    return str(found.value)


def test_text_and_steps_alternate():
    parts = parse("#!runbook\nFirst.\n\n```Bash\nls\n```\nThen.\n")
    assert [type(part) for part in parts] == [Narration, Step, Narration]
    assert parts[0] == Narration("First.")
    assert parts[2] == Narration("Then.")


@pytest.mark.parametrize("fence", ["```", "~~~", "`````", "~~~~"])
def test_a_fence_is_closed_by_as_many_of_its_character(fence):
    other = "~~~" if fence[0] == "`" else "```"
    inner = f"{fence[:-1]}\n{other}\n{fence}x"
    found = step(f"{fence}Write file_path=a\n{inner}\n{fence}{fence[0]}\n")
    assert found.args == {"file_path": "a", "content": inner + "\n"}


def test_a_fence_away_from_column_0_is_text():
    assert step("  ```Bash\n```Bash\nls\n```\n").args == {"command": "ls"}


@pytest.mark.parametrize("word", ["python", "bash", "bash name=x", "json", "", "Bash2", "Skill"])
def test_a_fence_with_another_first_word_is_a_sample_inside_the_text(word):
    parts = parse(f"See\n```{word}\n~~~Bash\nrm -rf /\n~~~\n```\n```Bash\nls\n```\n")
    assert parts[0] == Narration(f"See\n```{word}\n~~~Bash\nrm -rf /\n~~~\n```")
    assert len(parts) == 2


def test_options_and_arguments_stand_in_the_info_string():
    found = step(
        "```Bash name=tests timeout=900 allow_failure description='all of them'\nmake\n```\n"
    )
    assert found == Step(
        "tests", "Bash", {"description": "all of them", "command": "make"}, 900, True, 1
    )


def test_words_are_split_as_a_shell_would():
    found = step("""```Write file_path="my file".txt\nx\n```""")
    assert found.args["file_path"] == "my file.txt"


def test_arguments_take_the_type_of_their_argument():
    found = step("```Grep pattern=x -i -n=false head_limit=7 output_mode=count\n```")
    assert found.args == {
        "pattern": "x", "-i": True, "-n": False, "head_limit": 7, "output_mode": "count",
    }  # fmt: skip


def test_the_info_string_may_be_one_object():
    found = step('```Bash {"timeout": 5000, "description": "d"}\nls\n```')
    assert found.args == {"timeout": 5000, "description": "d", "command": "ls"}
    assert found.seconds == 5


def test_other_tools_take_an_object_or_nothing_as_body():
    assert step("```Glob pattern=*.py\n\n```").args == {"pattern": "*.py"}
    assert step('```Glob path=src\n{"pattern":\n "*.py"}\n```').args == {
        "path": "src",
        "pattern": "*.py",
    }


def test_service_operations_are_checked_against_what_is_offered():
    found = step('```mcp__svc_manage__read_chat limit=5\n{"session_id": "{{event.chat}}"}\n```')
    assert found.args == {"limit": 5, "session_id": "{{event.chat}}"}
    assert fault("```mcp__svc_manage__read_chat limits=5\n```") == (
        'line 1: mcp__svc_manage__read_chat has no argument "limits"'
    )


def test_an_operation_that_is_not_offered_is_a_step_for_the_gate_to_deny():
    assert step("```mcp__svc_manage__delete_all now\n```").args == {"now": True}


def test_default_names_count_the_steps_and_default_limits_follow_the_tool():
    found = list(parse("```Bash\na\n```\nx\n```Read file_path=a\n```\n"))
    steps = [part for part in found if isinstance(part, Step)]
    assert [(s.name, s.seconds) for s in steps] == [("step_1", 120), ("step_2", 60)]


def test_line_ends_of_windows_are_read():
    assert step("#!runbook\r\n```Bash\r\nls\r\n```\r\n").args == {"command": "ls"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#!runbook\nx\n```Bash\nls\n", "line 3: this fence is not closed"),
        ("#!runbook\nx\n```python\nls\n", "line 3: this fence is not closed"),
        ("#!runbook\nonly text\n", NO_STEPS),
        ("", NO_STEPS),
        (
            "```Bash name=a\nls\n```\n```Bash name=a\nls\n```",
            'line 4: the name "a" is used twice',
        ),
        ("```Bash nome=a\nls\n```", 'line 1: Bash has no argument "nome"'),
        ("```Bash name=event\nls\n```", 'line 1: the name "event" is taken by the context'),
        (
            "```Bash name=1a\nls\n```",
            'line 1: "1a" is not a step name (a letter, then letters, digits or _)',
        ),
        (
            "```Bash timeout=0\nls\n```",
            "line 1: timeout must be a whole number of seconds from 1 to 1800",
        ),
        (
            "```Bash timeout=1801\nls\n```",
            "line 1: timeout must be a whole number of seconds from 1 to 1800",
        ),
        ("```Bash allow_failure=perhaps\nls\n```", "line 1: allow_failure is true or false"),
        ('```Bash description="x\nls\n```', "line 1: unreadable attributes: No closing quotation"),
        ("```Read\n```", "line 1: Read needs file_path"),
        ("```Read file_path=a offset=b\n```", "line 1: offset: must be a whole number"),
        ("```Read file_path=a offset=0\n```", "line 1: offset must be a whole number of 1 or more"),
        ("```Read file_path\n```", "line 1: file_path: needs a value"),
        ("```Read file_path=a file_path=b\n```", 'line 1: "file_path" is given twice'),
        ('```Read file_path=a\n{"file_path": "b"}\n```', 'line 1: "file_path" is given twice'),
        ('```Read\n{"file_path": 3}\n```', "line 1: file_path must be text"),
        ('```Read\n{"file_path":\n oops}\n```', "line 3: no JSON object: Expecting value"),
        ("```Read\n[1]\n```", "line 2: no JSON object: a list or a single value"),
        ('```Grep\n{"pattern": NaN}\n```', "line 2: no JSON object: NaN is not JSON"),
        ("```Grep pattern=a output_mode=all\n```", "line 1: output_mode is one of"),
        ("```Write file_path=a content=b\nc\n```", 'line 1: "content" is given twice'),
    ],
)
def test_a_fault_names_its_line(text, message):
    assert fault(text).startswith(message)


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("#!runbook\nx", True),
        ("#!runbook  \r\nx", True),
        ("#!runbook", True),
        ("\n#!runbook\n", False),
        (" #!runbook\n", False),
        ("#!runbooks\n", False),
        ("Do this:\n#!runbook\n", False),
    ],
)
def test_only_the_first_line_makes_a_runbook(prompt, expected):
    assert grammar.is_runbook(prompt) is expected


@settings(max_examples=ring(fast=60, slow=1500), deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["```", "~~~", "````", "```Bash", "~~~Write file_path=a", "text", "", '{"a": 1}', "\0"]
        )
    )
)
def test_any_document_is_read_or_refused_with_a_line_of_it(lines):
    text = "\n".join(lines)
    try:
        parts = parse(text)
    except SyntaxFault as found:
        if str(found) == NO_STEPS:
            return
        number = int(str(found).split(":")[0].removeprefix("line "))
        assert 1 <= number <= max(1, len(lines))
    else:
        assert any(isinstance(part, Step) for part in parts)


@settings(max_examples=ring(fast=40, slow=1000), deadline=None)
@given(st.text())
def test_no_text_makes_the_parser_fail(text):
    with contextlib.suppress(SyntaxFault):
        parse("```Bash " + text)
