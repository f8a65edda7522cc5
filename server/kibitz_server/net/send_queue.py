"""The send queue of a connection, with its policies for slow readers.

The frames that an event loop iteration sends to a connection are written together. The first frame
adds the queue to the server's list, and a callback at the end of the iteration writes each queue's
frames with one call. Droppable frames may wait longer: each iteration writes only some of the
queues that have no other frames. So an event of a match with a thousand spectators does not delay
players by a thousand writes.

While the transport cannot accept more (it is *paused*), nothing is written. Each kind of message
has its own policy:

    answers, a player's news    kept, up to `SendLimits.frames_bytes`; then the peer is too slow
    a match's news, spectator   dropped; when the peer reads again, it gets a new snapshot, and
                                the end if the match has ended meanwhile
    a lobby's changes           dropped; when the peer reads again, it gets the whole lobby
    changes of the hall         dropped; when the peer reads again, it gets the whole hall

Sending never calls callbacks. A queue that overflows accepts no more frames, and is reported at the
end of the iteration. So a sender can iterate over its collection of peers, and no peer is removed
from the collection meanwhile.

For a slow spectator the server stores a few references, for a slow player a bounded queue. Neither
blocks anyone else. `timeouts` aborts a transport that stays paused without any progress.

A peer that is behind in many matches, or starts to watch many at once (`skip`), needs many
snapshots. It gets about as many as the transport accepts without pausing, and further ones when
these were written. So hundreds of snapshots are never in memory all at once.
"""

from __future__ import annotations

import logging
from asyncio import AbstractEventLoop, WriteTransport
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar

from kibitz_protocol.wire.codec import encode
from kibitz_protocol.wire.frames import text_frame
from kibitz_protocol.wire.messages import Answer, ServerMessage

LOG = logging.getLogger("kibitz.net")
_Form = TypeVar("_Form")
PATIENT_AT_ONCE = 128
"""The number of queues with only droppable frames that one event loop iteration writes. Each takes
a system call; all of them take about a millisecond. It is a count, not a duration, to make tests
deterministic."""
MAX_AWAITED = 16
"""The number of snapshots that a queue may have requested but not received. A match that waits for
the disk sends its snapshot later, so one commit may release all of them at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SendLimits:
    """Limits on the output queued for a peer."""

    high_water: int = 32 * 1024
    """Bytes in the transport's buffer at which the transport pauses writing."""
    frames_bytes: int = 256 * 1024
    """Bytes of frames queued for a paused transport; beyond this limit the peer is too slow."""


class SnapshotSource(Protocol):
    """A match, a lobby or the hall: it can send its current state to a peer that missed changes."""

    def send_snapshot(self, queue: SendQueue) -> None:
        """Send the current state, now or soon, after calling the queue's `caught_up`.

        If the queue is paused by then, send nothing: it requests the state again when it resumes.
        """


def message_frame(message: Answer | ServerMessage) -> bytes:
    """Return a message as a frame, which can be sent to many peers."""
    return text_frame(encode(message))


class WriteBatcher:
    """Writes the send queues with new frames at the end of each event loop iteration."""

    __slots__ = ("_loop", "_overflowed", "_patient", "_ready", "_scheduled")

    def __init__(self, loop: AbstractEventLoop) -> None:
        self._loop = loop
        self._ready: list[SendQueue] = []
        self._patient: deque[SendQueue] = deque()
        """The queues that may wait for a later iteration."""
        self._overflowed: list[SendQueue] = []
        """The queues that overflowed and were not reported yet."""
        self._scheduled = False

    def add(self, queue: SendQueue) -> None:
        self._ready.append(queue)
        if not self._scheduled:
            self._schedule()

    def add_patient(self, queue: SendQueue) -> None:
        """Write a queue in one of the next iterations, after those already waiting."""
        self._patient.append(queue)
        if not self._scheduled:
            self._schedule()

    def add_overflowed(self, queue: SendQueue) -> None:
        """Report a queue at the end of this iteration of the event loop.

        Reporting it at once could change the peers while a sender iterates over them.
        """
        self._overflowed.append(queue)
        if not self._scheduled:
            self._schedule()

    def flush(self) -> None:
        """Write all queues with urgent frames, then some of the patient ones."""
        self._scheduled = False
        filled, self._ready = self._ready, []
        _write(filled)
        overflowed, self._overflowed = self._overflowed, []
        for queue in overflowed:
            try:
                queue.report_overflow()
            except Exception:
                LOG.exception("cannot close a connection that reads too slowly")
                queue.close()
        patient = self._patient
        _write([patient.popleft() for _ in range(min(len(patient), PATIENT_AT_ONCE))])
        if patient and not self._scheduled:
            self._schedule()

    def _schedule(self) -> None:
        self._scheduled = True
        self._loop.call_soon(self.flush)


def send_news(
    players: Iterable[tuple[SendQueue, bytes]],
    spectators: Mapping[SendQueue, _Form],
    frames: Mapping[_Form, bytes],
    source: SnapshotSource,
) -> None:
    """Send a match's news: each player its own frame, then spectators the frame in their form.

    Spectators who are behind miss it, and get the whole state of `source` later.
    """
    for queue, frame in players:
        queue.send(frame)
    for queue, form in spectators.items():
        queue.send_droppable(frames[form], source)


def _write(queues: list[SendQueue]) -> None:
    for queue in queues:
        try:
            queue.flush()
        except Exception:
            LOG.exception("cannot write to a connection")
            queue.close()


def _ignore() -> None:
    """Do nothing, because the queue is closed."""


class SendQueue:
    """The queue of frames to one connection."""

    __slots__ = (
        "_batcher",
        "_frames",
        "_limits",
        "_on_overflow",
        "_overflowed",
        "_patient",
        "_queued_bytes",
        "_skipped",
        "_transport",
        "closed",
        "paused",
    )

    def __init__(
        self,
        transport: WriteTransport,
        batcher: WriteBatcher,
        limits: SendLimits,
        on_overflow: Callable[[], None],
    ) -> None:
        """`on_overflow` is called at the end of the iteration in which the queue overflowed."""
        self._transport = transport
        self._batcher = batcher
        self._limits = limits
        self._on_overflow = on_overflow
        self._frames: list[bytes] = []
        self._queued_bytes = 0
        """Bytes in `_frames` while the transport is paused."""
        self._skipped: dict[SnapshotSource, bool] | None = None
        """The sources of which the peer missed changes. Further changes are dropped until the peer
        gets the source's current state. The value tells whether that state was requested.
        """
        self._patient = False
        """Whether all `_frames` may wait for a later iteration."""
        self._overflowed = False
        """Whether the limit was exceeded, so that the queue accepts no more frames."""
        self.paused = False
        self.closed = False

    def send(self, frame: bytes) -> None:
        """Send a frame that must not be dropped, such as an answer or an event for a player."""
        if self.closed:
            return
        frames = self._frames
        if self.paused:
            self._enqueue(frame)
            return
        if not frames or self._patient:
            self._patient = False
            self._batcher.add(self)
        frames.append(frame)

    def send_droppable(self, frame: bytes, source: SnapshotSource) -> None:
        """Send a change of `source`, unless the peer is behind and will get its whole state."""
        if (self.paused or self._skipped is not None) and self.is_behind(source):
            self.skip(source)
        elif not self.closed:
            if not self._frames:
                self._patient = True
                self._batcher.add_patient(self)
            self._frames.append(frame)

    def is_behind(self, source: SnapshotSource) -> bool:
        """Return whether changes of a source would be dropped now."""
        return self.paused or (self._skipped is not None and source in self._skipped)

    def is_skipped(self, source: SnapshotSource) -> bool:
        """Return whether the peer waits for the current state of a source."""
        return self._skipped is not None and source in self._skipped

    def skip(self, source: SnapshotSource) -> None:
        """Record that the peer needs the current state of a source; `catch_up` requests it."""
        if not self.closed:
            if self._skipped is None:
                self._skipped = {}
            self._skipped.setdefault(source, False)

    def flush(self) -> None:
        frames = self._frames
        if not frames or self.paused or self.closed or self._overflowed:
            return
        data = frames[0] if len(frames) == 1 else b"".join(frames)
        frames.clear()
        self._patient = False
        self._transport.write(data)
        if self._skipped is not None:
            self.catch_up()

    def pause(self) -> None:
        """Stop writing, because the transport is full."""
        self.paused = True
        self._queued_bytes = sum(map(len, self._frames))

    def resume(self) -> None:
        """Send the queue, then catch up, because the transport has room again."""
        self.paused = False
        self._queued_bytes = 0
        if self._frames:
            self._batcher.add(self)
        if self._skipped is not None:
            # Request all states again: a match that was reloaded does not answer earlier requests.
            self._skipped = dict.fromkeys(self._skipped, False)
            self.catch_up()

    def catch_up(self) -> None:
        """Request states of skipped sources until one write is full; `flush` continues."""
        skipped = self._skipped
        if skipped is None or self.paused or self.closed:
            return
        awaited = sum(skipped.values())
        measured = size = 0
        for source in [source for source, asked in skipped.items() if not asked]:
            frames = self._frames
            size += sum(map(len, frames[measured:]))
            measured = len(frames)
            if size >= self._limits.high_water or awaited >= MAX_AWAITED or self.closed:
                return
            skipped[source] = True
            source.send_snapshot(self)
            awaited += source in (self._skipped or ())

    def caught_up(self, source: SnapshotSource) -> None:
        """Record that the peer gets the current state of a source, and changes again."""
        if self._skipped is not None:
            self._skipped.pop(source, None)
            self._skipped = self._skipped or None

    def close(self) -> None:
        """Drop the queue and send nothing else."""
        self.closed = True
        self._frames = []
        self._skipped = None
        # Owner and queue refer to each other. Without this reference, both are freed without a
        # garbage collection.
        self._on_overflow = _ignore

    def _enqueue(self, frame: bytes) -> None:
        if self._overflowed:
            return
        self._frames.append(frame)
        self._queued_bytes += len(frame)
        if self._queued_bytes > self._limits.frames_bytes:
            self._overflowed = True
            self._batcher.add_overflowed(self)

    def report_overflow(self) -> None:
        """Report to the owner that the peer is too slow, unless the queue is closed by now."""
        if not self.closed:
            self._on_overflow()
