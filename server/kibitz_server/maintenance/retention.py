"""Retention: deletes old closed matches and lobbies, and guests who do not come back.

Everything is deleted a little at a time through the store's own writer, in its ordinary
batches, so nobody waits for it and a server that is killed in the middle goes on with it. A
stream is first marked as deleted: from then on nobody finds it. Its entries follow, a few rows a
batch, and its line in the list of streams goes last, so that its number is not given away while
there is anything of it.

    closed --old enough, out of the journal--> deleted --its entries are gone--> no row

* A match is as old as its last entry. A stream that the journal still has entries of is left
  for later: a start reads the journal, and has to find the streams it speaks of.
* A lobby goes when all its matches are gone, for who hosted it may read their reports.
* The ladder keeps what it needs in its own table, which nothing is taken from.
* A guest, or a house bot, goes who was not here for a while and has no seat or lobby anywhere. Its
  secret is worth nothing from then on. Accounts stay.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

from pydantic_core import from_json

from kibitz_server.storage.database import StoreError, Value

LOG = logging.getLogger("kibitz.retention")
DAY_S: Final = 86_400.0
_OLD_MATCHES: Final = """
SELECT number, key, opened,
    (SELECT lines FROM stretch WHERE stretch.stream = stream.number ORDER BY first DESC LIMIT 1)
FROM stream WHERE state = 'closed' AND kind = 'match' AND opened < ? AND number > ?
ORDER BY number LIMIT ?"""
_OLD_LOBBIES: Final = """
SELECT number, key FROM stream WHERE state = 'closed' AND kind = 'lobby' AND opened < ?
    AND number > ? AND NOT EXISTS (SELECT 1 FROM stream AS match
        WHERE match.key > stream.key || '-' AND match.key < stream.key || '.')
ORDER BY number LIMIT ?"""
"""The key of a match begins with that of its lobby and a dash; a dot is the sign after a dash."""
_SEGMENTS: Final = """
SELECT stretch.stream, stretch.first FROM stream JOIN stretch ON stretch.stream = stream.number
WHERE stream.state = 'deleted' ORDER BY stretch.stream, stretch.first LIMIT ?"""
_EMPTY_STREAMS: Final = """
SELECT number FROM stream WHERE state = 'deleted'
    AND NOT EXISTS (SELECT 1 FROM stretch WHERE stretch.stream = stream.number) LIMIT ?"""
_IDLE_GUESTS: Final = (
    "SELECT key FROM player WHERE account = 0 AND created < ? ORDER BY created LIMIT ?"
)
_EXCESS_GUESTS: Final = """
SELECT created FROM player WHERE account = 0 ORDER BY created DESC LIMIT 1 OFFSET ?"""
GUEST_CANDIDATES: Final = 20_000
"""Guests that are looked at for a portion: more than can be connected, so that some are idle."""
Row: TypeAlias = tuple[Value, ...]


class RetentionStore(Protocol):
    """What is needed of the store."""

    async def find(self, sql: str, values: tuple[Value, ...]) -> list[Row]: ...

    async def journalled(self) -> set[int]: ...

    def execute(
        self, sql: str, values: tuple[Value, ...], waiter: _CommitWaiter | None
    ) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionPolicy:
    """What is kept, for how long, and how fast the rest goes."""

    days: float | None = None
    """Days that closed matches and lobbies are kept; None for ever."""
    guest_days: float = 30
    """Days that a guest may be away who has no seat or lobby."""
    guests: int = 100_000
    """Guests and house bots that are kept at most; those who were away longest go before their
    time."""
    every_s: float = 60
    """Seconds between two looks."""
    pause_s: float = 0.05
    """Seconds between two portions."""
    streams: int = 64
    """Matches or lobbies that are looked at for a portion, and are in one at most."""
    rows: int = 16
    """Rows that a portion deletes."""


class _CommitWaiter:
    """Waits until a portion is on the disk."""

    __slots__ = ("_done",)

    def __init__(self, done: asyncio.Future[bool]) -> None:
        self._done = done

    def durable(self, seq: int) -> None:
        self._settle(True)

    def lost(self, error: StoreError) -> None:
        self._settle(False)

    def _settle(self, written: bool) -> None:
        if not self._done.done():
            self._done.set_result(written)


class Retention:
    """Forgets, portion by portion, while `run` runs."""

    def __init__(
        self,
        log: RetentionStore,
        keeping: RetentionPolicy,
        *,
        busy: Callable[[str], bool],
        forgotten: Callable[[set[str]], None],
        now: Callable[[], float] = time.time,
    ) -> None:
        """`busy` tells whether a player is connected or has a seat or a lobby; `forgotten` is
        told the keys of matches and lobbies that nobody finds any more.
        """
        self._store = log
        self._policy = keeping
        self._is_busy = busy
        self._on_deleted = forgotten
        self._now = now

    async def run(self) -> None:
        """Look every now and then, until it is cancelled."""
        while True:
            await asyncio.sleep(self._policy.every_s)
            try:
                await self.delete_due()
            except Exception:
                LOG.exception("what is old cannot be deleted; it is tried again")

    async def delete_due(self) -> None:
        """Delete all that is due now."""
        more = await self.delete_some()
        while more:
            await asyncio.sleep(self._policy.pause_s)
            more = await self.delete_some()

    async def delete_some(self) -> bool:
        """Delete a little; return whether anything was deleted."""
        for step in (
            self._delete_entries,
            self._delete_streams,
            self._mark_deleted,
            self._delete_guests,
        ):
            statements = await step()
            if statements:
                return await self._write(statements)
        return False

    # --- streams ----------------------------------------------------------------------------

    async def _delete_entries(self) -> list[tuple[str, Row]]:
        rows = await self._store.find(_SEGMENTS, (self._policy.rows,))
        return [("DELETE FROM stretch WHERE stream = ? AND first = ?", row) for row in rows]

    async def _delete_streams(self) -> list[tuple[str, Row]]:
        rows = await self._store.find(_EMPTY_STREAMS, (self._policy.rows,))
        return [("DELETE FROM stream WHERE number = ? AND state = 'deleted'", row) for row in rows]

    async def _mark_deleted(self) -> list[tuple[str, Row]]:
        """Choose what is old, and let nobody find it any more."""
        if self._policy.days is None:
            return []
        cutoff = int(self._now() - self._policy.days * DAY_S)
        old: dict[Value, Value] = {}
        for sql in (_OLD_MATCHES, _OLD_LOBBIES):
            old = old or await self._deletable(sql, cutoff)
        self._on_deleted({str(key) for key in old.values()})
        sql = "UPDATE stream SET state = 'deleted' WHERE number = ? AND state = 'closed'"
        return [(sql, (number,)) for number in old]

    async def _deletable(self, sql: str, cutoff: int) -> dict[Value, Value]:
        """Return the first streams, by number, that may go; those that may not are passed over."""
        after: Value = 0
        while True:
            rows = await self._store.find(sql, (cutoff, after, self._policy.streams))
            old = {number: key for number, key, *log in rows if _ended(*log) < cutoff}
            if old:
                journalled = await self._store.journalled()
                old = {number: key for number, key in old.items() if number not in journalled}
            if old or len(rows) < self._policy.streams:
                return old
            after = rows[-1][0]

    # --- guests -----------------------------------------------------------------------------

    async def _delete_guests(self) -> list[tuple[str, Row]]:
        cutoff = int(self._now() - self._policy.guest_days * DAY_S)
        crowd = await self._store.find(_EXCESS_GUESTS, (self._policy.guests,))
        if crowd and isinstance(crowd[0][0], int):
            cutoff = max(cutoff, crowd[0][0])
        rows = await self._store.find(_IDLE_GUESTS, (cutoff, GUEST_CANDIDATES))
        idle = [key for (key,) in rows if not self._is_busy(str(key))][: self._policy.rows]
        sql = "DELETE FROM player WHERE key = ? AND account = 0 AND created < ?"
        return [(sql, (key, cutoff)) for key in idle]

    # --- writing ----------------------------------------------------------------------------

    async def _write(self, statements: list[tuple[str, Row]]) -> bool:
        """Write a portion with the next batch; return whether the disk has it."""
        done: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        for sql, values in statements[:-1]:
            self._store.execute(sql, values, None)
        self._store.execute(*statements[-1], _CommitWaiter(done))
        return await done


def _ended(opened: Value = 0, lines: Value = None) -> float:
    """Return about when a match ended, in seconds of the epoch, from its last entries.

    Nothing is known of when a lobby did: that is 0.
    """
    start = opened if isinstance(opened, int) else 0
    if not isinstance(lines, bytes):
        return start
    try:
        at_ms = from_json(lines.rpartition(b"\n")[2])["at_ms"]
    except (ValueError, TypeError, KeyError):
        return start  # a damaged entry keeps nothing longer than the match's beginning does
    return start + at_ms / 1000 if isinstance(at_ms, int) else start
