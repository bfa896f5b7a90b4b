"""The JSON shapes of all threads of a project, beside those of shapes.py."""

from __future__ import annotations

from rest_framework import serializers as s

from review.api.shapes import Shape, Thread


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
