"""Bodies of the JSON writes, as the OpenAPI description shows them. The nouns check the values."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers as s
from rest_framework.request import Request

from config.errors import Invalid
from config.web import rest
from config.web.shapes import Shape
from review.api.shapes import SIDES, STORED, VERDICTS
from review.stacks.prs.rules import TITLE
from review.threads.writing.limits import AUTHOR, BODY

LOOK = "for WORKTREE: only while the file is as it was at this look"


WAS = "the text as it was read: 409 `changed` if it has changed since"
WERE = "of the fields above as they were read: 409 `changed` if one that is set has changed since"


class Nothing(Shape):
    """The empty object, `{}`."""


class ThreadBody(Shape):
    body = s.CharField(max_length=BODY)
    path = s.CharField(required=False, allow_null=True)
    side = s.ChoiceField(SIDES, required=False, allow_null=True)
    line = s.IntegerField(required=False, allow_null=True, min_value=1)
    start_line = s.IntegerField(required=False, allow_null=True, min_value=1)
    start_side = s.ChoiceField(SIDES, required=False, allow_null=True)
    author = s.CharField(required=False, allow_null=True, max_length=AUTHOR)
    draft = s.BooleanField(required=False, help_text="written, and not sent yet")
    look = s.CharField(required=False, allow_null=True, help_text=LOOK)


class CommentBody(Shape):
    body = s.CharField(max_length=BODY)
    author = s.CharField(required=False, allow_null=True, max_length=AUTHOR)
    draft = s.BooleanField(required=False, help_text="written, and not sent yet")


class VerdictBody(Shape):
    verdict = s.ChoiceField(VERDICTS)
    body = s.CharField(required=False, allow_null=True, allow_blank=True, max_length=BODY)
    author = s.CharField(required=False, allow_null=True, max_length=AUTHOR)


class EditBody(Shape):
    body = s.CharField(max_length=BODY)
    was = s.CharField(required=False, allow_null=True, help_text=WAS)


class ResolvedBody(Shape):
    resolved = s.BooleanField()


class SuggestionBody(Shape):
    thread = s.CharField()
    comment = s.CharField(required=False, allow_null=True)
    block = s.IntegerField(required=False, allow_null=True, min_value=0)


class ApplyBody(Shape):
    suggestions = SuggestionBody(many=True)


class UndoBody(Shape):
    id = s.CharField()


class ViewedBody(Shape):
    path = s.CharField(required=False, allow_null=True)
    paths = s.ListField(child=s.CharField(), required=False, help_text="several, in one write")
    viewed = s.BooleanField()
    look = s.CharField(required=False, allow_null=True, help_text=LOOK)


class PrBody(Shape):
    title = s.CharField(required=False, allow_null=True, max_length=TITLE)
    body = s.CharField(required=False, allow_null=True, allow_blank=True, max_length=BODY)
    branch = s.CharField(required=False, allow_null=True)
    github = s.JSONField(required=False, allow_null=True)
    status = s.ChoiceField(STORED, required=False, allow_null=True)
    was = s.JSONField(required=False, allow_null=True, help_text=WERE)


class TakeBody(Shape):
    def get_fields(self) -> dict[str, Any]:
        """Add `from`, which cannot be a name in Python."""
        return {"from": s.CharField(), **super().get_fields()}


class AskBody(Shape):
    repo = s.CharField(required=False, allow_null=True)
    sha = s.CharField(required=False, allow_null=True)
    stack = s.IntegerField(required=False, allow_null=True, min_value=1)
    threads = s.ListField(child=s.CharField(), required=False, help_text="only these")
    message = s.CharField(required=False, allow_null=True, help_text="else as offered")
    project = s.CharField(required=False, allow_null=True, help_text="of the workspace")
    chat = s.CharField(required=False, allow_null=True, help_text="to be continued")
    make = s.BooleanField(required=False, help_text="a project that works in the repository")


def was() -> s.CharField:
    return s.CharField(required=False, allow_null=True, allow_blank=True, help_text=WAS)


class DescriptionBody(Shape):
    description = s.CharField(allow_null=True, allow_blank=True)
    was = was()


class StackNoteBody(Shape):
    description = s.CharField(allow_null=True, allow_blank=True)
    was = was()
    title = s.CharField(required=False, allow_null=True)


class CommitBody(Shape):
    message = s.CharField()
    files = s.ListField(child=s.CharField(), required=False, allow_null=True)
    look = s.CharField(required=False, allow_null=True)


class DiscardBody(Shape):
    path = s.CharField()
    look = s.CharField(required=False, allow_null=True)


class RepoBody(Shape):
    path = s.CharField(required=False, allow_null=True)
    range = s.JSONField(required=False, allow_null=True)
    name = s.CharField(required=False, allow_null=True)


class PathBody(Shape):
    path = s.CharField()
    confirm = s.BooleanField(required=False, allow_null=True)


class PreviewBody(Shape):
    text = s.CharField(allow_blank=True)


def given_values(request: Request, *names: str) -> dict[str, Any]:
    """The named values that were sent; others are ignored."""
    found = rest.body(request)
    return {name: found[name] for name in names if name in found}


def truth(request: Request, name: str) -> bool:
    """A boolean, False if it was not sent. Raises Invalid for anything else."""
    found = rest.body(request).get(name)
    if found is not None and not isinstance(found, bool):
        raise Invalid(f'"{name}" must be true or false')
    return bool(found)


def all_of(request: Request, *names: str) -> dict[str, Any]:
    """The named values, None for those that were not sent."""
    return {name: rest.body(request).get(name) for name in names}
