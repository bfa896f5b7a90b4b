"""An earlier conversation as text, for a model that does not know it: all of it, or what others
said since the model's own last turn. See docs/design/engines.md#resuming-a-conversation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from config.process.light_typing import Any, NamedTuple
from workspace.engines.base import Job, Notice

HEAD = "Earlier conversation, for context only; do not act on it again:"
SINCE = "[what happened in it since your last turn]"
CHARACTERS, TOOL_CHARACTERS = 120_000, 2000
INTERRUPTED = "interrupted"
SPOKEN = ("assistant", "tool_use")
Record = Mapping[str, Any]


class Since(NamedTuple):
    """What others did since an engine's last turn, and which engines they were. Usually empty."""

    text: str = ""
    engines: tuple[str, ...] = ()  # one of each turn, oldest first

    def before(self, message: str) -> str:
        return f"{self.text}\n\n{message}" if self.text else message

    def notices(self, job: Job) -> list[Notice]:
        """A notice for the chat that the engine received this text; none if there is no text."""
        if not self.text:
            return []
        turns = f"{len(self.engines)} turn{'s' if len(self.engines) > 1 else ''}"
        who = ", ".join(dict.fromkeys(self.engines))
        text = (
            f"What happened in this chat since the last turn of {job.engine} was given to "
            f"it as text: {turns} of {who}."
        )
        return [Notice("info", "engine_told", text)]


def since(job: Job, earlier: Iterable[Record], *, told: str = "") -> Since:
    """What an engine that continues from its own state does not know: the turns that others ran
    after its last one. `earlier` is TurnIO's, newest first.

    A turn of its own counts if the engine said something in it, or kept messages of it (`told` is
    their key in its engine records). A turn that failed earlier than that may not have reached the
    engine.
    """
    missed: list[Record] = []
    engines: list[str] = []
    turn: list[Record] = []
    for record in earlier:
        turn.append(record)
        if record["type"] != "turn_start":
            continue
        if not _ours(job, record):
            if record.get("engine"):  # else nothing ran: the message is sent once more
                missed += turn
                engines.append(str(record["engine"]))
        elif any(_knew(one, told) for one in turn):
            text = preamble(missed, note=SINCE) if missed else ""
            return Since(text, tuple(reversed(engines)) if text else ())
        turn = []
    return Since()


def _ours(job: Job, start: Record) -> bool:
    """Whether the same engine ran the turn; of acp, the same agent."""
    if start.get("engine") != job.engine:
        return False
    return job.engine != "acp" or _agent(start.get("model")) == _agent(job.model)


def _agent(model: Any) -> str:
    return str(model or "").partition(":")[0]


def _knew(record: Record, told: str) -> bool:
    if told:
        return record["type"] == "engine" and told in record
    return record["type"] in SPOKEN


def preamble(earlier: Iterable[Record], *, note: str = "") -> str:
    """The newest lines that fit, oldest first; "" when nothing was said. `earlier` = TurnIO's."""
    lines: list[str] = []
    results: dict[str, str] = {}
    left, left_out = CHARACTERS, 0
    for record in earlier:
        if record["type"] == "tool_result":
            results[record["call"]] = str(record["text"])
        line = None if record.get("task") else _line(record, results)
        if line is None:
            continue
        left -= len(line) + 1
        if left >= 0:
            lines.append(line)
        elif lines:
            left_out += 1
        else:  # the newest line alone is longer than all that fits
            lines.append(line[:CHARACTERS])
    if not lines:
        return ""
    cut = f"[{left_out} earlier records left out]" if left_out else ""
    return "\n".join([HEAD, *filter(None, (note, cut)), *reversed(lines)])


def _line(record: Record, results: Mapping[str, str]) -> str | None:
    match record["type"]:
        case "user" | "assistant" as role:
            return f"{role}: {record['text']}"
        case "tool_use":
            text = results.get(record["call"], INTERRUPTED)[:TOOL_CHARACTERS]
            return f"tool {record['tool']} {record.get('target') or ''}".rstrip() + f": {text}"
    return None
