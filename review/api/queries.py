"""The query strings of the reads, as the OpenAPI description shows them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers as s

from config.web.shapes import Shape
from review.stacks.pictures.render import SCOPES
from review.stacks.pictures.sheet import SCALES


class Contents(Shape):
    contents = s.CharField(required=False, help_text="all (default), none, or a number of files")


class Commit(Contents):
    rendered = s.IntegerField(
        required=False, min_value=1, help_text="threads, from the top, whose comments come as HTML"
    )


class Path(Shape):
    path = s.CharField()


class Image(Path):
    side = s.ChoiceField(["LEFT", "RIGHT"], required=False)


class Html(Shape):
    html = s.ChoiceField(["0", "1"], required=False)


class Conversations(Html):
    unresolved = s.ChoiceField(["0", "1"], required=False)
    limit = s.IntegerField(required=False, min_value=1, help_text="the first threads alone")


class ConversationsText(Shape):
    unresolved = s.ChoiceField(["0", "1"], required=False)


class ThreadsText(Shape):
    unresolved = s.ChoiceField(["0", "1"], required=False)
    path = s.CharField(required=False, help_text="only threads on this file")
    thread = s.CharField(required=False, help_text="only the thread of this id")


class Ask(Shape):
    repo = s.CharField(required=False)
    sha = s.CharField(required=False, help_text="the open threads of this commit")
    stack = s.IntegerField(required=False, help_text="those of the stack with this number")
    thread = s.CharField(required=False, help_text="this one alone")


class Interdiff(Shape):
    path = s.CharField(required=False, help_text="only this file, since it was marked as viewed")

    def get_fields(self) -> dict[str, Any]:
        """Add `from`, which cannot be a name in Python."""
        return {"from": s.CharField(required=False), **super().get_fields()}


class Versions(Shape):
    to = s.CharField(required=False, help_text="the version compared with; the current one")
    base = s.ChoiceField(
        ["0", "1"], required=False, help_text="1: also files that only the base changes"
    )


class Since(Contents, Versions):
    pass


class SinceFile(Path, Versions):
    pass


class Search(Shape):
    q = s.CharField(help_text="case-sensitive once it has an upper-case letter")


class SinceSearch(Search, Versions):
    pass


class SinceImage(Image):
    to = s.CharField(required=False)


class Picture(Shape):
    scale = s.ChoiceField(list(SCALES), required=False)
    title = s.ChoiceField(["0", "1"], required=False)
    narrow = s.ChoiceField(["0", "1"], required=False)
    download = s.CharField(required=False)


class CommitPicture(Picture):
    scope = s.ChoiceField(list(SCOPES), required=False)
