"""When a picture is made again, and how many in a row. Pure: times are arguments, in monotonic
seconds."""

from __future__ import annotations

from dataclasses import dataclass, field

RETRIES = 3
RETRY_S = 30.0  # after the first failure; four times as long after each further one


@dataclass(slots=True)
class Due:
    """`wanted`: the time for which one was requested; `last`: when it was last made or tried."""

    wanted: float | None = None
    last: float | None = None
    failures: int = 0

    def next(self, every: float | None) -> float | None:
        """When it is due; None if never. Without `every`, only if it was requested."""
        if every is None or self.last is None:
            return self.wanted
        again = self.last + every
        return again if self.wanted is None else min(self.wanted, again)

    def fresh(self, now: float, every: float) -> bool:
        """Whether it was made or tried within the last `every` seconds."""
        return self.last is not None and now - self.last < every

    def record_try(self, now: float, *, done: bool) -> None:
        self.last, self.wanted = now, None
        self.failures = 0 if done else self.failures + 1
        if 0 < self.failures <= RETRIES:
            self.wanted = now + RETRY_S * 4.0 ** (self.failures - 1)


@dataclass(slots=True)
class Allowance:
    """A budget of `most`, refilled at `rate` per second; after overspending one has to wait."""

    most: float
    rate: float
    left: float = field(init=False)
    seen: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        self.left = self.most

    def wait(self, now: float) -> float:
        """Seconds until more may be spent; `now` must not go back."""
        self.left = min(self.most, self.left + (now - self.seen) * self.rate)
        self.seen = now
        return max(0.0, -self.left / self.rate)

    def spend(self, amount: float) -> None:
        self.left -= amount
