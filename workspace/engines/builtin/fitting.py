"""How much a turn's model takes, and its conversation kept within that: before it is asked, and
smaller again when its server refuses the length.

A limit comes from the settings or from a refusal. A limit learned from a refusal is kept with the
chat, so that no later turn tries a size that failed.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Mapping
from typing import TypeGuard

from pydantic_ai import exceptions
from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, UserPromptPart
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.usage import RunUsage

from config.process.light_typing import Any
from workspace.engines.base import Event, Job, Notice
from workspace.engines.builtin import compaction, memory, models, servers
from workspace.engines.builtin.arrival import Arrival

TRIES = 4  # sizes that one request is tried with
LESS = 0.9  # of a size that was refused
LEAST = 256  # a smaller number is not the limit of a model
FARTHEST = 20  # times our own estimate: no server counts so many tokens
_LIMIT = re.compile(
    r"(?:maximum|context (?:length|size|window)|n_ctx)\D{0,40}?(\d[\d,]{2,})|> ?(\d+)"
)
_NUMBER = re.compile(r"\d[\d,]{2,}")
_TOO_LONG = re.compile(
    r"context (?:length|size|window)|context_length|prompt is too long|too many tokens|n_ctx|"
    r"exceed_context|reduce the length|input is too long",
    re.IGNORECASE,
)
TOO_BIG = (
    "This message alone is longer than {word} can take: it has about {size} tokens, and about "
    "{room} fit. Send it in parts, or as a file that is read in pieces, or choose a model with a "
    "longer context."
)


class TooBig(Exception):
    """The conversation cannot be made to fit; the text is a sentence for the chat."""


def overflows(error: Exception) -> TypeGuard[exceptions.AgentRunError]:
    """Whether a server refused a request for its length; servers word that differently."""
    if isinstance(error, exceptions.ModelContextWindowExceededError):
        return True
    if not isinstance(error, exceptions.ModelAPIError):
        return False
    status = getattr(error, "status_code", None)
    known = isinstance(error, exceptions.ModelRateLimitError | exceptions.ModelQuotaExceededError)
    return status in (400, 413, 422, 500) and not known and bool(_TOO_LONG.search(error.message))


class Fitting:
    """The room of one model in one turn."""

    model: Model

    def __init__(
        self, job: Job, word: str, settings: ModelSettings, usage: RunUsage, arrival: Arrival
    ) -> None:
        self.job, self.word, self.settings, self.usage = job, word, settings, usage
        self.arrival = arrival
        self.server, _, name = word.partition(":")
        self.configured = servers.context_tokens(job.engine_cfg, self.server, name)
        known: dict[str, int] = (job.engine_ref or {}).get("limits") or {}
        self.learned = {model: size for model, size in known.items() if size >= LEAST}

    @property
    def limit(self) -> int | None:
        known = [one for one in (self.configured, self.learned.get(self.word)) if one]
        return min(known, default=None)

    def learn(self, error: exceptions.AgentRunError, tried: int) -> None:
        """Learn a limit, in our own measure, from a refusal: this size is never tried again."""
        text = error.message
        numbers = [int(found.replace(",", "")) for found in _NUMBER.findall(text)]
        named = _LIMIT.search(text)
        limit = int((named[1] or named[2]).replace(",", "")) if named else 0
        # The size they counted; a larger number is the id of a request, or a time.
        theirs = max((one for one in numbers if one <= tried * FARTHEST), default=0)
        found = int(tried * LESS)
        if limit >= LEAST:
            found = min(found, int(limit * tried / theirs) if theirs > limit else limit)
        self.learned[self.word] = max(LEAST, min(found, self.limit or found))

    async def fold(
        self,
        messages: list[ModelMessage],
        offered: list[ToolDefinition],
        *,
        refused: bool,
        keep: bool,
    ) -> AsyncGenerator[Event, None]:
        """Shorten the messages, in place, as far as the model needs. `keep`: keep the result for
        later turns, and say so in the chat. Raises TooBig."""
        fixed = self._fixed_size(messages, offered)
        before, limit = compaction.size(messages, fixed), self.limit
        if limit is None or (before <= limit * compaction.FULL and not refused):
            return
        room = max(limit - fixed, limit // 4)
        found = await self._shorter(messages, room, refused=refused)
        after, plain = compaction.size(found.messages, fixed), self.plain(messages, offered)
        why = self._why(room)
        if (refused and after >= plain) or (after > limit and why):
            raise TooBig(why)
        if not found.number and after >= plain:
            return
        messages[:] = found.messages
        if keep:
            for event in memory.as_events(messages):
                yield event
            yield Notice("info", "compacted", self._notice(before, limit, found))

    def plain(self, messages: list[ModelMessage], offered: list[ToolDefinition]) -> int:
        """The size by our own estimate alone."""
        return compaction.size(
            compaction.without_usage(messages), self._fixed_size(messages, offered)
        )

    def _fixed_size(self, messages: list[ModelMessage], offered: list[ToolDefinition]) -> int:
        shown = [(one.name, one.description, one.parameters_json_schema) for one in offered]
        told = next((one.instructions for one in messages if isinstance(one, ModelRequest)), "")
        return compaction.bytes_of(json.dumps(shown) + (told or "")) // compaction.BYTES

    async def _shorter(
        self, messages: list[ModelMessage], room: int, *, refused: bool
    ) -> compaction.Folded:
        cut = compaction.edge(messages, int(room * compaction.KEPT))
        worth = refused or compaction.size(messages[:cut]) > room * compaction.SUMMARY
        if not cut or not worth:
            return compaction.Folded(compaction.shorten(messages, room, self.job.message))
        try:
            summary = await compaction.summarise(messages[:cut], room, self._ask)
        except exceptions.ModelTimeoutError:
            summary = ""
        except (
            exceptions.ModelRateLimitError,
            exceptions.ModelOverloadedError,
            exceptions.ModelConnectionError,
        ):
            raise  # the turn waits or fails, and the next try folds
        except exceptions.AgentRunError:
            summary = ""
        return compaction.with_summary(messages, cut, summary, room, self.job.message)

    async def _ask(self, prompt: str) -> str:
        """One answer of the model, without tools and without the conversation. Asked again if it
        breaks off; "" if it always does."""
        request: list[ModelMessage] = [ModelRequest([UserPromptPart(prompt)])]
        for _ in range(models.RETRIES + 1):
            begun = False
            try:
                async with model_request_stream(
                    self.model, request, model_settings=self.settings
                ) as stream:
                    async for _part in stream:
                        begun = True
                    response: ModelResponse = stream.get()
            except exceptions.ModelTimeoutError:
                raise
            except exceptions.ModelConnectionError:
                if not begun:
                    raise
                continue
            self.usage.incr(response.usage)
            if self.arrival.whole(self.server, stream.provider_details):
                return response.text or ""
        return ""

    def _why(self, room: int) -> str:
        size = compaction.bytes_of(self.job.message) // compaction.BYTES
        if size * 2 < room:
            return ""
        return TOO_BIG.format(word=self.word, size=f"{size:,}", room=f"{room:,}")

    def _notice(self, before: int, limit: int, found: compaction.Folded) -> str:
        grew = (
            f"The conversation had grown to about {before:,} tokens; {self.word} takes about "
            f"{limit:,}"
        )
        if not found.number:
            return f"{grew}. Its longest parts were cut for it; this chat shows all of them."
        how = "folded into a summary" if found.summary else "left out: it gave no summary of them"
        return f"{grew}. Its first {found.number} messages were {how}. This chat shows all of them."

    def state(self) -> Mapping[str, Any]:
        return {"limits": self.learned} if self.learned else {}
