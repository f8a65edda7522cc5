"""Holds announcements of a match or lobby until the log entries behind them are durable.

A runner (`net/log_runner.py`) appends entries to its stream, and passes every
announcement to its `PendingQueue`, with the number of the entry that must be on disk first. The
queue releases them in order. So a crash cannot undo anything that clients have received, and
announcements stay in order.

    engine --effects--> runner --append--> store ... commit ... runner.durable(seq)
                          |                                           |
                          +--hold(seq, release)--> PendingQueue --durable(seq)--> release()

The queue holds any callable. A `HeldAnswer` also contains the request that it answers. If entries
are lost because the disk was full, or the runner's state is ahead of its log, the server reloads
the match or lobby from disk (`directory/reload.py`). Until then it refuses requests to it as
`unavailable`, with the time after which the client may resend them. If the original move was
written after all, the resent one gets the original answer.

The runner is its stream's waiter, and forwards `durable` and `lost` to its queue.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Protocol, TypeAlias

from kibitz_protocol.wire.refusals import Code
from kibitz_server.storage.streams import Stream

LOG = logging.getLogger("kibitz.pending")
ErrorHandler: TypeAlias = Callable[[], Callable[[], None] | None]
"""A reference, possibly weak, to a function to call after an announcement has raised."""
Release: TypeAlias = Callable[[], object]
"""A callback that sends an announcement once its entries are durable."""
BEING_RELOADED = "the server is reloading it from disk; resend the request soon"
"""The refusal message while a match or lobby is being reloaded."""
RESEND_AFTER_MS = 200
"""Milliseconds after which clients may resend requests: short, because a move's clock may be
running."""


def no_handler() -> None:
    """Refer to no function."""


class Requester(Protocol):
    """The interface of a connection (`net.peer.Peer`) that this module uses."""

    @property
    def leaving(self) -> bool: ...

    def fail(
        self, request: int, code: Code = ..., message: str = ..., retry_after_ms: int = ...
    ) -> None:
        """Refuse a request, unless it was already answered."""


class HeldAnswer:
    """An answer to a connection's request that waits for the disk; calling it sends the answer."""

    __slots__ = ("_answer", "number", "peer")

    def __init__(self, peer: Requester, number: int, answer: Release) -> None:
        self.peer = peer
        self.number = number
        self._answer = answer

    def __call__(self) -> None:
        self._answer()

    def fail(self) -> None:
        """Answer with an internal error, unless the request was already answered."""
        if not self.peer.leaving:
            self.peer.fail(self.number)


class PendingQueue:
    """A queue of callbacks that wait for entries of one stream to become durable."""

    __slots__ = ("_name", "_on_error", "_shutdown", "_stream", "_waiting")

    def __init__(
        self,
        name: str,
        stream: Stream,
        on_error: ErrorHandler = no_handler,
    ) -> None:
        """`name` is for log messages; `on_error` is called after a released callback has raised.

        The queue logs the error, answers the request if the callback was an answer, and releases
        the rest.
        """
        self._name = name
        self._stream = stream
        self._on_error = on_error
        self._waiting: list[tuple[int, Release]] = []
        self._shutdown = False

    # --- waiting for the disk -----------------------------------------------------------------

    @property
    def settled(self) -> bool:
        """Whether all entries are durable and all callbacks were released."""
        return not self._waiting and self.durable_to_tail

    @property
    def durable_to_tail(self) -> bool:
        """Whether all entries are durable, though callbacks may still wait."""
        return self._stream.tail <= self._stream.durable

    def hold(self, seq: int, release: Release) -> None:
        """Call `release` once entry `seq` is durable and all earlier callbacks were released.

        It may be called at once, before this method returns.
        """
        if self._waiting or seq > self._stream.durable:
            self._waiting.append((seq, release))
        elif not self._release(release):
            self._report_error()

    def hold_answer(self, seq: int, peer: Requester, number: int, answer: Release) -> None:
        """Answer a request at the time when `hold` would release it."""
        self.hold(seq, HeldAnswer(peer, number, answer))

    def hold_for_commit(self, seq: int, release: Release) -> None:
        """Call `release` after the next commit for `seq`, even if `seq` is already durable.

        Meant for writes other than entries, such as closing the stream.
        """
        self._waiting.append((seq, release))

    def when_settled(self, release: Release) -> None:
        """Call `release` once all entries are durable and announced.

        It also waits for entries added in the meantime, but not for other callers of this method.
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
        """Release the callbacks that wait for entries up to `seq`, which are now durable.

        Return whether the queue is empty and none of these callbacks raised.
        """
        waiting = self._waiting
        sound = True
        while waiting and waiting[0][0] <= seq:
            sound &= self._release(waiting.pop(0)[1])
        if not sound:
            self._report_error()
        return sound and not waiting

    def _release(self, release: Release) -> bool:
        try:
            release()
        except Exception:
            LOG.exception("%s: a callback raised an exception", self._name)
            if isinstance(release, HeldAnswer):
                release.fail()
            return False
        return True

    def _report_error(self) -> None:
        on_error = self._on_error()
        if on_error is not None:
            on_error()

    # --- after entries were lost --------------------------------------------------------------

    def lost(self) -> None:
        """Drop all waiting callbacks, and refuse the requests among them."""
        waiting = [*self._waiting]
        self._waiting.clear()  # in place: `durable` may be iterating over it
        for _, release in waiting:
            if isinstance(release, HeldAnswer):
                self.turn_away(release.peer, release.number)

    def turn_away(self, peer: Requester, number: int) -> None:
        """Refuse a request to a closed runner, whose log is being reloaded.

        During a shutdown the request stays unanswered: the server closes the connections soon, and
        clients resend unanswered requests to the next server.
        """
        if not self._shutdown and not peer.leaving:
            peer.fail(number, Code.UNAVAILABLE, BEING_RELOADED, RESEND_AFTER_MS)

    def leave_unanswered(self) -> None:
        """Leave all further requests unanswered, as the server shuts down."""
        self._shutdown = True

    def reload_when_durable(self, reload: Callable[[], None]) -> None:
        """Call `reload` when the whole stream is on disk.

        Meant for a runner with a state that is ahead of its log. Entries already appended are still
        announced.
        """

        def hand_over() -> None:
            self._stream.failed = True
            self.lost()
            reload()

        self.hold(self._stream.tail, hand_over)

    def fail(self, peer: Requester | None, number: int) -> None:
        """Answer a request that raised an error, unless its answer is already waiting here."""
        waiting = [release for _, release in self._waiting if isinstance(release, HeldAnswer)]
        if peer is not None and not any(r.peer is peer and r.number == number for r in waiting):
            peer.fail(number)
