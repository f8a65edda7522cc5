"""Hold until durable: what a match or a lobby tells waits here for the entries that it is about.

A runner (`match/runner.py`, `lobby/runner.py`) appends entries to its stream, and hands everything
that it wants to tell to its `PendingQueue`, with the number of the entry that must be on the disk
first. The queue releases it in that order, so nobody is told what a crash could take back, and
nothing overtakes what was held before it.

    engine --effects--> runner --append--> store ... commit ... runner.durable(seq)
                          |                                           |
                          +--hold(seq, release)--> PendingQueue --durable(seq)--> release()

What is held is any callable. A `HeldRequest` is one that also knows how to be carried out again.
When the entries are lost (the disk was full, or the runner's state got ahead of its log), its match
or lobby is loaded again from the disk (`directory/reload.py`). Nobody was told anything of what was
lost, so its requests are not refused: they are *postponed*, as are those that come meanwhile, and
the runner that takes over carries them out in their order.

The runner's part: it is the waiter of its stream, and passes `durable` and `lost` on.

    def durable(self, seq):                     def lost(self, error):
        if self._pending.durable(seq):              self.suspend()
            ...  # all that was held was told       self._pending.lost()
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
"""Tells what is durable now."""
MAX_POSTPONED = 256
"""How many requests wait for one match or lobby that is being loaded; more are refused."""
_Runner = TypeVar("_Runner")


class Requester(Protocol):
    """What is needed of a connection (`net.peer.Peer`)."""

    @property
    def leaving(self) -> bool: ...

    def fail(self, request: int, code: Code = Code.INTERNAL, message: str = "") -> None:
        """Refuse a request, unless it is answered already."""


class HeldRequest(ABC, Generic[_Runner]):
    """A request of a connection that is held; to call it is to answer it."""

    __slots__ = ("number", "peer")

    def __init__(self, peer: Requester | None, number: int) -> None:
        self.peer = peer
        self.number = number

    @abstractmethod
    def __call__(self) -> None:
        """Answer it: what it is about is durable now."""

    @abstractmethod
    def retry(self, runner: _Runner) -> object:
        """Carry it out on the runner that has taken over."""

    def refuse(self, message: str) -> None:
        """Answer that it cannot be carried out now, if it is not answered already."""
        if self.peer is not None and not self.peer.leaving:
            self.peer.fail(self.number, Code.UNAVAILABLE, message)

    def fail(self) -> None:
        """Answer that something went wrong with it, if it is not answered already."""
        if self.peer is not None and not self.peer.leaving:
            self.peer.fail(self.number)


class Request(HeldRequest[_Runner]):
    """A request that is answered, and carried out again, by calls that it is given."""

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
    """What waits for the entries of one stream."""

    __slots__ = ("_name", "_on_error", "_postponed", "_stream", "_waiting")

    def __init__(
        self, name: str, stream: Stream, on_error: Callable[[], None] | None = None
    ) -> None:
        """`name` is for the log; `on_error` is called after something that was released raised.

        The error is logged, a request that raised is answered, and what else is due is released.
        """
        self._name = name
        self._stream = stream
        self._on_error = on_error
        self._waiting: list[tuple[int, Release]] = []
        self._postponed: list[HeldRequest[_Runner]] | None = None
        """What is carried out after the log was read again; None while it is sound."""

    # --- what waits for the disk --------------------------------------------------------------

    @property
    def settled(self) -> bool:
        """Whether all entries are durable, and all that was held was released."""
        return not self._waiting and self.durable_to_tail

    @property
    def durable_to_tail(self) -> bool:
        """Whether all entries are durable, though what waited for them may still be held."""
        return self._stream.tail <= self._stream.durable

    def hold(self, seq: int, release: Release) -> None:
        """Release once entry `seq` is durable and what is held already was released.

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
        """Answer a request as `hold` releases; `retry` carries it out again, as in `Request`."""
        self.hold(seq, Request(retry, peer, number, answer))

    def hold_for_commit(self, seq: int, release: Release) -> None:
        """Release with the next commit that is told for `seq`, even if that entry is durable.

        For what is written beside the entries, such as the end of the stream.
        """
        self._waiting.append((seq, release))

    def when_settled(self, release: Release) -> None:
        """Release once nothing at all waits for the disk, so that the present state may be told.

        What has been added until then is waited for as well; others who wait for the same are not.
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
        """Release what waits for entries up to `seq`, which are durable now.

        Return whether nothing waits any more, and nothing of this has raised.
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
        """Answer the request, if it is one, whose release has raised."""
        if isinstance(release, HeldRequest):
            release.fail()

    def _report_error(self) -> None:
        if self._on_error is not None:
            self._on_error()

    # --- requests whose entries are lost --------------------------------------------------------

    @property
    def reloading(self) -> bool:
        """Whether requests are postponed until the log was read again."""
        return self._postponed is not None

    def lost(self) -> None:
        """Drop what waits for the disk, and postpone the requests among it, and those that come."""
        if self._postponed is None:
            self._postponed = []
        for _, release in self._waiting:
            if isinstance(release, HeldRequest):
                self.postpone(release)
        self._waiting.clear()

    def reload_when_durable(self, reload: Callable[[], None]) -> None:
        """Postpone requests from now on; when the disk has the whole stream, fail it and `reload`.

        For a runner whose state is ahead of its log: what was appended is still told.
        """
        self._postponed = []

        def hand_over() -> None:
            self._stream.failed = True
            self.lost()
            reload()

        self.hold(self._stream.tail, hand_over)

    def postpone(self, request: HeldRequest[_Runner]) -> None:
        """Keep a request until the log was read again, or refuse it where nobody will."""
        if self._postponed is None:
            request.refuse("the server is going down")
        elif len(self._postponed) >= MAX_POSTPONED:
            request.refuse("too many requests wait for this log to be read again")
        else:
            self._postponed.append(request)

    def leave_unanswered(self) -> None:
        """Answer no request that comes from now on: the server goes down.

        Its connections are closed soon, and clients ask the next server what was not answered.
        """
        if self._postponed is None:
            self._postponed = []

    def retry_postponed(self, runner: _Runner) -> None:
        """Carry out the requests that were postponed on the runner that has taken over."""
        postponed, self._postponed = self._postponed or [], []
        for request in postponed:
            try:
                request.retry(runner)
            except Exception:
                LOG.exception("%s: a request that was lost", self._name)
                request.fail()

    def refuse_postponed(self, message: str) -> None:
        """Refuse the requests that were postponed: nobody takes over."""
        postponed, self._postponed = self._postponed or [], []
        for request in postponed:
            request.refuse(message)

    def fail(self, peer: Requester | None, number: int) -> None:
        """Answer a request that raised, unless it waits here and is answered later."""
        waiting = [release for _, release in self._waiting if isinstance(release, HeldRequest)]
        requests = [*waiting, *(self._postponed or [])]
        if peer is not None and not any(r.peer is peer and r.number == number for r in requests):
            peer.fail(number)
