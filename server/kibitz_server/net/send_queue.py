"""The send queue of a connection, and what becomes of it when the other side reads too slowly.

Frames of one turn of the event loop are written together: the first one puts the queue on the
server's list, and one callback at the end of the turn writes each queue's frames with one call.

While the transport cannot take more (it is *paused*), nothing is written, and every kind of
news has a policy of its own:

    answers, a player's news    kept, up to `SendLimits.frames_bytes`; then the peer is too slow
    a match's news, spectator   dropped; when the peer reads again it gets a fresh snapshot
    a lobby's changes           dropped; when the peer reads again it gets the whole lobby

So a slow spectator costs a few names, a slow player a bounded queue, and nobody waits for
either. A transport that stays paused without any progress is aborted by `timeouts`.
"""

from __future__ import annotations

import logging
from asyncio import AbstractEventLoop
from collections.abc import Callable
from typing import Protocol

from kibitz_protocol.wire.codec import encode
from kibitz_protocol.wire.frames import text_frame
from kibitz_protocol.wire.messages import Answer, ServerMessage
from kibitz_server.net.send_limits import SendLimits

LOG = logging.getLogger("kibitz.net")


class WriteTransport(Protocol):
    """The part of a transport that a send queue writes to."""

    def write(self, data: bytes) -> None: ...

    def get_write_buffer_size(self) -> int: ...


class SnapshotSource(Protocol):
    """Where skipped news came from: it can tell a peer the present state instead."""

    def send_snapshot(self, queue: SendQueue) -> None:
        """Send the present state, now or soon, after calling the queue's `caught_up`."""


def message_frame(message: Answer | ServerMessage) -> bytes:
    """Return a message as a frame, which can be sent to many."""
    return text_frame(encode(message))


class WriteBatcher:
    """The send queues of a server that have frames to write at the end of this turn of the loop."""

    __slots__ = ("_loop", "_ready", "_scheduled")

    def __init__(self, loop: AbstractEventLoop) -> None:
        self._loop = loop
        self._ready: list[SendQueue] = []
        self._scheduled = False

    def add(self, queue: SendQueue) -> None:
        self._ready.append(queue)
        if not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self.flush)

    def flush(self) -> None:
        """Write what every queue has gathered."""
        self._scheduled = False
        filled, self._ready = self._ready, []
        for queue in filled:
            try:
                queue.flush()
            except Exception:
                LOG.exception("a connection could not be written to")
                queue.close()


class SendQueue:
    """Frames on their way to one connection."""

    __slots__ = (
        "_batcher",
        "_frames",
        "_limits",
        "_on_overflow",
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
        """`on_overflow` is called once more waits for the peer than is allowed."""
        self._transport = transport
        self._batcher = batcher
        self._limits = limits
        self._on_overflow = on_overflow
        self._frames: list[bytes] = []
        self._queued_bytes = 0
        """Bytes in `_frames` while paused."""
        self._skipped: dict[SnapshotSource, None] | None = None
        """Matches and lobbies whose news was dropped, and is until the peer knows how they are."""
        self.paused = False
        self.closed = False

    def send(self, frame: bytes) -> None:
        """Send what must not be dropped: an answer, or a player's news."""
        if self.closed:
            return
        frames = self._frames
        if self.paused:
            self._enqueue(frame)
            return
        if not frames:
            self._batcher.add(self)
        frames.append(frame)

    def send_droppable(self, frame: bytes, source: SnapshotSource) -> None:
        """Send a spectator's news of a match, or a change of a lobby, unless the peer is behind."""
        skipped = self._skipped
        if not self.paused and (skipped is None or source not in skipped):
            self.send(frame)
        elif not self.closed:
            if skipped is None:
                skipped = self._skipped = {}
            skipped[source] = None

    def flush(self) -> None:
        frames = self._frames
        if not frames or self.paused or self.closed:
            return
        self._frames = []
        self._transport.write(frames[0] if len(frames) == 1 else b"".join(frames))

    def pause(self) -> None:
        """The transport is full."""
        self.paused = True
        self._queued_bytes = sum(map(len, self._frames))

    def resume(self) -> None:
        """The transport has room again: send what waited, then tell what was skipped."""
        self.paused = False
        self._queued_bytes = 0
        if self._frames:
            self._batcher.add(self)
        for source in list(self._skipped or {}):
            source.send_snapshot(self)

    def caught_up(self, source: SnapshotSource) -> None:
        """The peer is told how a match or a lobby is now: what comes after it may follow."""
        if self._skipped is not None:
            self._skipped.pop(source, None)
            self._skipped = self._skipped or None

    def close(self) -> None:
        """Drop what waits; nothing is sent any more."""
        self.closed = True
        self._frames = []
        self._skipped = None

    def _enqueue(self, frame: bytes) -> None:
        self._frames.append(frame)
        self._queued_bytes += len(frame)
        if self._queued_bytes > self._limits.frames_bytes:
            self._on_overflow()
