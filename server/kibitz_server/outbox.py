"""What is on its way to one peer, and what becomes of it when the peer reads too slowly.

Frames of one turn of the loop are corked: the first one puts the outbox on the server's list,
and one callback at the end of the turn writes each peer's frames with one call.

While the transport cannot take more (it is *paused*), nothing is written, and every kind of
news has a policy of its own:

    answers, a player's news    kept, up to `Allowance.frames_bytes`; then the peer is too slow
    a match's news, spectator   dropped; when the peer reads again it gets a fresh snapshot
    a lobby's news              the newest replaces the one before it

So a slow spectator costs a few names, a slow player a bounded queue, and nobody waits for
either. A transport that stays paused without any progress is aborted by the peer's watchdog.
"""

from __future__ import annotations

import logging
from asyncio import AbstractEventLoop
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

LOG = logging.getLogger("kibitz.outbox")
TEXT = 0x81
"""First byte of an unfragmented text frame."""


class Wire(Protocol):
    """The part of a transport that an outbox writes to."""

    def write(self, data: bytes) -> None: ...

    def get_write_buffer_size(self) -> int: ...


class Source(Protocol):
    """Where skipped news came from: it can tell a peer the present state instead."""

    def catch_up(self, outbox: Outbox) -> None:
        """Send the present state, now or soon, after calling the outbox's `caught_up`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """How much may wait for a peer."""

    high_water: int = 32 * 1024
    """Bytes in the transport at which it pauses."""
    frames_bytes: int = 256 * 1024
    """Bytes of frames that wait for a paused transport; beyond, the peer is too slow."""


def text_frame(payload: bytes) -> bytes:
    """Frame a text message as a server does (RFC 6455, section 5.2): whole, and not masked.

    Must agree with ``websockets.frames.Frame(Opcode.TEXT, payload).serialize(mask=False)``.
    """
    size = len(payload)
    if size < 126:
        return bytes((TEXT, size)) + payload
    if size < 65536:
        return bytes((TEXT, 126, size >> 8, size & 255)) + payload
    return bytes((TEXT, 127)) + size.to_bytes(8, "big") + payload


class Cork:
    """The outboxes of a server that have frames to write at the end of this turn of the loop."""

    __slots__ = ("_filled", "_loop", "_scheduled")

    def __init__(self, loop: AbstractEventLoop) -> None:
        self._loop = loop
        self._filled: list[Outbox] = []
        self._scheduled = False

    def add(self, outbox: Outbox) -> None:
        self._filled.append(outbox)
        if not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self.flush)

    def flush(self) -> None:
        """Write what every outbox has gathered."""
        self._scheduled = False
        filled, self._filled = self._filled, []
        for outbox in filled:
            try:
                outbox.flush()
            except Exception:
                LOG.exception("a connection could not be written to")
                outbox.close()


class Outbox:
    """The way out to one peer."""

    __slots__ = (
        "_allowance",
        "_cork",
        "_frames",
        "_lobbies",
        "_overflow",
        "_skipped",
        "_waiting",
        "_wire",
        "closed",
        "paused",
    )

    def __init__(
        self, wire: Wire, cork: Cork, allowance: Allowance, overflow: Callable[[], None]
    ) -> None:
        """`overflow` is called once more waits for the peer than is allowed."""
        self._wire = wire
        self._cork = cork
        self._allowance = allowance
        self._overflow = overflow
        self._frames: list[bytes] = []
        self._waiting = 0
        """Bytes in `_frames` while paused."""
        self._skipped: dict[Source, None] | None = None
        """Matches whose news was dropped, and is until the peer knows where they are."""
        self._lobbies: dict[str, bytes] | None = None
        """The newest news of each lobby while paused."""
        self.paused = False
        self.closed = False

    def send(self, frame: bytes) -> None:
        """Send what must not be dropped: an answer, or a player's news."""
        if self.closed:
            return
        frames = self._frames
        if self.paused:
            self._hold(frame)
            return
        if not frames:
            self._cork.add(self)
        frames.append(frame)

    def show(self, frame: bytes, source: Source) -> None:
        """Send a spectator's news of a match, unless the peer is behind."""
        skipped = self._skipped
        if not self.paused and (skipped is None or source not in skipped):
            self.send(frame)
        elif not self.closed:
            if skipped is None:
                skipped = self._skipped = {}
            skipped[source] = None

    def post(self, frame: bytes, lobby: str) -> None:
        """Send news of a lobby, which replaces older news that still waits."""
        if not self.paused:
            self.send(frame)
        elif not self.closed:
            if self._lobbies is None:
                self._lobbies = {}
            self._lobbies[lobby] = frame

    def flush(self) -> None:
        frames = self._frames
        if not frames or self.paused or self.closed:
            return
        self._frames = []
        self._wire.write(frames[0] if len(frames) == 1 else b"".join(frames))

    def pause(self) -> None:
        """The transport is full."""
        self.paused = True
        self._waiting = sum(map(len, self._frames))

    def resume(self) -> None:
        """The transport has room again: send what waited, then tell what was skipped."""
        self.paused = False
        self._waiting = 0
        if self._frames:
            self._cork.add(self)
        lobbies, self._lobbies = self._lobbies, None
        for frame in (lobbies or {}).values():
            self.send(frame)
        for source in list(self._skipped or {}):
            source.catch_up(self)

    def caught_up(self, source: Source) -> None:
        """The peer is told the present state of a match: what comes after it may follow."""
        if self._skipped is not None:
            self._skipped.pop(source, None)
            self._skipped = self._skipped or None

    def close(self) -> None:
        """Drop what waits; nothing is sent any more."""
        self.closed = True
        self._frames = []
        self._skipped = self._lobbies = None

    def _hold(self, frame: bytes) -> None:
        self._frames.append(frame)
        self._waiting += len(frame)
        if self._waiting > self._allowance.frames_bytes:
            self._overflow()
