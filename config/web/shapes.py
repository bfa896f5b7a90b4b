"""Records are declared once: a TypedDict is both a record's type and its description in the API.

mypy checks the function that builds a record against it, key by key. `serializer` derives the
Django REST framework serializer that /api/schema shows and tests check every answer against.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers as s

Field = s.Field[Any, Any, Any, Any]
_PLAIN: Mapping[Any, type[Field]] = {
    str: s.CharField,
    int: s.IntegerField,
    float: s.FloatField,
    bool: s.BooleanField,
    Any: s.JSONField,
}


@extend_schema_serializer(many=False)  # a list is always inside an object
class Shape(s.Serializer[Any]):
    """A JSON object in an answer."""


@cache
def serializer(record: type) -> type[Shape]:
    """The serializer of a TypedDict, under its name and with its docstring.

    `Literal` is a choice, `X | None` may be null, `NotRequired` may be missing, and
    `Annotated[X, "..."]` describes a key. TypeError for a type that no JSON answer can hold.
    """
    hints = get_type_hints(record, include_extras=True)

    def get_fields(_self: Shape) -> dict[str, Field]:
        return {name: _field(hint, {}) for name, hint in hints.items()}

    made = {"get_fields": get_fields, "__doc__": record.__doc__, "__module__": record.__module__}
    return type(record.__name__, (Shape,), made)


def _field(hint: Any, options: dict[str, Any]) -> Field:
    """The field of one key; `options` are its arguments from the enclosing type."""
    kind, of = get_origin(hint), get_args(hint)
    if kind is NotRequired:
        return _field(of[0], {**options, "required": False})
    if kind is Annotated:
        return _field(of[0], {**options, "help_text": of[1]})
    if kind in (Union, UnionType) and NoneType in of:
        (rest,) = (one for one in of if one is not NoneType)
        return _field(rest, {**options, "allow_null": True})
    if kind is Literal:
        return s.ChoiceField(of, **options)
    if kind is list:
        if is_typeddict(of[0]):
            return serializer(of[0])(many=True, **options)
        return s.ListField(child=_field(of[0], {}), **options)
    if kind is dict:
        return s.DictField(child=_field(of[1], {}), **options)
    if is_typeddict(hint):
        return serializer(hint)(**options)
    if hint in _PLAIN:
        return _PLAIN[hint](**options)
    raise TypeError(f"no field of an answer is made of {hint}")
