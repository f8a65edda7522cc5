"""Retention: deletes old closed matches and lobbies, and guests who do not return.

Data is deleted a little at a time through the store's writer, in its ordinary batches. So a
deletion does not delay matches, and the server continues an interrupted deletion after a restart. A
stream is first marked as deleted, which hides it from all lookups. Then its entries are deleted, a
few rows per batch. Its own row is deleted last, so that its number is not reused while any entries
remain.

    closed --old enough, not in the journal--> deleted --entries deleted--> no row

* The age of a match is that of its last entry. A stream with entries in the journal is deleted
  later, because the next start reads the journal and must find the streams of its entries.
* A lobby is deleted after all its matches, because its host may read their reports.
* The rating list has its own table, from which nothing is deleted.
* A guest or house bot is deleted after a long absence, if it has no seat and no lobby. Its secret
  is invalid from then on. Accounts are never deleted.
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
from kibitz_server.storage.streams import CallWaiter, Kind, Waiter

LOG = logging.getLogger("kibitz.retention")
DAY_S: Final = 86_400.0
GUEST_CANDIDATES: Final = 20_000
"""Guests to check for a portion: more than can be connected, so that some can be deleted."""
Write: TypeAlias = Callable[[Waiter], None]
"""A function that writes a portion with the next batch, and notifies the waiter of the result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionPolicy:
    """The limits on how long data is kept, and the pace of deletion."""

    days: float | None = None
    """Days to keep closed matches and lobbies; None keeps them forever."""
    guest_days: float = 30
    """Days to keep an absent guest without a seat or lobby."""
    guests: int = 100_000
    """The most guests and house bots to keep. If there are more, those who were absent for longest
    are deleted early.
    """
    every_s: float = 60
    """Seconds between checks."""
    pause_s: float = 0.05
    """Seconds between portions."""
    streams: int = 64
    """The most matches or lobbies to check for a portion, or to delete in one."""
    rows: int = 16
    """The number of rows to delete in a portion."""


class Retention:
    """Deletes outdated data, portion by portion, while `run` is running."""

    def __init__(
        self,
        expiry: Expiry,
        policy: RetentionPolicy,
        *,
        is_busy: Callable[[str], bool],
        on_deleted: Callable[[set[str]], None],
        now: Callable[[], float] = time.time,
    ) -> None:
        """`is_busy` returns whether a player is connected, has a seat or has a lobby.

        `on_deleted` is called with the keys of matches and lobbies that lookups no longer find.
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
                LOG.warning("cannot delete old data, will retry: %s", error)
            except Exception:
                LOG.exception("cannot delete old data; will retry")

    async def delete_due(self) -> None:
        """Delete everything that is outdated now."""
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
        """Mark old streams as deleted, which hides them from all lookups."""
        if self._policy.days is None:
            return None
        cutoff = int(self._now() - self._policy.days * DAY_S)
        old = await self._deletable("match", cutoff) or await self._deletable("lobby", cutoff)
        self._on_deleted(set(old.values()))
        return partial(self._expiry.mark_deleted, list(old)) if old else None

    async def _deletable(self, kind: Kind, cutoff: int) -> dict[int, str]:
        """Return the first streams, by number, that may be deleted."""
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
        """Write a portion with the next batch; return whether it is on disk."""
        done: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

        def settle(written: bool) -> None:
            if not done.done():
                done.set_result(written)

        write(CallWaiter(settle))
        return await done


def _ended(stream: OldStream) -> float:
    """Return the approximate end of a match, in seconds since the epoch, from its last entry.

    Returns 0 for a lobby, whose end is unknown.
    """
    if stream.last_line is None:
        return stream.opened
    try:
        at_ms = from_json(stream.last_line)["at_ms"]
    except (ValueError, TypeError, KeyError):
        return stream.opened  # the last entry is damaged: count from the start of the match
    return stream.opened + at_ms / 1000 if isinstance(at_ms, int) else stream.opened
