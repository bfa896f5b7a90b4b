"""Stands for a service that takes notifications by POST: keeps them, or refuses for a while."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.stubs.loopback import Handler, serving


class Receiver:
    """`status`: what it answers; `location`: where it redirects to. While `held`, it is silent."""

    url: str

    def __init__(self) -> None:
        self.got: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.status = 200
        self.location = ""
        self.asked = 0
        self.free = threading.Event()
        self.free.set()

    @property
    def titles(self) -> list[str]:
        return [one["title"] for one in self.got]


class _Handler(Handler):
    stub: Receiver

    def do_POST(self) -> None:
        body = json.loads(self.body())
        self.stub.asked += 1
        self.stub.free.wait(20)
        if self.stub.status < 300:
            self.stub.got.append(body)
            self.stub.headers.append(self.lower_headers())
        where = {"Location": self.stub.location} if self.stub.location else {}
        self.send_json(self.stub.status, {}, where)


@contextmanager
def receiving() -> Iterator[Receiver]:
    stub = Receiver()
    with serving(_Handler, stub) as stub.url:
        yield stub
        stub.free.set()
