"""The spectators of one match: what they may see, and how late.

Without a delay they receive each entry together with the players. With one, entries wait here until
the match has gone on by so many plies and so many milliseconds. New spectators get a snapshot of
the moment that is shown, and nothing later reaches any spectator. All is revealed when the match is
over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Literal, TypeAlias

from kibitz_protocol.wire.visibility import WantedViews, spectator_viewer
from kibitz_server.match.spectator_delay import DelayedView
from kibitz_server.match.visibility import EntryView, MatchViews
from kibitz_server.net.send_queue import SendQueue

WhenSettled: TypeAlias = Callable[[Callable[[], None]], None]
"""Calls back once nothing of the match waits for the disk."""
SnapshotReason: TypeAlias = Literal["watching", "lagged"]


class Spectators:
    """Spectators of a match.

    As long as `delayed` is None the runner sends them each durable entry with the players' frames;
    otherwise it hands every entry to `delay`.
    """

    __slots__ = ("_left_ms", "_new", "_views", "_when_settled", "delayed", "queues", "viewer")

    def __init__(
        self, views: MatchViews, when_settled: WhenSettled, left_ms: Callable[[], int | None]
    ) -> None:
        """`left_ms` returns how much of its time the seat to act has left, None without a clock."""
        self._views = views
        self._when_settled = when_settled
        self._left_ms = left_ms
        setup = views.state.setup
        self.viewer = spectator_viewer(setup.spectating)
        """The spectators' viewer, None if the host does not admit spectators."""
        late = setup.spectating.delay_plies or setup.spectating.delay_ms
        self.delayed = (
            DelayedView(views.state, self.viewer) if late and self.viewer is not None else None
        )
        """The view of delayed spectators; None without a delay and when the match is over."""
        self.queues: dict[SendQueue, WantedViews] = {}
        self._new: set[SendQueue] | None = None
        """The queues that wait for their first snapshot."""

    @property
    def open(self) -> bool:
        """Whether the host admits spectators at all."""
        return self.viewer is not None

    @property
    def seq(self) -> int:
        """The newest entry that spectators may see."""
        return self._views.state.seq if self.delayed is None else self.delayed.seq

    def add(self, queue: SendQueue, wanted: WantedViews) -> None:
        """Show the match from now on, beginning with a snapshot; nothing may wait for the disk."""
        self.queues[queue] = wanted
        queue.caught_up(self)
        queue.send(self._snapshot("watching", wanted))

    def add_waiting(self, queue: SendQueue, wanted: WantedViews) -> None:
        """Show the match from the snapshot on that the queue asks for in its turn."""
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
        """Send the present position to a spectator who was too slow, or waits for its turn."""
        self._when_settled(lambda: self._resend_snapshot(queue))

    def _resend_snapshot(self, queue: SendQueue) -> None:
        wanted = self.queues.get(queue)
        if wanted is None:
            queue.caught_up(self)
        elif not queue.paused:
            queue.caught_up(self)
            why: SnapshotReason = "watching" if self._take_new(queue) else "lagged"
            queue.send(self._snapshot(why, wanted))

    def _take_new(self, queue: SendQueue) -> bool:
        """Forget that a queue waits for its first snapshot; return whether it did."""
        if self._new is None or queue not in self._new:
            return False
        self._new.remove(queue)
        self._new = self._new or None
        return True

    def take_over(self, former: Spectators) -> None:
        """Show the match from now on to the spectators of another `Spectators` of it.

        Both stand at the same entry, everything before it was published there, and nobody watches
        here yet. So no spectator receives anything twice, and slow spectators keep their place.
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
        """Restore, after a restart, the moment that was shown and the entries that were waiting."""
        if self.delayed is not None:
            self.delayed.restore(views, now)

    def publish(self, view: EntryView, now: int) -> None:
        """Show a durable entry, or hold it until it is due."""
        if self.delayed is None:
            self._send_event(view)
        else:
            self.delay(view, now)

    def delay(self, view: EntryView, now: int) -> None:
        """Take a durable entry, and show what is due."""
        if self.delayed is not None:
            self.delayed.add(view, now)
            self.publish_due(now)

    def publish_due(self, now: int) -> None:
        """Show the waiting entries that are due."""
        if self.delayed is not None:
            for view in self.delayed.take_due(now):
                self._send_event(view)

    def publish_rest(self) -> None:
        """Show everything: the match is over."""
        if self.delayed is not None:
            for view in self.delayed.take_rest():
                self._send_event(view)
            self.delayed = None

    def deadline(self) -> int | None:
        """The time at which `publish_due` has something to show, if the match stands still."""
        return None if self.delayed is None else self.delayed.deadline()

    def finish(
        self, frame: Callable[[WantedViews], bytes], queues: Sequence[SendQueue] | None = None
    ) -> None:
        """Send the durable end to `queues`, or everybody, by the views that each wants.

        A slow spectator gets the last position and the end in its turn. Otherwise the ends of many
        matches would fill the queue of a peer that watches all of them.
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
            # A snapshot that was asked for already, and waits for the disk, would come too late.
            self.remove(queue)
            queue.skip(last[why, wanted])
            queue.catch_up()

    def _send_event(self, view: EntryView) -> None:
        frames = view.spectator_frames(self.viewer, self.queues.values())
        for queue, wanted in self.queues.items():
            queue.send_droppable(frames[wanted], self)

    def _snapshot(self, why: SnapshotReason, wanted: WantedViews) -> bytes:
        if self.viewer is None:
            raise AssertionError("nobody watches a match that is not shown")
        left = self._left_ms()
        views, shown = self._views, None
        snapshot = views.snapshot(self.viewer, why, left_ms=left)
        if self.delayed is not None:
            snapshot, shown = self.delayed.rewind(snapshot), self.delayed.shown
        return views.snapshot_frame(snapshot, self.viewer, wanted, shown)


class LastNews:
    """The last snapshot of a match and its end, for spectators who were behind when it ended.

    Spectators with the same view share one, and it keeps nothing of the match alive.
    """

    __slots__ = ("_frames",)

    def __init__(self, frames: bytes) -> None:
        self._frames = frames

    def send_snapshot(self, queue: SendQueue) -> None:
        queue.caught_up(self)
        queue.send(self._frames)
