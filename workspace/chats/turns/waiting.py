"""When a turn that its model's provider refused for now is tried again.

The turn process decides it and records it as `turn_wait`, so the decision survives any later crash;
retries.py moves the row. See docs/design/engines.md#waiting-for-a-provider.
"""

from __future__ import annotations

import os
import time

from config.process.light_typing import Any, NamedTuple
from workspace.chats import transcript
from workspace.engines.base import Args, End, Job

LIMITED = "rate_limited"
LEAST_S, SPREAD = 1.0, 0.2  # turns refused at the same time return one by one
SUMS = ("turns", "cost")


class Wait(NamedTuple):
    """The next try: its number, the number of tries in all, and when (seconds since 1970)."""

    number: int
    of: int
    at: float


def next_try(job: Job, end: End, now: float) -> Wait | None:
    """The next try of a turn that ended like this; None if there is none."""
    retry = job.retry
    if not retry or end.reason != LIMITED or job.attempt > retry["times"]:
        return None
    last = (retry.get("since") or now) + retry["seconds"]
    if end.after is None:
        at = min(now + _pause(retry, job.attempt), last)
    else:
        at = now + max(LEAST_S, end.after) + _chance() * min(LEAST_S, end.after * SPREAD)
    if at > last + LEAST_S or last <= now:
        return None
    return Wait(job.attempt + 1, retry["times"] + 1, at)


def _pause(retry: Args, attempt: int) -> float:
    """Twice as long each time; together the pauses fill the time allowed."""
    share = 2 ** (attempt - 1) / (2 ** retry["times"] - 1)
    return max(LEAST_S, float(retry["seconds"] * share * (1 - SPREAD * _chance())))


def _chance() -> float:
    return int.from_bytes(os.urandom(4), "big") / 2**32


def given_up(job: Job, end: End) -> End:
    """The same end; its text also says how often it was tried and why it is not tried again."""
    if not job.retry or end.reason != LIMITED:
        return end
    said = (end.text or "").rstrip(". ")
    if job.attempt > 1:
        said += f". It was tried {job.attempt} times"
    if end.after and end.after != float("inf") and job.attempt <= job.retry["times"]:
        allowed = in_words(job.retry["seconds"])
        said += f". It asks to wait {in_words(end.after)}; engines.retry waits {allowed} at most"
    return end._replace(text=f"{said}.") if said != (end.text or "").rstrip(". ") else end


def in_words(seconds: float) -> str:
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= 2 * size or seconds == size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def stamp(moment: float) -> str:
    """A time to the millisecond, in the format of records and answers."""
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment))
    return f"{whole}.{int(moment * 1000) % 1000:03}Z"


def with_earlier_usage(end: End, retry: Args | None) -> End:
    """The end with the usage of earlier tries added, as far as it is known."""
    before = retry or {}
    sums: dict[str, Any] = {}
    for key in SUMS:
        known = [one for one in (before.get(key), getattr(end, key)) if one is not None]
        sums[key] = round(sum(known), 9) if known else None
    used = [one for one in (before.get("usage"), end.usage) if one]
    names = dict.fromkeys(name for one in used for name in one)
    usage = {name: sum(one.get(name) or 0 for one in used) for name in names}
    return end._replace(usage=usage or None, **sums)


def fits(path: str, job: Job) -> bool:
    """Whether the transcript is ready for this try: it lacks the turn or has only its start, as on
    a disk that was full, or the turn waits for it."""
    if not transcript.has_turn(path, job.turn):
        return True
    for _, record in transcript.backwards(path):
        if record["turn"] == job.turn:
            begun = record.get("try") if record["type"] == "turn_wait" else None
            return begun == job.attempt or (record["type"], job.attempt) == ("turn_start", 1)
    return True
