"""What a model says while it says it: live deltas, and one record for each finished block."""

from __future__ import annotations

from pydantic_ai.messages import (
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartEndEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
)

from workspace.engines.base import AGAIN, Text, Thinking, TurnIO


class Blocks:
    """The blocks of one turn, numbered consecutively."""

    def __init__(self, io: TurnIO) -> None:
        self.io = io
        self.count = 0
        self.open: dict[int, str] = {}  # index in the reply -> block
        self.broken: list[str] = []  # blocks begun in a reply whose connection was cut

    def again(self) -> None:
        """The reply is requested again: what it had begun stays visible until more comes."""
        self.broken += self.open.values()
        self.open.clear()

    def take(self, event: ModelResponseStreamEvent, task: str | None) -> Text | Thinking | None:
        """Show what arrived, and return the record of a block that is finished, else None. Text of
        a task is not shown live."""
        match event:
            case PartStartEvent(index=index, part=TextPart() | ThinkingPart() as part):
                self.count += 1
                self.open[index] = f"block_{self.count}"
                self._show(index, _kind(part), part.content, task)
            case PartDeltaEvent(index=index, delta=TextPartDelta(content_delta=words)):
                self._show(index, "text", words, task)
            case PartDeltaEvent(index=index, delta=ThinkingPartDelta(content_delta=words)):
                self._show(index, "thinking", words or "", task)
            case PartEndEvent(index=index, part=TextPart() | ThinkingPart() as part):
                block = self.open.pop(index)
                made = Text if isinstance(part, TextPart) else Thinking
                return made(part.content, block, task=task) if part.content.strip() else None
        return None

    def _show(self, index: int, kind: str, words: str, task: str | None) -> None:
        if words and task is None:
            for block in self.broken:
                self.io.delta(block, AGAIN, "")
            self.broken.clear()
            self.io.delta(self.open[index], kind, words)


def _kind(part: TextPart | ThinkingPart) -> str:
    return "text" if isinstance(part, TextPart) else "thinking"
