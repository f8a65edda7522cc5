"""Rate limits by token buckets, for the requests of a connection. Pure: `now` is in seconds.

A connection has a bucket of its own and shares one with every connection of its account and one
with every connection of its address. A request costs what its model says; a bucket fills at its
rate up to its burst. A request that finds a bucket empty is refused, with the time after which to
retry, and still costs something. A client that goes on regardless sinks into debt, and at the
bottom of it the connection is closed.

    full = burst ... 0      requests are carried out
         0 ... -burst       requests are refused, rate_limited
            below -burst    the connection is closed

If nodes serve side by side, they divide a player's rates among the nodes where the player is
connected, so that the limits hold over all of them. When a node hears that a player is elsewhere as
well, only the rate of its bucket changes; no request costs more because of it.

A move that answers a turn is free, as the server opens turns at its own pace: a bot in a hundred
fast matches is no flood. The cost of a refused move is charged afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class Rate:
    """The amount that a bucket gains each second, and its capacity."""

    per_second: float
    burst: float

    def divided(self, parts: int, least: float) -> Rate:
        """Return one of equal parts, with a burst of at least `least`."""
        return Rate(self.per_second / parts, max(self.burst / parts, min(self.burst, least)))


UNLIMITED = Rate(1e9, 1e9)


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimits:
    """Rates and costs of one server."""

    socket: Rate = Rate(20, 40)
    account: Rate = Rate(60, 240)
    address: Rate = Rate(200, 1000)
    """Not applied to loopback, where one machine runs all the bots."""
    comments: Rate = Rate(0.5, 5)
    """Comments of a player, in all matches ..."""
    comments_an_address: Rate = Rate(5, 50)
    """... and of all players of an address. Each of them stays in a record for good."""
    notes: Rate = Rate(100, 400_000)
    """Characters of a player's notes, in all matches."""
    openings: Rate = Rate(180 / 3600, 60)
    """Lobbies opened by a player ..."""
    openings_an_address: Rate = Rate(1800 / 3600, 600)
    """... and by all players of an address."""
    lobby_changes: Rate = Rate(1200 / 3600, 1200)
    """Joins, ready flags and rematches in one lobby ..."""
    lobby_changes_a_player: Rate = Rate(120 / 3600, 60)
    """... and of one player in it."""
    lobby_matches: Rate = Rate(7200 / 3600, 2000)
    """Matches that begin in one lobby; more begin later."""
    arranged: Rate = Rate(4_000_000 / 3600, 4_000_000)
    """Characters of what the host of one lobby arranges."""
    garbage: float = 6
    """The cost of a malformed frame ..."""
    malformed: Rate = Rate(0.1, 10)
    """... and how many a connection may send until it is closed."""
    size: float = 1
    """The extra cost of each whole 4 KiB of a request, for decoding and validation."""
    control: float = 0.5
    """The cost of a ping, a pong or a fragment."""
    http: float = 1
    """The cost of an HTTP request or a handshake; the address pays it ..."""
    static: float = 0.2
    """The cost of a file of the web pages, low because a page needs dozens, and a classroom behind
    one address thirty times as many ..."""
    record: float = 10
    """... and the cost of a request for a record or the metrics."""


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
        """Change the rate; the amount spent and not yet refilled stays spent."""
        self._level = self.level(now) - self.rate.burst + rate.burst
        self.rate = rate


class SharedBuckets(Generic[K]):
    """Buckets that connections share, each kept while it is in use or not full again.

    A flooder that reconnects finds its bucket as empty as it left it. A full bucket is the same as
    a new one, and is forgotten. So is the oldest unused bucket if there are more than `most`.
    """

    def __init__(self, rate: Rate, most: int = 10_000) -> None:
        self._rate = rate
        self._most = most
        self._used: dict[K, tuple[Bucket, int]] = {}
        """Each bucket in use, and its number of users."""
        self._idle: dict[K, Bucket] = {}
        """Buckets no longer in use that may not be full yet, the longest idle first."""

    def __len__(self) -> int:
        return len(self._used) + len(self._idle)

    def users(self, key: K) -> int:
        used = self._used.get(key)
        return 0 if used is None else used[1]

    def in_use_or_missing(self, now: float) -> set[K]:
        """Return the keys of the buckets that are in use or not full again."""
        idle = (key for key, bucket in self._idle.items() if bucket.level(now) < bucket.rate.burst)
        return {*self._used, *idle}

    def set_rate(self, key: K, rate: Rate, now: float) -> None:
        """Change the rate of the bucket of `key`, if there is one."""
        bucket, _ = self._used.get(key, (self._idle.get(key), 0))
        if bucket is not None:
            bucket.set_rate(rate, now)

    def acquire(self, key: K, now: float, rate: Rate | None = None) -> Bucket:
        """Return the bucket of `key`; it is in use until `release`.

        `rate` is the key's own, if it has one. Pass the same rate each time, apart from changes by
        `set_rate`.
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
        """Take `cost` from the bucket of `key`, which need not be in use.

        Return 0, or the milliseconds until there is enough; nothing is taken then.
        """
        bucket = self.acquire(key, now, rate)
        missing = cost - bucket.level(now)
        if missing <= 0:
            bucket.charge(cost, now)
        self.release(key, now)
        return 0 if missing <= 0 else max(1, round(missing / bucket.rate.per_second * 1000))

    def _evict(self, now: float) -> None:
        """Forget full buckets at the front: a bucket fills in burst / rate seconds."""
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
            # A shared bucket never sinks far: the flooder's own closes it, not its siblings'.
            if bucket.level(now) < cost:
                paid = False
            else:
                bucket.charge(cost, now)
        return paid

    def retry_after_ms(self, cost: float, now: float) -> int:
        """Return the milliseconds until a request of this cost would be granted."""
        wait = 0.0
        for bucket in (self._own, *self._shared):
            missing = cost - bucket.level(now)
            wait = max(wait, missing / bucket.rate.per_second)
        return max(1, round(wait * 1000))
