"""Rate limits by token buckets: how much a connection may ask for. Pure: `now` is in seconds.

A connection has a bucket of its own and shares one with every connection of its account and one
with every connection of its address. A request costs what its model says; a bucket fills at its
rate up to its burst. A request that finds a bucket empty is refused with the time after which
it would not be, and still costs something: who goes on regardless sinks into debt, and at the
bottom of it the connection is closed.

    full = burst ... 0      requests are carried out
         0 ... -burst       requests are refused, rate_limited
            below -burst    the connection is closed

Where nodes serve side by side, a player's rates are divided among those where it is, so that they
hold over all of them. The moment at which a node hears that a player is elsewhere as well changes
the rate of its bucket, and nothing else is to be done: no request costs more because of it.

A move that answers a turn is free, for turns come no faster than the server opens them: a bot
in a hundred fast matches is no flood. What a move costs when it is refused is asked for after.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class Rate:
    """What a bucket gets a second, and how much it holds."""

    per_second: float
    burst: float

    def divided(self, parts: int, least: float) -> Rate:
        """Return one of equal parts, in whose bucket there is room for `least` all the same."""
        return Rate(self.per_second / parts, max(self.burst / parts, min(self.burst, least)))


UNLIMITED = Rate(1e9, 1e9)


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimits:
    """Rates and costs of one server."""

    socket: Rate = Rate(20, 40)
    account: Rate = Rate(60, 240)
    address: Rate = Rate(200, 1000)
    """Not for loopback, where one machine runs all the bots."""
    comments: Rate = Rate(0.5, 5)
    """Comments of a player, in all matches ..."""
    comments_an_address: Rate = Rate(5, 50)
    """... and of all players of an address. Each of them stays in a record for good."""
    notes: Rate = Rate(100, 400_000)
    """Characters of a player's notes, in all matches."""
    openings: Rate = Rate(180 / 3600, 60)
    """Lobbies that a player opens ..."""
    openings_an_address: Rate = Rate(1800 / 3600, 600)
    """... and all players of an address."""
    lobby_changes: Rate = Rate(1200 / 3600, 1200)
    """Joins, ready flags and rematches in one lobby ..."""
    lobby_changes_a_player: Rate = Rate(120 / 3600, 60)
    """... and of one player in it."""
    lobby_matches: Rate = Rate(7200 / 3600, 2000)
    """Matches that begin in one lobby; more begin later."""
    arranged: Rate = Rate(4_000_000 / 3600, 4_000_000)
    """Characters of what the host of one lobby arranges."""
    garbage: float = 6
    """What a malformed frame costs ..."""
    malformed: Rate = Rate(0.1, 10)
    """... and how many a connection may send until it is closed."""
    size: float = 1
    """What each whole 4 KiB of a request cost besides, for decoding and validation."""
    control: float = 0.5
    """What a ping, a pong or a fragment costs."""
    http: float = 1
    """What an HTTP request costs, a handshake too; paid by the address ..."""
    static: float = 0.2
    """What a file of the web pages costs, of which a page needs dozens, and a classroom behind one
    address thirty times as many ..."""
    record: float = 10
    """... and what one for a record or the metrics costs."""


class Bucket:
    """A level that rises with time up to the burst of its rate, and sinks as it is charged."""

    __slots__ = ("_at", "_level", "rate")

    def __init__(self, rate: Rate, now: float) -> None:
        self.rate = rate
        self._level = rate.burst
        self._at = now

    def level(self, now: float) -> float:
        if now > self._at:
            rate = self.rate
            self._level = min(rate.burst, self._level + (now - self._at) * rate.per_second)
            self._at = now
        return self._level

    def charge(self, cost: float, now: float) -> float:
        """Take `cost` and return the level after it, which may be below zero."""
        self._level = self.level(now) - cost
        return self._level

    def set_rate(self, rate: Rate, now: float) -> None:
        """Go on at another rate: what was taken, and has not come back yet, stays taken."""
        self._level = self.level(now) - self.rate.burst + rate.burst
        self.rate = rate


class SharedBuckets(Generic[K]):
    """Buckets that connections share, each kept for as long as it is in use or not full again.

    A flooder that comes back finds its bucket as empty as it left it. One that is full says
    nothing that a new one would not say, and is forgotten; so is the oldest of those that nobody
    uses, where there are more than `most` of them.
    """

    def __init__(self, rate: Rate, most: int = 10_000) -> None:
        self._rate = rate
        self._most = most
        self._used: dict[K, tuple[Bucket, int]] = {}
        """Each bucket in use, and by how many."""
        self._idle: dict[K, Bucket] = {}
        """Those that were in use and may not be full yet, the longest idle first."""

    def __len__(self) -> int:
        return len(self._used) + len(self._idle)

    def users(self, key: K) -> int:
        used = self._used.get(key)
        return 0 if used is None else used[1]

    def in_use_or_missing(self, now: float) -> set[K]:
        """Return the keys of the buckets that are in use, or not full again."""
        idle = (key for key, bucket in self._idle.items() if bucket.level(now) < bucket.rate.burst)
        return {*self._used, *idle}

    def set_rate(self, key: K, rate: Rate, now: float) -> None:
        """Let the bucket of `key`, if there is one, go on at another rate."""
        bucket, _ = self._used.get(key, (self._idle.get(key), 0))
        if bucket is not None:
            bucket.set_rate(rate, now)

    def acquire(self, key: K, now: float, rate: Rate | None = None) -> Bucket:
        """Return the bucket of `key`; it is in use until `release`.

        `rate` is the key's own, where it has one; it is to be the same each time, but for what
        `set_rate` makes of it.
        """
        bucket, users = self._used.get(key, (None, 0))
        if bucket is None:
            bucket = self._idle.pop(key, None) or Bucket(rate or self._rate, now)
        self._used[key] = (bucket, users + 1)
        self._evict(now)
        return bucket

    def release(self, key: K, now: float) -> None:
        bucket, users = self._used[key]
        if users > 1:
            self._used[key] = (bucket, users - 1)
            return
        del self._used[key]
        if bucket.level(now) < bucket.rate.burst:
            self._idle[key] = bucket
        self._evict(now)

    def charge(self, key: K, now: float, rate: Rate | None = None, cost: float = 1) -> int:
        """Take `cost` from the bucket of `key`, which nobody has to use otherwise.

        Return 0, or after how many milliseconds there is enough; nothing is taken then.
        """
        bucket = self.acquire(key, now, rate)
        missing = cost - bucket.level(now)
        if missing <= 0:
            bucket.charge(cost, now)
        self.release(key, now)
        return 0 if missing <= 0 else max(1, round(missing / bucket.rate.per_second * 1000))

    def _evict(self, now: float) -> None:
        """Forget those at the front that are full: a bucket fills in burst / rate seconds."""
        while self._idle:
            key, bucket = next(iter(self._idle.items()))
            if bucket.level(now) < bucket.rate.burst and len(self._idle) <= self._most:
                return
            del self._idle[key]


class ChargeResult(Enum):
    GRANTED = "granted"
    REFUSED = "refused"
    FLOODING = "flooding"


class RateLimiter:
    """The buckets that a connection pays from."""

    __slots__ = ("_own", "_shared")

    def __init__(self, socket: Rate, now: float) -> None:
        self._own = Bucket(socket, now)
        self._shared: tuple[Bucket, ...] = ()

    def share(self, bucket: Bucket) -> None:
        """Pay from `bucket` too from now on: the account's or the address's."""
        self._shared = (*self._shared, bucket)

    def charge(self, cost: float, now: float) -> ChargeResult:
        """Pay for a request. Everything is charged, whatever the result."""
        left = self._own.charge(cost, now)
        paid = self.charge_shared(cost, now)
        if paid and left >= 0:
            return ChargeResult.GRANTED
        if left < -self._own.rate.burst:
            return ChargeResult.FLOODING
        return ChargeResult.REFUSED

    def charge_shared(self, cost: float, now: float) -> bool:
        """Pay from the shared buckets only; return whether each of them had enough."""
        paid = True
        for bucket in self._shared:
            # A shared bucket never sinks far: the flooder's own one closes it, not its kin's.
            if bucket.level(now) < cost:
                paid = False
            else:
                bucket.charge(cost, now)
        return paid

    def retry_after_ms(self, cost: float, now: float) -> int:
        """Return after how many milliseconds a request of this cost would be granted."""
        wait = 0.0
        for bucket in (self._own, *self._shared):
            missing = cost - bucket.level(now)
            wait = max(wait, missing / bucket.rate.per_second)
        return max(1, round(wait * 1000))
