"""Rate limits for a connection's requests, by token buckets. Pure: `now` is in seconds.

A connection has its own bucket. It shares a second one with all connections of its account, and a
third one with all connections of its address. Each request takes its cost, which its model defines,
from all three. A bucket refills at its rate, up to its burst. If one has too little, the request is
refused with a retry delay, but is still charged. A client that keeps sending requests goes into
debt, and finally the server closes its connection.

    full = burst ... 0      requests are carried out
         0 ... -burst       requests are refused, rate_limited
            below -burst    the connection is closed

A move that answers a turn is free, because the server sets the pace of turns: a bot that plays a
hundred fast matches is not a flooder. A refused move is charged afterwards.
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


UNLIMITED = Rate(1e9, 1e9)


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimits:
    """Rates and costs of one server."""

    socket: Rate = Rate(20, 40)
    account: Rate = Rate(60, 240)
    address: Rate = Rate(200, 1000)
    """Requests from one address. Not applied to loopback, because one machine may run many bots."""
    comments: Rate = Rate(0.5, 5)
    """Comments by one player, in all matches."""
    comments_an_address: Rate = Rate(5, 50)
    """Comments by all players of an address. Limited because each comment is kept permanently."""
    notes: Rate = Rate(100, 400_000)
    """Characters in a player's notes, in all matches."""
    openings: Rate = Rate(180 / 3600, 60)
    """Lobbies opened by one player."""
    openings_an_address: Rate = Rate(1800 / 3600, 600)
    """Lobbies opened by all players of an address."""
    lobby_changes: Rate = Rate(1200 / 3600, 1200)
    """Joins, changes of ready flags and rematches in one lobby."""
    lobby_changes_a_player: Rate = Rate(120 / 3600, 60)
    """Joins, ready flags and rematches by one player in one lobby."""
    lobby_matches: Rate = Rate(7200 / 3600, 2000)
    """Matches that begin in one lobby; matches beyond this rate begin later."""
    arranged: Rate = Rate(4_000_000 / 3600, 4_000_000)
    """Characters in matches arranged by the host of one lobby."""
    garbage: float = 6
    """The cost of a malformed frame."""
    malformed: Rate = Rate(0.1, 10)
    """Malformed frames that a connection may send before it is closed."""
    size: float = 1
    """The extra cost of each whole 4 KiB of a request, for decoding and validation."""
    control: float = 0.5
    """The cost of a ping, a pong or a fragment."""
    http: float = 1
    """The cost of an HTTP request or a handshake, charged to the address."""
    static: float = 0.2
    """The cost of a file of the web pages. It is low, because a page needs dozens of files, and a
    classroom may load thirty pages from one address.
    """
    record: float = 10
    """The cost of a request for a record or the metrics."""


class Bucket:
    """A token bucket: its level rises up to the burst of its rate, and each charge lowers it."""

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
        """Subtract `cost` and return the new level, which may be negative."""
        self._level = self.level(now) - cost
        return self._level

    def wait_ms(self, cost: float, now: float) -> int:
        """Return the milliseconds until the level reaches `cost`; 0 if it has."""
        missing = cost - self.level(now)
        return 0 if missing <= 0 else max(1, round(missing / self.rate.per_second * 1000))


class SharedBuckets(Generic[K]):
    """Buckets that connections share.

    An unused bucket stays until it is full again, so that a flooder who reconnects gets its empty
    bucket back. If there are more than `most`, the bucket that was unused for longest is dropped.
    """

    def __init__(self, rate: Rate, most: int = 10_000) -> None:
        self.rate = rate
        self._most = most
        self._used: dict[K, tuple[Bucket, int]] = {}
        """Buckets in use, each with its number of users."""
        self._idle: dict[K, Bucket] = {}
        """Unused buckets that may not be full yet; the longest unused one comes first."""

    def __len__(self) -> int:
        return len(self._used) + len(self._idle)

    def users(self, key: K) -> int:
        used = self._used.get(key)
        return 0 if used is None else used[1]

    def acquire(self, key: K, now: float, rate: Rate | None = None) -> Bucket:
        """Return the bucket of `key`, which counts as in use until `release`.

        `rate` replaces the default rate for this key. Always pass the same rate for a key.
        """
        bucket, users = self._used.get(key, (None, 0))
        if bucket is None:
            bucket = self._idle.pop(key, None) or Bucket(rate or self.rate, now)
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

        Returns 0. If the bucket has too little, takes nothing and returns the milliseconds to wait.
        """
        bucket = self.acquire(key, now, rate)
        wait_ms = bucket.wait_ms(cost, now)
        if not wait_ms:
            bucket.charge(cost, now)
        self.release(key, now)
        return wait_ms

    def _evict(self, now: float) -> None:
        """Drop buckets from the front that must be full by now: after burst / rate seconds."""
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
    """The buckets that a connection's requests are charged to."""

    __slots__ = ("_own", "_shared")

    def __init__(self, socket: Rate, now: float) -> None:
        self._own = Bucket(socket, now)
        self._shared: tuple[Bucket, ...] = ()

    def share(self, bucket: Bucket) -> None:
        """From now on, also charge `bucket`, which belongs to the account or the address."""
        self._shared = (*self._shared, bucket)

    def charge(self, cost: float, now: float) -> ChargeResult:
        """Charge a request to all buckets, even if one of them has too little."""
        left = self._own.charge(cost, now)
        paid = self.charge_shared(cost, now)
        if paid and left >= 0:
            return ChargeResult.GRANTED
        if left < -self._own.rate.burst:
            return ChargeResult.FLOODING
        return ChargeResult.REFUSED

    def charge_shared(self, cost: float, now: float) -> bool:
        """Charge only the shared buckets; return whether each of them had enough."""
        paid = True
        for bucket in self._shared:
            # A shared bucket never goes into debt. So a flooder loses its connection because of its
            # own bucket, and other connections that share a bucket with it stay open.
            if bucket.level(now) < cost:
                paid = False
            else:
                bucket.charge(cost, now)
        return paid

    def retry_after_ms(self, cost: float, now: float) -> int:
        """Return the milliseconds until the buckets have enough for this cost."""
        waits = (bucket.wait_ms(cost, now) for bucket in (self._own, *self._shared))
        return max(1, *waits)
