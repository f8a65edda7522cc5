"""Compaction: moves the oldest rows of the journal into segments, a few with each batch.

One rule decides when entries leave the journal:

**A row is deleted once all its entries, as read from disk, are in committed segments.**

When the journal has grown large, a reader thread reads its oldest rows (`journal.read`) and makes
segments from them. Each following batch writes a few of these segments; the batches after that
delete the rows, a few at a time. If a batch is abandoned, or rows are damaged, the compaction ends,
and a later one starts over from disk. A compaction has no other state. Recovery moves the whole
journal in one transaction.

In memory a stream keeps its latest entries (`Stream.recent`): at least all that are still in the
journal. They are dropped only after a commit has put them into a segment.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Final

from kibitz_server.storage.sqlite import journal
from kibitz_server.storage.sqlite.connection import Readers
from kibitz_server.storage.sqlite.journal import Segment
from kibitz_server.storage.streams import Stream

LOG = logging.getLogger("kibitz.store")
COMPACT_BYTES = 4 * 1024 * 1024
"""The size of the journal, in bytes, at which a compaction begins; about 13,000 moves."""
SEGMENTS_PER_BATCH = 16
"""The least number of segments that a batch writes; large batches write more."""
TRIM_BYTES_PER_BATCH = 256 * 1024
"""The least number of bytes in the journal rows that a batch deletes; large batches delete more."""


@dataclass(slots=True)
class Share:
    """The part of a compaction that one batch carries out."""

    segments: list[Segment] = field(default_factory=list)
    trim_to: int | None = None
    """The last row of the journal that the batch deletes."""
    trim_bytes: int = 0
    """The approximate size of the deleted rows, in bytes."""


NO_SHARE: Final = Share()
"""The share of a batch that is written while no compaction is under way."""


@dataclass(slots=True)
class _OldestRows:
    """The oldest rows of the journal, while a compaction moves them into segments."""

    segments: deque[Segment]
    rows: deque[tuple[int, int]]
    """The number and weight of each row that is still in the journal."""
    segments_per_byte: float
    """The number of segments per byte of the rows."""


class Compaction:
    """Moves entries out of the journal, and spreads that work over the batches."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, readers: Readers, journal_bytes: int
    ) -> None:
        self._loop = loop
        self._readers = readers
        self._journal_bytes = journal_bytes
        self._begin_at = journal_bytes
        self._weight = 0
        """The approximate size of all rows in the journal, in bytes."""
        self.oldest: _OldestRows | None = None
        """The rows that the compaction moves; None while no compaction is under way."""
        self._reading: object | None = None
        """Identifies the compaction for which a thread is reading rows; None if there is none."""
        self._with_recent: dict[int, Stream] = {}
        """The streams that have `recent` entries."""

    def watch(self, stream: Stream) -> None:
        """Track a stream, to drop its entries from memory once they are in segments."""
        self._with_recent[stream.number] = stream

    def share(self, weight: int) -> Share:
        """Return a batch's part of the compaction that is under way (`oldest`).

        It is in proportion to `weight`, that of the batch's row.
        """
        share, oldest = Share(), self.oldest
        assert oldest is not None, "no compaction is under way"
        waiting = oldest.segments
        if waiting:
            count = max(SEGMENTS_PER_BATCH, round(2 * weight * oldest.segments_per_byte))
            share.segments = [waiting.popleft() for _ in range(min(count, len(waiting)))]
            return share  # later batches delete the rows, once these segments are on disk
        most = max(TRIM_BYTES_PER_BATCH, 2 * weight)
        while oldest.rows and (share.trim_to is None or share.trim_bytes < most):
            share.trim_to, row_weight = oldest.rows.popleft()
            share.trim_bytes += row_weight
        return share

    def written(self, weight: int, share: Share, closed: Sequence[Stream]) -> None:
        """Record that a batch is on disk, and start a compaction if the journal is large enough.

        `weight` is that of the batch's row.
        """
        for segment in share.segments:
            self._drop_recent(segment.number, segment.last)
        for stream in closed:
            self._drop_recent(stream.number, stream.tail)
        self._weight += weight - share.trim_bytes
        oldest = self.oldest
        if oldest is not None and not oldest.segments and not oldest.rows:
            self.oldest = None
            self._begin_at = self._journal_bytes
        if self._weight >= self._begin_at and not self.oldest and not self._reading:
            self._reading = object()
            self._read_journal(self._reading)

    def cancel(self) -> None:
        """Cancel the compaction after a batch was abandoned; a later one starts over."""
        self.oldest = self._reading = None
        kept = self._with_recent.items()
        self._with_recent = {number: stream for number, stream in kept if not stream.failed}

    def _drop_recent(self, number: int, last: int) -> None:
        stream = self._with_recent.get(number)
        if stream is not None:
            stream.drop_recent(last)
            if not stream.recent:
                del self._with_recent[number]

    def _read_journal(self, reading: object) -> None:
        """Read the older half of the journal in a reader thread, for `_journal_read`.

        On a busy server most matches in that half have ended, so their entries are in segments
        already.
        """
        weight = self._weight // 2
        self._readers.submit(lambda db: journal.read(db, weight=weight)).add_done_callback(
            lambda done: self._loop.call_soon_threadsafe(self._journal_read, reading, done)
        )

    def _journal_read(self, reading: object, done: Future[journal.JournalContents]) -> None:
        if reading is not self._reading:
            return
        self._reading = None
        error = done.exception()
        if error is not None:
            self._postpone(str(error))
            return
        found = done.result()
        if not found.sound:
            self._postpone("; ".join(str(tail.fault) for tail in found.faults))
            return
        segments = deque(segment for tail in found.tails.values() for segment in tail.segments())
        share = len(segments) / max(1, found.weight)
        self.oldest = _OldestRows(segments, deque(found.rows), share)

    def _postpone(self, reason: str) -> None:
        self._begin_at = self._weight + self._journal_bytes
        LOG.error(
            "the journal cannot be compacted and keeps growing: %s", reason or "rows are missing"
        )
