"""What a further try of a turn says, after its model's provider refused the try before.

If something was done already, the engine goes on from there and does not get the message again,
because its tools have run. If nothing was done, the message is sent as if for the first time.
"""

from __future__ import annotations

from collections.abc import Iterator

from workspace.engines.base import Args, Job, TurnIO

GO_ON = (
    "The provider of this model refused requests for a while and takes them again. Go on with your "
    "work on the last message where it was interrupted; what is done already is not to be repeated."
)
DONE = ("assistant", "tool_use")


def has_begun(job: Job, io: TurnIO) -> bool:
    """Whether an earlier try of this turn said or did anything."""
    if job.attempt == 1:
        return False
    for record in io.earlier():
        if record["turn"] != job.turn:
            return False
        if record["type"] in DONE:
            return True
    return False


def message(job: Job, io: TurnIO) -> str:
    return GO_ON if has_begun(job, io) else job.message


def earlier(job: Job, io: TurnIO) -> Iterator[Args]:
    """The records for an engine without a memory of its own, newest first."""
    whole = has_begun(job, io)
    return (record for record in io.earlier() if whole or record["turn"] != job.turn)
