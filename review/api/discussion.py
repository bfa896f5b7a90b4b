"""The JSON shapes of all threads of a project, and of what is taken over, beside shapes.py."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers as s

from review.api.shapes import Candidate, Shape, Thread


class ProjectThread(Thread):
    repo = s.CharField()
    sha = s.CharField()
    short = s.CharField()
    title = s.CharField(allow_blank=True)


class StrandedReview(Shape):
    repo = s.CharField()
    sha = s.CharField()
    subject = s.CharField(allow_null=True)
    unresolved = s.IntegerField()
    file = s.CharField()
    reason = s.CharField(required=False)
    candidates = Candidate(many=True)
    threads = Thread(many=True)


class Unreadable(Shape):
    repo = s.CharField()
    sha = s.CharField()
    file = s.CharField()
    error = s.CharField()


class Conversations(Shape):
    threads = ProjectThread(many=True)
    orphaned = StrandedReview(many=True)
    unreadable = Unreadable(many=True)


class Taken(Shape):
    review = s.BooleanField()
    pr = s.BooleanField()


class Interdiff(Shape):
    to = s.CharField()
    text = s.CharField(allow_blank=True)

    def get_fields(self) -> dict[str, Any]:
        """`from` is no name in Python."""
        return {"from": s.CharField(), **super().get_fields()}
