"""Who listens: an Identity and its parts (section 7)."""

from __future__ import annotations

from rest_framework import serializers as s

from dashboard.api.shapes.base import Shape, maybe, number, word, words


class Parent(Shape):
    pid = number()
    name = maybe()


class Process(Shape):
    pid = number(null=True)
    ppid = number(null=True)
    name = maybe()
    exe = maybe()
    argv = words()
    user = maybe()
    startedAt = maybe()  # noqa: N815
    parents = Parent(many=True)


class Git(Shape):
    root = word()  # type: ignore[assignment]
    name = word()
    branch = maybe()
    worktree = maybe()
    remote = maybe()


class Package(Shape):
    file = word()
    name = maybe()
    version = maybe()
    manager = maybe()


class Framework(Shape):
    id = word()
    name = word()
    version = maybe()
    confidence = s.JSONField()
    evidence = word()


class Container(Shape):
    runtime = word()
    name = maybe()
    image = maybe()
    composeProject = maybe()  # noqa: N815
    composeService = maybe()  # noqa: N815


class Identity(Shape):
    process = Process()
    cwd = maybe()
    git = Git(allow_null=True)
    package = Package(allow_null=True)
    framework = Framework(allow_null=True)
    title = maybe()
    favicon = maybe()
    container = Container(allow_null=True)
    partial = s.BooleanField()  # type: ignore[assignment]
