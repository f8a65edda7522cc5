"""Hold until durable: announcements of a match or a lobby wait here for the entries behind them.

A runner (`match/runner.py`, `lobby/runner.py`) appends entries to its stream, and hands every
announcement to its `PendingQueue`, with the number of the entry that must be on the disk first.
The queue releases them in that order. So a crash cannot take back anything announced, and nothing
overtakes what was held before it.

    engine --effects--> runner --append--> store ... commit ... runner.durable(seq)
                          |                                           |
                          +--hold(seq, release)--> PendingQueue --durable(seq)--> release()

The queue holds any callable. A `HeldAnswer` also knows which request it answers. When the entries
are lost (the disk was full, or the runner's state got ahead of its log), the match or lobby is
reloaded from the disk (`directory/reload.py`). Until then its requests are refused as
`unavailable`, with the time after which the client may resend them: a move that was written after
all is answered as the first time.

The runner is the waiter of its stream, and passes `durable` and `lost` on:

    def durable(self, seq):                     def lost(self, error):
        if self._pending.durable(seq):              self.suspend()
            ...  # all that was held was released   self._pending.lost()
                                                    self._context.log_lost(self, error)
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Protocol, TypeAlias

from kibitz_protocol.wire.refusals import Code
from kibitz_server.storage.streams import Stream

LOG = logging.getLogger("kibitz.pending")
Release: TypeAlias = Callable[[], object]
"""Announces something that is durable now."""
BEING_RELOADED = "its log is read again from the disk; send the request again soon"
"""The message of refusals while a match or lobby is reloaded."""
RESEND_AFTER_MS = 200
"""The time after which they may be resent: short, since the clock of a move may run meanwhile."""


class Requester(Protocol):
    """The part of a connection (`net.peer.Peer`) that this module uses."""

    @property
    def leaving(self) -> bool: ...

    def fail(
        self, request: int, code: Code = ..., message: str = ..., retry_after_ms: int = ...
    ) -> None:
        """Refuse a request, unless it was answered."""


class HeldAnswer:
    """The answer to a request of a connection, which waits for the disk; calling it sends it."""

    __slots__ = ("_answer", "number", "peer")

    def __init__(self, peer: Requester, number: int, answer: Release) -> None:
        self.peer = peer
        self.number = number
        self._answer = answer

    def __call__(self) -> None:
        self._answer()

    def fail(self) -> None:
        """Answer that something went wrong, unless the request was answered."""
        if not self.peer.leaving:
            self.peer.fail(self.number)


class PendingQueue:
    """The queue of callbacks that wait for entries of one stream."""

    __slots__ = ("_name", "_on_error", "_shutdown", "_stream", "_waiting")

    def __init__(
        self, name: str, stream: Stream, on_error: Callable[[], None] | None = None
    ) -> None:
        """`name` is for the log; `on_error` is called after a released callback has raised.

        The error is logged, a request that raised is answered, and the queue releases the rest.
        """
        self._name = name
        self._stream = stream
        self._on_error = on_error
        self._waiting: list[tuple[int, Release]] = []
        self._shutdown = False

    # --- waiting for the disk -----------------------------------------------------------------

    @property
    def settled(self) -> bool:
        """Whether all entries are durable, and every callback was released."""
        return not self._waiting and self.durable_to_tail

    @property
    def durable_to_tail(self) -> bool:
        """Whether all entries are durable, though callbacks may still wait."""
        return self._stream.tail <= self._stream.durable

    def hold(self, seq: int, release: Release) -> None:
        """Release once entry `seq` is durable and everything held before was released.

        That may be at once, before this returns.
        """
        if self._waiting or seq > self._stream.durable:
            self._waiting.append((seq, release))
        elif not self._release(release):
            self._report_error()

    def hold_answer(self, seq: int, peer: Requester, number: int, answer: Release) -> None:
        """Answer a request as `hold` releases."""
        self.hold(seq, HeldAnswer(peer, number, answer))

    def hold_for_commit(self, seq: int, release: Release) -> None:
        """Release with the next commit reported for `seq`, even if that entry is durable.

        For writes beside the entries, such as the end of the stream.
        """
        self._waiting.append((seq, release))

    def when_settled(self, release: Release) -> None:
        """Release once nothing waits for the disk, so that the present state may be announced.

        It waits for entries added meanwhile too, but not for other callers of this method.
        """
        if self.settled:
            self.hold(0, release)
            return
        tail = self._stream.tail

        def settle() -> None:
            if self._stream.tail == tail:
                release()
            else:
                self.when_settled(release)

        waiting: Release = settle
        if isinstance(release, HeldAnswer):
            waiting = HeldAnswer(release.peer, release.number, settle)
        self._waiting.append((tail, waiting))

    def durable(self, seq: int) -> bool:
        """Release the callbacks that wait for entries up to `seq`, which are durable now.

        Return whether none waits any more, and none of these has raised.
        """
        waiting = self._waiting
        sound = True
        while waiting and waiting[0][0] <= seq:
            release = waiting.pop(0)[1]
            try:  # `_release` in place: each move passes here
                release()
            except Exception:
                LOG.exception("%s cannot be told", self._name)
                self._fail_request(release)
                sound = False
        if not sound:
            self._report_error()
        return sound and not waiting

    def _release(self, release: Release) -> bool:
        try:
            release()
        except Exception:
            LOG.exception("%s cannot be told", self._name)
            self._fail_request(release)
            return False
        return True

    def _fail_request(self, release: Release) -> None:
        """If it is a request whose release has raised, answer it."""
        if isinstance(release, HeldAnswer):
            release.fail()

    def _report_error(self) -> None:
        if self._on_error is not None:
            self._on_error()

    # --- when the log is lost -----------------------------------------------------------------

    def lost(self, message: str = BEING_RELOADED) -> None:
        """Drop everything that waits for the disk, and refuse its requests."""
        waiting = [*self._waiting]
        self._waiting.clear()  # in place: `durable` may be going through it
        for _, release in waiting:
            if isinstance(release, HeldAnswer):
                self.turn_away(release.peer, release.number, message)

    def turn_away(self, peer: Requester, number: int, message: str = BEING_RELOADED) -> None:
        """Refuse a request to a runner that is closed: its log is reloaded or given up.

        In a shutdown it stays unanswered: the server closes the connections soon, and clients
        resend unanswered requests to the next server.
        """
        if not self._shutdown and not peer.leaving:
            peer.fail(number, Code.UNAVAILABLE, message, RESEND_AFTER_MS)

    def leave_unanswered(self) -> None:
        """Leave all further requests unanswered, as the server shuts down."""
        self._shutdown = True

    def reload_when_durable(self, reload: Callable[[], None]) -> None:
        """Call `reload` when the disk has the whole stream.

        For a runner whose state is ahead of its log: appended entries are still announced.
        """

        def hand_over() -> None:
            self._stream.failed = True
            self.lost()
            reload()

        self.hold(self._stream.tail, hand_over)

    def fail(self, peer: Requester | None, number: int) -> None:
        """Answer a request that raised, unless it waits here to be answered later."""
        waiting = [release for _, release in self._waiting if isinstance(release, HeldAnswer)]
        if peer is not None and not any(r.peer is peer and r.number == number for r in waiting):
            peer.fail(number)
