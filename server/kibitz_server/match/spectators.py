"""The spectators of one match: what they may see, and when.

Without a delay they receive each entry at the same time as the players. With a delay, entries wait
here until the match has advanced by the configured number of plies and milliseconds. New spectators
get a snapshot of the delayed state. When the match is over, all spectators get the waiting entries
and the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Literal, TypeAlias

from kibitz_protocol.wire.visibility import WantedViews, spectator_viewer
from kibitz_server.match.spectator_delay import DelayedView
from kibitz_server.match.visibility import EntryView, MatchViews
from kibitz_server.net.send_queue import SendQueue, send_news

WhenSettled: TypeAlias = Callable[[Callable[[], None]], None]
"""Calls the callback once all entries of the match are durable and announced."""
SnapshotReason: TypeAlias = Literal["watching", "lagged"]


class Spectators:
    """Spectators of a match.

    If `delayed` is None, the runner sends them each durable entry together with the players'
    frames. Otherwise it passes every entry to `publish`.
    """

    __slots__ = ("_left_ms", "_new", "_views", "_when_settled", "delayed", "queues", "viewer")

    def __init__(
        self, views: MatchViews, when_settled: WhenSettled, left_ms: Callable[[], int | None]
    ) -> None:
        """`left_ms` returns the time left of the seat to act; None without a clock."""
        self._views = views
        self._when_settled = when_settled
        self._left_ms = left_ms
        setup = views.state.setup
        self.viewer = spectator_viewer(setup.spectating)
        """The viewer whose view the spectators get; None if the host does not admit spectators."""
        late = setup.spectating.delay_plies or setup.spectating.delay_ms
        self.delayed = (
            DelayedView(views.state, self.viewer) if late and self.viewer is not None else None
        )
        """The view of delayed spectators; None without a delay or when the match is over."""
        self.queues: dict[SendQueue, WantedViews] = {}
        self._new: set[SendQueue] | None = None
        """The queues waiting for their first snapshot."""

    @property
    def seq(self) -> int:
        """The number of the newest entry that spectators may see."""
        return self._views.state.seq if self.delayed is None else self.delayed.seq

    def add(self, queue: SendQueue, wanted: WantedViews) -> None:
        """Add a spectator, and send it a snapshot. All entries must be durable."""
        self.queues[queue] = wanted
        queue.caught_up(self)
        queue.send(self._snapshot("watching", wanted))

    def add_waiting(self, queue: SendQueue, wanted: WantedViews) -> None:
        """Add a spectator that gets its first snapshot later, when the queue asks for it."""
        self.queues[queue] = wanted
        if wanted == "drawn":
            self._views.drawn = True
        if self._new is None:
            self._new = set()
        self._new.add(queue)
        queue.skip(self)

    def remove(self, queue: SendQueue) -> None:
        self.queues.pop(queue, None)
        self._take_new(queue)
        queue.caught_up(self)

    def send_snapshot(self, queue: SendQueue) -> None:
        """Send a snapshot to a spectator that was too slow, or that has not received one yet."""
        self._when_settled(lambda: self._resend_snapshot(queue))

    def _resend_snapshot(self, queue: SendQueue) -> None:
        wanted = self.queues.get(queue)
        if wanted is not None and not queue.paused:
            queue.caught_up(self)
            why: SnapshotReason = "watching" if self._take_new(queue) else "lagged"
            queue.send(self._snapshot(why, wanted))

    def _take_new(self, queue: SendQueue) -> bool:
        """Remove a queue from those waiting for a first snapshot; return whether it was waiting."""
        if self._new is None or queue not in self._new:
            return False
        self._new.remove(queue)
        self._new = self._new or None
        return True

    def take_over(self, former: Spectators) -> None:
        """Take over the spectators of another `Spectators` of the same match.

        Both must be at the same entry, and `former` must have published all entries up to it. This
        one must have no spectators yet. Then no spectator receives an event twice, and those that
        are behind still get their snapshot.
        """
        self.delayed = former.delayed
        self.queues, former.queues = former.queues, {}
        self._new, former._new = former._new, None
        self._views.drawn = self.delayed is not None or "drawn" in self.queues.values()
        for queue in list(self.queues):
            if queue.is_skipped(former):
                queue.caught_up(former)
                queue.skip(self)
                queue.catch_up()

    def restore_delay(self, views: Iterable[EntryView], now: int) -> None:
        """Restore the delayed state and the waiting entries after a restart."""
        if self.delayed is not None:
            self.delayed.restore(views, now)

    def publish(self, view: EntryView, now: int) -> None:
        """Send a durable entry, or delay it until it is due, and send all that are due."""
        if self.delayed is None:
            self._send_event(view)
        else:
            self.delayed.add(view, now)
            self.publish_due(now)

    def publish_due(self, now: int) -> None:
        """Send the waiting entries that are due."""
        if self.delayed is not None:
            for view in self.delayed.take_due(now):
                self._send_event(view)

    def publish_rest(self) -> None:
        """Send all waiting entries, because the match is over."""
        if self.delayed is not None:
            for view in self.delayed.take_rest():
                self._send_event(view)
            self.delayed = None

    def deadline(self) -> int | None:
        """The time at which `publish_due` must be called if no more moves are played."""
        return None if self.delayed is None else self.delayed.deadline()

    def finish(
        self, frame: Callable[[WantedViews], bytes], queues: Sequence[SendQueue] | None = None
    ) -> None:
        """Send the end of the match to `queues` or all spectators, with the views that each wants.

        A slow spectator gets the last snapshot and the end when its queue has drained. So the ends
        of many matches cannot fill the queue of a peer that watches all of them.
        """
        last: dict[tuple[SnapshotReason, WantedViews], LastNews] = {}
        for queue in list(self.queues) if queues is None else queues:
            wanted = self.queues[queue]
            if not queue.is_behind(self):
                queue.send(frame(wanted))
                continue
            why: SnapshotReason = "watching" if self._take_new(queue) else "lagged"
            if (why, wanted) not in last:
                snapshot = partial(self._snapshot, why, wanted)
                position = self._views.shown_at_end(snapshot, b"")
                last[why, wanted] = LastNews(position + frame(wanted))
            # If the queue's snapshot was requested but waits for the disk, it would arrive too
            # late.
            self.remove(queue)
            queue.skip(last[why, wanted])
            queue.catch_up()

    def _send_event(self, view: EntryView) -> None:
        frames = view.spectator_frames(self.viewer, self.queues.values())
        send_news((), self.queues, frames, self)

    def _snapshot(self, why: SnapshotReason, wanted: WantedViews) -> bytes:
        if self.viewer is None:
            raise AssertionError("a match that is not shown has no spectators")
        left = self._left_ms()
        views, shown = self._views, None
        snapshot = views.snapshot(self.viewer, why, left_ms=left)
        if self.delayed is not None:
            snapshot, shown = self.delayed.rewind(snapshot), self.delayed.shown
        return views.snapshot_frame(snapshot, self.viewer, wanted, shown)


class LastNews:
    """The last snapshot of a match and its end, for spectators who were behind when it ended.

    Spectators with the same view share one. It has no reference to the match, which frees the
    match's memory.
    """

    __slots__ = ("_frames",)

    def __init__(self, frames: bytes) -> None:
        self._frames = frames

    def send_snapshot(self, queue: SendQueue) -> None:
        queue.caught_up(self)
        queue.send(self._frames)
