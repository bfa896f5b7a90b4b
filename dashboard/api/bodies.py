"""What callers send, as the OpenAPI description shows it; the operations read and refuse it."""

from __future__ import annotations

from rest_framework import serializers as s

from config.web.shapes import Shape
from dashboard.history.windows import WINDOWS
from dashboard.operations.apps import SOURCES, STATES
from dashboard.operations.observed import EXPECTED


class Nothing(Shape):
    """`{}`."""


class Claim(Shape):
    slug = s.CharField(max_length=63)
    name = s.CharField(required=False, max_length=80)
    expected = s.ChoiceField(EXPECTED, required=False)


class Ignore(Shape):
    by = s.ChoiceField(("port", "process", "dir"), required=False)
    reason = s.CharField(required=False, max_length=500)


class Rules(Shape):
    text = s.CharField(help_text="The whole file")


class Refresh(Shape):
    slug = s.CharField(required=False, help_text="One app; without it every app that is up")


class Restart(Shape):
    slug = s.CharField(required=False)


class Restore(Shape):
    file = s.CharField(help_text="Its path below the directory of the files, as a removal told it")


class Filter(Shape):
    state = s.ChoiceField(STATES, required=False)
    tag = s.CharField(required=False)
    source = s.ChoiceField(SOURCES, required=False)  # type: ignore[assignment]


class Form(Shape):
    form = s.ChoiceField(("yaml",), required=False, help_text="yaml: the file as text")


class Remove(Shape):
    stop = s.BooleanField(required=False, help_text="End the app's service first")


class Window(Shape):
    window = s.ChoiceField(tuple(WINDOWS), required=False)


class Lines(Shape):
    lines = s.IntegerField(required=False, min_value=1, max_value=5000, default=200)
    after = s.IntegerField(required=False, min_value=0, help_text="`bytes` of an earlier answer")
    before = s.IntegerField(required=False, min_value=0, help_text="`from` of an earlier answer")


class Url(Shape):
    url = s.CharField(help_text="A link of the group")
