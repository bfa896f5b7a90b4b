"""Flat arguments: read leniently, refused by name, published as schema."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.errors import Invalid
from config.mcp.arguments import TEXT_LIMIT, nearest, read, schema, truncate
from config.mcp.operations import Argument, Operation

OPERATION = Operation(
    name="create_thing",
    group="write",
    description="",
    run=lambda caller: None,
    render=lambda value: {},
    arguments=(
        Argument("project", "string", required=True, absent="there is no current project"),
        Argument("prompt", "text"),
        Argument("name", "name"),
        Argument("limit", "integer", default=30, least=1, most=200, clamp=True),
        Argument("max_turns", "integer", nullable=True, least=1, most=1000),
        Argument("enabled", "boolean"),
        Argument("tools", "list"),
        Argument("prompts", "prompts", absent="one prompt per line"),
        Argument("session", "string", choices=("new", "resume"), nullable=True),
        Argument("link", "json", "anything", nullable=True),
    ),
)


def values(**given: Any) -> dict[str, Any]:
    return read(OPERATION, {"project": "a", **given}, {})


def refusal(**given: Any) -> str:
    with pytest.raises(Invalid) as caught:
        read(OPERATION, given, {})
    return caught.value.text


def test_defaults_are_filled_and_the_rest_stays_absent():
    assert values() == {"project": "a", "limit": 30}


def test_a_required_argument_is_named_with_the_reason():
    assert refusal() == "`project` is required (there is no current project)."
    assert refusal(project=None) == "`project` is required (there is no current project)."
    assert refusal(project="  ") == "`project` is required (there is no current project)."


def test_the_caller_may_bring_its_own():
    assert read(OPERATION, {}, {"project": "mine"})["project"] == "mine"
    assert read(OPERATION, {"project": "other"}, {"project": "mine"})["project"] == "other"


def test_a_misspelt_argument_is_named_with_the_nearest():
    assert refusal(project="a", promt="x") == (
        "unknown argument `promt` for create_thing (did you mean `prompt`?)."
    )
    assert refusal(zzzzzz=1) == "unknown argument `zzzzzz` for create_thing."
    assert len(refusal(**{"q" * 5000: 1})) < 200
    assert nearest("bash", ["Bash", "Read"]) == "Bash"


def test_camel_case_spelling_is_accepted_but_not_twice():
    assert values(maxTurns=5)["max_turns"] == 5
    twice = "`max_turns` is given twice (also as `maxTurns`)."
    assert refusal(max_turns=1, maxTurns=2) == refusal(maxTurns=2, max_turns=1) == twice


@pytest.mark.parametrize("value", [5, "5", " 5 ", 5.0, "5.0", "+5"])
def test_whole_numbers_may_be_text(value: Any):
    found = values(limit=value)["limit"]

    assert (found, type(found)) == (5, int)


@pytest.mark.parametrize(
    ("value", "got"),
    [("abc", '"abc"'), (True, "true"), ([1], "[1]"), (1.5, "1.5"), ("1e3", '"1e3"'), ({}, "{}")],
)
def test_what_is_no_whole_number_is_shown(value: Any, got: str):
    assert refusal(project="a", limit=value) == f"`limit` must be a whole number (got {got})."
    assert refusal(project="a", max_turns=value) == (
        f"`max_turns` must be a whole number (got {got})."
    )


@pytest.mark.parametrize(("value", "kept"), [(0, 1), (-5, 1), (201, 200), (10**400, 200)])
def test_a_clamped_number_moves_into_range(value: int, kept: int):
    assert values(limit=value)["limit"] == kept


def test_another_number_out_of_range_is_refused():
    assert refusal(project="a", max_turns=0) == (
        "`max_turns` must be a whole number from 1 to 1000 (got 0)."
    )


@pytest.mark.parametrize(
    ("value", "read_as"), [(True, True), ("true", True), ("False", False), (" TRUE ", True)]
)
def test_booleans_may_be_words(value: Any, read_as: bool):
    assert values(enabled=value)["enabled"] is read_as


@pytest.mark.parametrize("value", ["yes", 1, 0, []])
def test_other_words_are_no_boolean(value: Any):
    assert "`enabled` must be true or false" in refusal(project="a", enabled=value)


@pytest.mark.parametrize(
    "value", [["Read", " Edit"], "Read,Edit", "Read\nEdit\n", '["Read", "Edit"]', " Read , , Edit "]
)
def test_lists_may_be_text(value: Any):
    assert values(tools=value)["tools"] == ["Read", "Edit"]


@pytest.mark.parametrize("value", [[], "[]", " , "])
def test_an_empty_list_is_a_value(value: Any):
    assert values(tools=value)["tools"] == []


@pytest.mark.parametrize("value", ["", " \n "])
def test_a_blank_text_is_no_empty_list(value: Any):
    assert "tools" not in values(tools=value)


@pytest.mark.parametrize("value", [5, [1], "[1]", "[", {}, '["a"'])
def test_what_is_no_list_of_strings_is_refused(value: Any):
    assert refusal(project="a", tools=value).startswith("`tools` must be a list")


@pytest.mark.parametrize("value", [["a, b", " c"], '["a, b", " c"]', "a, b\n\n c\n"])
def test_prompts_are_json_or_one_per_line_and_keep_their_commas(value: Any):
    assert values(prompts=value)["prompts"] == ["a, b", " c"]


def test_prompts_name_the_bad_entry():
    assert refusal(project="a", prompts=["x", "y", " "]) == "`prompts` entry 3 is empty."
    assert refusal(project="a", prompts=["x"] * 21) == (
        "`prompts` holds 21 entries; at most 20 forks per call."
    )


def test_strings_are_trimmed_and_prompts_are_not():
    assert values(project=" b ", prompt="  x \n") | {"limit": 0} == {
        "project": "b",
        "prompt": "  x \n",
        "limit": 0,
    }
    assert "prompt" not in values(prompt=" \n ")


def test_a_name_is_one_short_line():
    assert values(name=" n ")["name"] == "n"
    for bad in ("a\nb", "x" * 201, "a\0"):
        assert "`name` must be one line of at most 200 characters" in refusal(project="a", name=bad)


def test_a_prompt_is_bounded_and_holds_no_nul_and_no_lone_surrogate():
    assert refusal(project="a", prompt="a\0b") == "`prompt` must not contain NUL."
    assert "at most 100000" in refusal(project="a", prompt="x" * (TEXT_LIMIT + 1))
    assert values(prompt="a\ud800b")["prompt"] == "a\ufffdb"
    assert values(project="\udfff")["project"] == "\ufffd"


def test_null_is_absent_unless_it_is_a_value():
    assert values(limit=None, prompt=None)["limit"] == 30
    assert values(max_turns=None, session=None) == {
        "project": "a", "limit": 30, "max_turns": None, "session": None,
    }  # fmt: skip


@pytest.mark.parametrize("value", [7, 1.5, True, "x", "", [], {"a": [1]}, None])
def test_any_json_is_taken_as_it_is(value: Any):
    assert values(link=value)["link"] == value


def test_an_object_may_be_its_json_text():
    assert values(link=' {"number": 7}')["link"] == {"number": 7}
    assert values(link="[1]")["link"] == [1]
    assert refusal(project="a", link="{number: 7}") == '`link` must be JSON (got "{number: 7}").'


def test_a_word_that_is_no_choice_is_refused_by_the_words_there_are():
    assert values(session=" new ")["session"] == "new"
    assert values(session=None)["session"] is None
    assert "session" not in values(session=" ")
    assert refusal(project="a", session="New") == 'session: "New" is not one of new, resume'
    assert refusal(project="a", session="a\nb") == 'session: "ab" is not one of new, resume'
    assert len(refusal(project="a", session="x" * 5000)) < 200


@pytest.mark.parametrize(
    "argument",
    [
        Argument("status", "string", choices=("active", "done"), judged=True),
        Argument("status", "string", choices=("active", "done"), as_sent=True),
    ],
)
def test_choices_are_left_to_a_noun_that_says_more(argument: Argument):
    operation = dataclasses.replace(OPERATION, arguments=(argument,))

    assert read(operation, {"status": "Active"}, {}) == {"status": "Active"}


def test_the_schema_says_what_is_taken():
    shown = schema(OPERATION, {})

    assert shown["required"] == ["project"]
    assert shown["additionalProperties"] is False
    assert list(shown["properties"]) == [a.name for a in OPERATION.arguments]
    assert shown["properties"]["limit"] == {"type": "integer", "default": 30}
    assert shown["properties"]["max_turns"] == {
        "type": ["integer", "null"], "minimum": 1, "maximum": 1000,
    }  # fmt: skip
    assert shown["properties"]["session"]["enum"] == ["new", "resume", None]
    assert shown["properties"]["link"] == {"description": "anything"}
    assert "required" not in schema(OPERATION, {"project": "a"})


def test_a_long_text_is_cut_by_utf16_units():
    assert truncate("x" * 2000) == "x" * 2000
    assert truncate("x" * 2005) == "x" * 2000 + "… [truncated 5 chars]"
    assert truncate("𝄞" * 1000) == "𝄞" * 1000
    assert truncate("x" + "𝄞" * 1000) == "x" + "𝄞" * 999 + "… [truncated 1 chars]"


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)
NAMES = st.sampled_from([a.name for a in OPERATION.arguments]) | st.text(max_size=8)


@given(st.dictionaries(NAMES, ANY, max_size=4))
def test_anything_is_read_or_refused_with_a_sentence(given_: dict[str, Any]):
    text = "."
    try:
        json.dumps(read(OPERATION, given_, {"project": "a"}))
    except Invalid as error:
        text = error.text

    assert text.endswith(".")
    assert len(text) < 400


HANDED_ON = Operation(
    name="say",
    group="write",
    description="",
    run=lambda caller: None,
    render=lambda value: {},
    arguments=(
        Argument("body", "text", required=True, as_sent=True),
        Argument("title", "text", nullable=True, as_sent=True),
        Argument("side", "string", as_sent=True),
        Argument("line", "integer", as_sent=True),
        Argument("link", "json", as_sent=True),
    ),
)


@pytest.mark.parametrize(
    ("given", "read_as"),
    [
        ({}, {}),
        ({"body": " ", "title": "", "side": " "}, {"body": " ", "title": ""}),
        ({"body": 5, "side": ["LEFT"], "line": 1.5}, {"body": 5, "side": ["LEFT"], "line": 1.5}),
        ({"body": "a\0b", "line": "7", "link": "[1"}, {"body": "a\0b", "line": 7, "link": "[1"}),
        ({"body": "\ud800\0", "title": None, "line": None}, {"body": "\ufffd\0", "title": None}),
    ],
)
def test_what_cannot_be_read_is_handed_on_where_the_operation_refuses_it(given, read_as):
    assert read(HANDED_ON, given, {}) == read_as
