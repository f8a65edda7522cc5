"""Hold until durable: announcements of a match or a lobby wait here for the entries behind them.

A runner (`match/runner.py`, `lobby/runner.py`) appends entries to its stream, and hands every
announcement to its `PendingQueue`, with the number of the entry that must be on the disk first.
The queue releases them in that order. So a crash cannot take back anything announced, and nothing
overtakes what was held before it.

    engine --effects--> runner --append--> store ... commit ... runner.durable(seq)
                          |                                           |
                          +--hold(seq, release)--> PendingQueue --durable(seq)--> release()

The queue holds any callable. A `HeldRequest` is one that can also be retried. When the entries are
lost (the disk was full, or the runner's state got ahead of its log), the match or lobby is reloaded
from the disk (`directory/reload.py`). Nothing lost was ever announced, so its requests are not
refused. They are *postponed*, as are those that arrive meanwhile, and the new runner carries them
out in order.

The runner is the waiter of its stream, and passes `durable` and `lost` on:

    def durable(self, seq):                     def lost(self, error):
        if self._pending.durable(seq):              self.suspend()
            ...  # all that was held was released   self._pending.lost()
                                                    self._context.log_lost(self, error)
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Generic, Protocol, TypeAlias, TypeVar

from kibitz_protocol.wire.refusals import Code
from kibitz_server.storage.streams import Stream

LOG = logging.getLogger("kibitz.pending")
Release: TypeAlias = Callable[[], object]
"""Announces something that is durable now."""
MAX_POSTPONED = 256
"""Requests that wait for one match or lobby while it is reloaded; more are refused."""
_Runner = TypeVar("_Runner")


class Requester(Protocol):
    """The part of a connection (`net.peer.Peer`) that this module uses."""

    @property
    def leaving(self) -> bool: ...

    def fail(self, request: int, code: Code = Code.INTERNAL, message: str = "") -> None:
        """Refuse a request, unless it was answered."""


class HeldRequest(ABC, Generic[_Runner]):
    """A held request of a connection; calling it answers it."""

    __slots__ = ("number", "peer")

    def __init__(self, peer: Requester | None, number: int) -> None:
        self.peer = peer
        self.number = number

    @abstractmethod
    def __call__(self) -> None:
        """Answer it, as its entries are durable."""

    @abstractmethod
    def retry(self, runner: _Runner) -> object:
        """Carry it out on the new runner."""

    def refuse(self, message: str) -> None:
        """Answer that it cannot be carried out now, unless it was answered."""
        if self.peer is not None and not self.peer.leaving:
            self.peer.fail(self.number, Code.UNAVAILABLE, message)

    def fail(self) -> None:
        """Answer that something went wrong with it, unless it was answered."""
        if self.peer is not None and not self.peer.leaving:
            self.peer.fail(self.number)


class Request(HeldRequest[_Runner]):
    """A request made of two calls, one to answer it and one to retry it."""

    __slots__ = ("_retry", "answer")

    def __init__(
        self,
        retry: Callable[[_Runner], object],
        peer: Requester | None = None,
        number: int = 0,
        answer: Release | None = None,
    ) -> None:
        super().__init__(peer, number)
        self._retry = retry
        self.answer = answer

    def __call__(self) -> None:
        if self.answer is not None:
            self.answer()

    def retry(self, runner: _Runner) -> object:
        return self._retry(runner)


class PendingQueue(Generic[_Runner]):
    """The queue of callbacks that wait for entries of one stream."""

    __slots__ = ("_name", "_on_error", "_postponed", "_stream", "_waiting")

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
        self._postponed: list[HeldRequest[_Runner]] | None = None
        """Requests to carry out after the log is reloaded; None while it is sound."""

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

    def hold_answer(
        self,
        seq: int,
        retry: Callable[[_Runner], object],
        peer: Requester | None,
        number: int,
        answer: Release,
    ) -> None:
        """Answer a request as `hold` does; `retry` carries it out again, as in `Request`."""
        self.hold(seq, Request(retry, peer, number, answer))

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
        if isinstance(release, HeldRequest):
            waiting = Request(release.retry, release.peer, release.number, settle)
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
        if isinstance(release, HeldRequest):
            release.fail()

    def _report_error(self) -> None:
        if self._on_error is not None:
            self._on_error()

    # --- requests whose entries are lost --------------------------------------------------------

    @property
    def reloading(self) -> bool:
        """Whether requests are postponed until the log is reloaded."""
        return self._postponed is not None

    def lost(self) -> None:
        """Drop what waits for the disk, except requests: postpone those, and new ones."""
        if self._postponed is None:
            self._postponed = []
        for _, release in self._waiting:
            if isinstance(release, HeldRequest):
                self.postpone(release)
        self._waiting.clear()

    def reload_when_durable(self, reload: Callable[[], None]) -> None:
        """Postpone new requests; when the disk has the whole stream, fail it and call `reload`.

        For a runner whose state is ahead of its log: appended entries are still announced.
        """
        self._postponed = []

        def hand_over() -> None:
            self._stream.failed = True
            self.lost()
            reload()

        self.hold(self._stream.tail, hand_over)

    def postpone(self, request: HeldRequest[_Runner]) -> None:
        """Keep a request until the log is reloaded, or refuse it if it will not be."""
        if self._postponed is None:
            request.refuse("the server is going down")
        elif len(self._postponed) >= MAX_POSTPONED:
            request.refuse("too many requests wait for this log to be read again")
        else:
            self._postponed.append(request)

    def leave_unanswered(self) -> None:
        """Leave all further requests unanswered, as the server shuts down.

        It closes the connections soon, and clients repeat unanswered requests at the next server.
        """
        if self._postponed is None:
            self._postponed = []

    def retry_postponed(self, runner: _Runner) -> None:
        """Carry out the postponed requests on the new runner."""
        postponed, self._postponed = self._postponed or [], []
        for request in postponed:
            try:
                request.retry(runner)
            except Exception:
                LOG.exception("%s: a request that was lost", self._name)
                request.fail()

    def refuse_postponed(self, message: str) -> None:
        """Refuse the postponed requests, as there will be no new runner."""
        postponed, self._postponed = self._postponed or [], []
        for request in postponed:
            request.refuse(message)

    def fail(self, peer: Requester | None, number: int) -> None:
        """Answer a request that raised, unless it waits here to be answered later."""
        waiting = [release for _, release in self._waiting if isinstance(release, HeldRequest)]
        requests = [*waiting, *(self._postponed or [])]
        if peer is not None and not any(r.peer is peer and r.number == number for r in requests):
            peer.fail(number)
