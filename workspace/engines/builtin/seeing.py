"""The pictures of a conversation: remembered by name, and filled in when the model is asked.

A message keeps a reference instead of the bytes, which no record could hold. Attachments are read
again in later turns, because their names contain the hash of their contents; a picture shown by
Read is seen only in its own turn.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pydantic_ai import exceptions
from pydantic_ai.messages import (
    BinaryContent,
    ImageUrl,
    ModelMessage,
    ModelRequest,
    ToolReturnPart,
    UserPromptPart,
)

from config.process.light_typing import Any
from workspace.engines.base import Job, Notice
from workspace.engines.message import pictures
from workspace.engines.tools import Output

FILE, READ = "svc-picture:", "svc-read:"
GONE = "[a picture that is not shown any more; read its file to see it]"
BLIND = "[a picture; this model takes none]"
REFUSALS = (400, 404, 415, 422, 500, 501)


class Seeing:
    """The pictures that one model is shown in one turn."""

    def __init__(self, job: Job, word: str) -> None:
        self.job, self.word = job, word
        self.blind = word in ((job.engine_ref or {}).get("blind") or [])
        self.sent = False  # the last request held a picture
        self._known: dict[str, BinaryContent | None] = {}

    def prompt(self, words: str) -> tuple[str | list[str | ImageUrl], list[Notice]]:
        """The message with its pictures, and notices about those that are not shown."""
        if not self.job.images:
            return words, []
        if self.blind:
            return words, [self.unseen()]
        found, others = pictures.read_fitting(self.job.images)
        notices = [Notice("warn", pictures.LEFT_OUT, pictures.too_much(others))] if others else []
        urls = [ImageUrl(f"{FILE}{one.path}", media_type=one.type) for one in found]
        for one, url in zip(found, urls, strict=True):
            self._known[url.url] = BinaryContent(one.data, media_type=one.type)
        return ([words, *urls] if urls else words), notices

    def answer(self, output: Output) -> str | list[str | ImageUrl]:
        """The answer of a tool call, with the picture if Read returned one."""
        text = output.text or "(no output)"
        if output.raw is None or output.is_error:
            return text
        data = base64.b64decode(output.raw)
        kind = pictures.kind(data)
        if kind is None:
            return text
        url = ImageUrl(f"{READ}{len(self._known)}", media_type=kind)
        self._known[url.url] = BinaryContent(data, media_type=kind)
        return [text, url]

    def with_pictures(self, messages: Sequence[ModelMessage]) -> list[ModelMessage]:
        """The messages as they are sent: the newest pictures that fit, words for all others."""
        self.sent = False
        left = [pictures.MOST, pictures.ALL_BYTES]
        found: list[ModelMessage] = []
        for message in reversed(messages):
            if not isinstance(message, ModelRequest) or not any(map(_holds, message.parts)):
                found.append(message)
                continue
            parts: Any = [self._fill(part, left) for part in reversed(message.parts)]
            found.append(replace(message, parts=parts[::-1]))
        return found[::-1]

    def _fill(self, part: Any, left: list[int]) -> Any:
        if not _holds(part):
            return part
        items = [
            self._item(item, left) if isinstance(item, ImageUrl) else item
            for item in reversed(part.content)
        ]
        return replace(part, content=items[::-1])

    def _item(self, url: ImageUrl, left: list[int]) -> BinaryContent | str:
        if self.blind:
            return BLIND
        data = self._data(url.url)
        if data is None or left[0] == 0 or len(data.data) > left[1]:
            return GONE
        left[:] = left[0] - 1, left[1] - len(data.data)
        self.sent = True
        return data

    def _data(self, url: str) -> BinaryContent | None:
        if url not in self._known:
            found = pictures.read(url.removeprefix(FILE)) if url.startswith(FILE) else None
            self._known[url] = BinaryContent(found.data, media_type=found.type) if found else None
        return self._known[url]

    def is_refusal(self, error: Exception) -> bool:
        """Whether the server rejected the pictures that it was just sent."""
        if not self.sent:
            return False
        if isinstance(error, exceptions.UserError):
            return pictures.is_refusal(str(error))
        status = getattr(error, "status_code", None)
        return status in REFUSALS and pictures.is_refusal(str(error))

    def unseen(self) -> Notice:
        return Notice("warn", pictures.UNSEEN, pictures.unseen(self.word))

    def state(self) -> Mapping[str, Any]:
        known = (self.job.engine_ref or {}).get("blind") or []
        return {"blind": list(dict.fromkeys([*known, self.word]))} if self.blind else {}


def _holds(part: Any) -> bool:
    if not isinstance(part, UserPromptPart | ToolReturnPart) or not isinstance(part.content, list):
        return False
    return any(isinstance(item, ImageUrl) for item in part.content)
