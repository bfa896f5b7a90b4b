"""JSON that says one thing only (case D22)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from config import jsonio
from config.errors import Invalid
from dashboard.api import strict

WRONG = {
    b'{"a": 1, "a": 2}': ('duplicate key "a"', 1, 10),
    b'{\n  "b": {"c": 1,\n "c": 1}}': ('duplicate key "c"', 3, 2),
    b'{"\\u0061": 1, "a": 2}': ('duplicate key "a"', 1, 15),
    b'{"a": NaN}': ("NaN is not a number of JSON", 1, 7),
    b'{"a": [1, -Infinity]}': ("-Infinity is not a number of JSON", 1, 11),
    b'{"a": }': ("expecting value", 1, 7),
    b'{"a": 1': ("expecting ',' delimiter", 1, 8),
    b'{"a": 1}\n{}': ("extra data", 2, 1),
    b'{"\xc3\xa4": "\xff"}': ("it is not UTF-8", 1, 8),
    b"[]": ("it must be an object", 1, 1),
    b"null": ("it must be an object", 1, 1),
    b'"a"': ("it must be an object", 1, 1),
    b"\xef\xbb\xbf{}": ("unexpected UTF-8 BOM (decode using utf-8-sig)", 1, 1),
    b'{"a": ' + b"[" * 32 + b"]" * 32 + b"}": ("it is nested deeper than 32 levels", 1, 38),
    b"[" * 100_000: ("it is nested deeper than 32 levels", 1, 33),
    b'{"a": ' + b"1" * 5000 + b"}": ("a number is too long", 1, 1),
}


@pytest.mark.parametrize(("sent", "told"), WRONG.items(), ids=range(len(WRONG)))
def test_what_is_wrong_is_named_with_its_place(sent, told):
    with pytest.raises(Invalid) as refused:
        strict.loads(sent)

    detail, line, column = told
    assert refused.value.body() == {
        "error": f"The body is not valid JSON: {detail}.",
        "code": "bad_json",
        "line": line,
        "column": column,
    }


@pytest.mark.parametrize(
    "sent",
    [
        b'{"a": {"a": 1}, "b": [{"a": 1}, {"a": 2}]}',
        b'{"a": "NaN, {[ \\" Infinity", "b": "\\"a\\": 1"}',
        b'{"a": ' + b"[" * 31 + b"]" * 31 + b"}",
    ],
)
def test_what_only_looks_wrong_passes(sent):
    assert strict.loads(sent) == jsonio.loads(sent)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=20,
)


@settings(max_examples=50)
@given(st.dictionaries(st.text(max_size=6), VALUES, max_size=5))
def test_every_object_of_a_few_levels_is_read_as_it_was_written(value):
    if jsonio.nesting(data := jsonio.dumps(value), limit=32) <= 32:
        assert strict.loads(data) == jsonio.loads(data)


@given(st.binary(max_size=40))
def test_any_bytes_are_an_object_or_a_refusal(data):
    try:
        found: object = strict.loads(data)
    except Invalid as refused:
        found = refused.code

    assert found == "bad_json" or isinstance(found, dict)
