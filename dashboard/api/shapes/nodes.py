"""This node and the others: installations of the service on one PostgreSQL and Redis."""

from __future__ import annotations

from rest_framework import serializers as s

from dashboard.api.shapes.base import Shape, maybe, word


class Myself(Shape):
    id = word()
    name = word()
    version = word()


class Node(Shape):
    """Another node. `url` and `dashboard` are null when it does not say where it is opened."""

    id = word()
    name = word()
    url = maybe()
    dashboard = maybe()
    version = word()
    alive = s.BooleanField()
    goneSince = maybe()  # noqa: N815
    apps = s.DictField(child=s.IntegerField())


class NodeList(Shape):
    node = Myself()
    heard = s.BooleanField()
    nodes = Node(many=True)
