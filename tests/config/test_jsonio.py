"""JSON in and out: strict, bounded, compact."""

from __future__ import annotations

import contextlib
import json
import time
from datetime import UTC, datetime
from typing import Any

import pytest
from django.core.serializers.json import DjangoJSONEncoder
from hypothesis import given
from hypothesis import strategies as st

from config import jsonio

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=20,
)


@given(VALUES)
def test_what_is_written_is_read_back(value):
    assert json.loads(jsonio.dumps(value)) == value


@given(st.binary(max_size=200))
def test_any_bytes_are_a_value_or_a_json_error(data):
    with contextlib.suppress(jsonio.JsonError):
        jsonio.loads(data)


def test_output_is_compact_and_keeps_non_ascii():
    assert jsonio.dumps({"a": ["ü", 1]}) == '{"a":["ü",1]}'.encode()


def test_numbers_beyond_64_bits_survive():
    assert jsonio.dumps({"n": 10**30}) == b'{"n":1' + b"0" * 30 + b"}"


def test_what_is_nested_without_end_is_told_as_far_as_anybody_looks():
    value: object = "deep"
    for _ in range(5000):
        value = [{"a": value}]

    told = jsonio.dumps({"n": 10**30, "value": value})

    assert jsonio.nesting(told, limit=0) == jsonio.SHOWN_DEPTH
    assert b"[nested deeper than 250 levels]" in told


def test_a_lone_surrogate_leaves_as_the_replacement_character():
    assert jsonio.dumps(["a\ud800b"]) == '["a\ufffdb"]'.encode()


def test_an_escaped_lone_surrogate_is_read_and_can_be_cleaned():
    (text,) = jsonio.loads(b'["a\\ud800b"]')

    assert jsonio.clean(text) == "a\ufffdb"


@pytest.mark.parametrize(
    "data",
    [b"", b" ", b"NaN", b"[Infinity]", b"-Infinity", b'{"a":1e400}', b"\xff\xfe", b'{"a":', b"[1,]",
     b'["\\ud800", 1e999]', b"{'a':1}", b"\xef\xbb\xbf{}", b"1" * 5000],
)  # fmt: skip
def test_what_is_no_json_is_refused(data):
    with pytest.raises(jsonio.JsonError):
        jsonio.loads(data)


def test_nesting_of_a_hundred_passes_and_one_more_does_not():
    assert jsonio.loads(b"[" * 100 + b"]" * 100)
    with pytest.raises(jsonio.JsonError, match="nested deeper than 100"):
        jsonio.loads(b"[" * 101 + b"]" * 101)


def test_brackets_inside_strings_are_no_nesting():
    assert jsonio.loads(b'["' + b"[" * 500 + b'\\"' + b"{" * 500 + b'"]')


@pytest.mark.parametrize(
    "data",
    [b"[" * 4_000_000, b'"\\"' * 1_300_000 + b"[" * 101, b'{"a":' * 700_000, b"[]" * 2_000_000],
)
def test_four_hostile_megabytes_are_judged_within_a_second_of_cpu(data):
    start = time.process_time()
    with pytest.raises(jsonio.JsonError):
        jsonio.loads(data)

    assert time.process_time() - start < 1


@pytest.mark.parametrize(
    "value",
    [{"é": ["\0", 1.5, None, True]}, 1 << 80, "half \ud83d of it", {1: {None: "two"}}, [], ""],
)
def test_a_column_keeps_what_json_of_python_keeps(value: Any):
    assert json.loads(jsonio.column(value)) == json.loads(json.dumps(value))


@given(VALUES)
def test_whatever_is_written_to_a_column_comes_back(value: Any):
    assert json.loads(jsonio.column(value)) == value


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ([float("inf"), 1 << 80], [None, 1 << 80]),
        ({"half \ud83d": float("nan")}, {"half \ufffd": None}),
    ],
)
def test_a_column_holds_no_number_that_databases_refuse(value: Any, kept: Any):
    assert json.loads(jsonio.column(value)) == kept


def test_a_column_takes_what_is_nested_deeper_than_it_can_be_written():
    deep: Any = []
    for _ in range(2000):
        deep = [deep]

    assert "nested deeper" in jsonio.column(deep)


def test_a_column_takes_no_time_for_text():
    with pytest.raises(TypeError):
        jsonio.column({"at": datetime(2026, 1, 5, tzinfo=UTC)})


def test_a_column_with_an_encoder_of_its_own_is_written_by_it():
    at = datetime(2026, 1, 5, tzinfo=UTC)

    assert jsonio.column({"at": at}, DjangoJSONEncoder) == '{"at": "2026-01-05T00:00:00Z"}'
