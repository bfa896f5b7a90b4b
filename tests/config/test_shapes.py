"""A record that is declared once, as a typed dictionary, is a serializer as well."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

import pytest
from rest_framework import serializers as s

from config.web.shapes import serializer


class Leaf(TypedDict):
    text: str


class Tree(TypedDict):
    """A record with one key of each kind."""

    state: Literal["up", "down"]
    count: int | None
    share: Annotated[float, "0 to 1"]
    ready: bool
    notes: NotRequired[str]
    tags: list[str]
    numbers: dict[str, int]
    anything: Any
    leaf: Leaf | None
    leaves: list[Leaf]


def test_each_kind_of_key_becomes_the_field_of_its_kind():
    made = serializer(Tree)()
    fields: dict[str, Any] = dict(made.fields)

    assert (type(made).__name__, type(made).__doc__) == (
        "Tree",
        "A record with one key of each kind.",
    )
    assert {name: type(field) for name, field in fields.items()} == {
        "state": s.ChoiceField, "count": s.IntegerField, "share": s.FloatField,
        "ready": s.BooleanField, "notes": s.CharField, "tags": s.ListField,
        "numbers": s.DictField, "anything": s.JSONField,
        "leaf": serializer(Leaf), "leaves": s.ListSerializer,
    }  # fmt: skip
    assert [name for name, field in fields.items() if field.allow_null] == ["count", "leaf"]
    assert [name for name, field in fields.items() if not field.required] == ["notes"]
    assert list(fields["state"].choices) == ["up", "down"]
    assert fields["share"].help_text == "0 to 1"
    assert isinstance(fields["numbers"].child, s.IntegerField)


def test_a_record_is_rendered_as_it_is():
    tree = Tree(
        state="up", count=None, share=0.5, ready=True, tags=["a"], numbers={"b": 1},
        anything=[None], leaf={"text": ""}, leaves=[{"text": "c"}],
    )  # fmt: skip

    assert serializer(Tree)(tree).data == tree


def test_a_type_that_no_json_answer_holds_is_refused():
    class Odd(TypedDict):
        root: complex

    with pytest.raises(TypeError, match="complex"):
        _ = serializer(Odd)().fields
