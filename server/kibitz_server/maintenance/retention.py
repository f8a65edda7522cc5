"""Retention: deletes old closed matches and lobbies, and guests who do not return.

Everything is deleted a little at a time through the store's own writer, in its ordinary batches. So
it delays no one, and a server that is killed in the middle continues after its restart. A stream is
first marked as deleted, which hides it from all lookups. Its entries follow, a few rows a batch.
Its line in the list of streams goes last, so that its number is not reused while anything of it is
left.

    closed --old enough, out of the journal--> deleted --its entries are gone--> no row

* A match is as old as its last entry. A stream with entries left in the journal is deleted later:
  a start reads the journal, and must find the streams of its entries.
* A lobby is deleted after all its matches, as its host may read their reports.
* The rating list keeps its data in its own table, from which nothing is deleted.
* A guest, or a house bot, is deleted after a time away without a seat or lobby anywhere. Its secret
  is invalid from then on. Accounts stay.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeAlias

from pydantic_core import from_json

from kibitz_server.storage.errors import StoreError
from kibitz_server.storage.interface import Expiry, OldStream
from kibitz_server.storage.streams import Kind, Waiter

LOG = logging.getLogger("kibitz.retention")
DAY_S: Final = 86_400.0
GUEST_CANDIDATES: Final = 20_000
"""Guests that are checked for a portion: more than can be connected, so that some are idle."""
Write: TypeAlias = Callable[[Waiter], None]
"""Writes a portion with the next batch, and notifies the waiter of the result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionPolicy:
    """The limits on how long data is kept, and the pace of deletion."""

    days: float | None = None
    """Days that closed matches and lobbies are kept; None for forever."""
    guest_days: float = 30
    """Days that a guest without a seat or lobby is kept while away."""
    guests: int = 100_000
    """The most guests and house bots that are kept; beyond, those away longest are deleted
    early."""
    every_s: float = 60
    """Seconds between two checks."""
    pause_s: float = 0.05
    """Seconds between two portions."""
    streams: int = 64
    """The most matches or lobbies that are checked for a portion or deleted in one."""
    rows: int = 16
    """The number of rows that a portion deletes."""


class _CommitWaiter:
    """The waiter for a portion to be on the disk."""

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
    """Deletes due data, portion by portion, while `run` runs."""

    def __init__(
        self,
        expiry: Expiry,
        policy: RetentionPolicy,
        *,
        is_busy: Callable[[str], bool],
        on_deleted: Callable[[set[str]], None],
        now: Callable[[], float] = time.time,
    ) -> None:
        """`is_busy` returns whether a player is connected or has a seat or a lobby; `on_deleted` is
        called with the keys of matches and lobbies that lookups no longer find.
        """
        self._expiry = expiry
        self._policy = policy
        self._is_busy = is_busy
        self._on_deleted = on_deleted
        self._now = now

    async def run(self) -> None:
        """Check regularly until canceled."""
        while True:
            await asyncio.sleep(self._policy.every_s)
            try:
                await self.delete_due()
            except StoreError as error:
                LOG.warning("what is old cannot be deleted, it is tried again: %s", error)
            except Exception:
                LOG.exception("what is old cannot be deleted; it is tried again")

    async def delete_due(self) -> None:
        """Delete everything that is due now."""
        more = await self.delete_some()
        while more:
            await asyncio.sleep(self._policy.pause_s)
            more = await self.delete_some()

    async def delete_some(self) -> bool:
        """Delete a little; return whether anything was deleted."""
        for step in (
            self._delete_remains,
            self._mark_deleted,
            self._delete_guests,
        ):
            write = await step()
            if write is not None:
                return await self._write(write)
        return False

    # --- streams ----------------------------------------------------------------------------

    async def _delete_remains(self) -> Write | None:
        remains = await self._expiry.remains(self._policy.rows)
        return partial(self._expiry.delete_remains, remains) if remains else None

    async def _mark_deleted(self) -> Write | None:
        """Choose old streams, and hide them from all lookups."""
        if self._policy.days is None:
            return None
        cutoff = int(self._now() - self._policy.days * DAY_S)
        old = await self._deletable("match", cutoff) or await self._deletable("lobby", cutoff)
        self._on_deleted(set(old.values()))
        return partial(self._expiry.mark_deleted, list(old)) if old else None

    async def _deletable(self, kind: Kind, cutoff: int) -> dict[int, str]:
        """Return the first streams, by number, that may be deleted, skipping those that may not."""
        after = 0
        while True:
            closed = await self._expiry.closed_streams(kind, cutoff, after, self._policy.streams)
            old = {stream.number: stream.key for stream in closed if _ended(stream) < cutoff}
            if old:
                pinned = await self._expiry.pinned()
                old = {number: key for number, key in old.items() if number not in pinned}
            if old or len(closed) < self._policy.streams:
                return old
            after = closed[-1].number

    # --- guests -----------------------------------------------------------------------------

    async def _delete_guests(self) -> Write | None:
        cutoff = int(self._now() - self._policy.guest_days * DAY_S)
        crowd = await self._expiry.nth_newest_guest(self._policy.guests)
        if crowd is not None:
            cutoff = max(cutoff, crowd)
        known = await self._expiry.idle_guests(cutoff, GUEST_CANDIDATES)
        idle = [key for key in known if not self._is_busy(key)][: self._policy.rows]
        return partial(self._expiry.delete_guests, idle, cutoff) if idle else None

    # --- writing ----------------------------------------------------------------------------

    async def _write(self, write: Write) -> bool:
        """Write a portion with the next batch; return whether the disk has it."""
        done: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        write(_CommitWaiter(done))
        return await done


def _ended(stream: OldStream) -> float:
    """Return about when a match ended, in seconds of the epoch, from its last entry.

    Returns 0 for a lobby, as its end is unknown.
    """
    if stream.last_line is None:
        return stream.opened
    try:
        at_ms = from_json(stream.last_line)["at_ms"]
    except (ValueError, TypeError, KeyError):
        return stream.opened  # with a damaged last entry, a match is as old as its beginning
    return stream.opened + at_ms / 1000 if isinstance(at_ms, int) else stream.opened
