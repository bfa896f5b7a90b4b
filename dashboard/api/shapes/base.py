"""The shapes every answer may hold: fields, refusals, mistakes in files."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers as s

LEVELS = ("error", "warning")


@extend_schema_serializer(many=False)  # a list is always inside an object
class Shape(s.Serializer[Any]):
    """A JSON object of the answer. `own` holds the fields whose names Python keeps for itself."""

    own: ClassVar[dict[str, s.Field[Any, Any, Any, Any]]] = {}

    def get_fields(self) -> dict[str, s.Field[Any, Any, Any, Any]]:
        return {**super().get_fields(), **deepcopy(self.own)}


def word(*, null: bool = False) -> s.CharField:
    return s.CharField(allow_null=null)


def maybe() -> s.CharField:
    """A text, null when there is none."""
    return word(null=True)


def number(*, null: bool = False) -> s.IntegerField:
    return s.IntegerField(allow_null=null)


def real() -> s.FloatField:
    """A number, null when there is none."""
    return s.FloatField(allow_null=True)


def words() -> s.ListField:
    return s.ListField(child=s.CharField())


def table(*, null: bool = False) -> s.DictField:
    """Any JSON object."""
    return s.DictField(allow_null=null)


class Issue(Shape):
    path = word()
    message = word()


class Error(Shape):
    """Every refusal, on every route; what a code brings with it beside the sentence (11)."""

    error = word()
    code = word()
    issues = Issue(many=True, required=False)
    etag = s.CharField(required=False, allow_null=True)
    file = s.CharField(required=False)
    line = s.IntegerField(required=False, allow_null=True)
    column = s.IntegerField(required=False, allow_null=True)
    holder = s.DictField(required=False)
    id = s.CharField(required=False)


class Health(Shape):
    ok = s.BooleanField()
    version = word()


class FileError(Shape):
    file = word()
    level = s.ChoiceField(LEVELS)
    line = number(null=True)
    column = number(null=True)
    message = word()
    since = word()
