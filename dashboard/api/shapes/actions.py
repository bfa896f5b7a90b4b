"""What came of an action: on a service, a file, a picture; a log."""

from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import serializers as s

from dashboard.api.shapes.app import STATUSES, App
from dashboard.api.shapes.base import Shape, maybe, number, word, words
from dashboard.services.supervise import ACTIONS


class Action(Shape):
    """What an action on a service came to (9.4)."""

    ok = s.BooleanField()
    action = s.ChoiceField(ACTIONS)
    status = s.ChoiceField(STATUSES)
    pid = number(null=True)
    already = s.BooleanField()
    reason = maybe()
    message = maybe()
    app = App()
    log = words()


class Log(Shape):
    """Whole lines of a log; `partial` is what of a further one has come so far (9.6)."""

    own: ClassVar[dict[str, Any]] = {"from": number()}
    slug = word()
    lines = words()
    partial = maybe()  # type: ignore[assignment]
    truncated = s.BooleanField()
    bytes = number()


class Removed(Shape):
    ok = s.BooleanField()
    removed = word()


class RemovedFile(Shape):
    """A file in backups/removed. `kind`: apps or bookmarks; `exists`: its name is taken again."""

    kind = word()
    name = word()
    file = word()
    removedAt = word()  # noqa: N815
    bytes = number()
    exists = s.BooleanField()


class RemovedList(Shape):
    removed = RemovedFile(many=True)


class Restored(Shape):
    ok = s.BooleanField()
    kind = word()
    name = word()
    file = word()


class Taken(Shape):
    taken = number()


class Text(Shape):
    """A file as text; `slug` of an app, `group` of a group, neither of ignore.yaml."""

    slug = s.CharField(required=False)
    group = s.CharField(required=False)
    text = word()
    etag = word()
