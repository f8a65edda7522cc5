"""Sends durable entries, turns and the end of a match to its players and spectators."""

from __future__ import annotations

from functools import cache
from typing import Literal

from kibitz_protocol.wire.frames import done_frame
from kibitz_protocol.wire.refusals import Code
from kibitz_protocol.wire.visibility import WantedViews
from kibitz_server.match.commands import Refuse
from kibitz_server.match.seats import SeatPeers
from kibitz_server.match.shown import ShownMatch
from kibitz_server.match.spectators import Spectators
from kibitz_server.match.visibility import EntryView, MatchViews
from kibitz_server.metrics import Metrics
from kibitz_server.net.peer import Peer
from kibitz_server.net.send_queue import SendQueue, send_news

SEAT_IS_OUT = "the match continues without this seat; you will still receive its end"
"""The message to a seat that has dropped out; it replaces the message about the end."""


class MatchNews:
    """Sends what happens in one match to its players and spectators."""

    __slots__ = ("_seats", "_shown", "_spectators", "_views", "durable_at", "metrics")

    def __init__(
        self,
        views: MatchViews,
        seats: SeatPeers,
        shown: ShownMatch,
        spectators: Spectators,
        metrics: Metrics,
    ) -> None:
        self._views = views
        self._seats = seats
        self._shown = shown
        self._spectators = spectators
        self.metrics = metrics
        self.durable_at = 0
        """The time at which the store last reported durable entries."""

    def publish(
        self, view: EntryView, line: bytes, asker: Peer | None = None, answer: bytes = b""
    ) -> None:
        """Send everybody a durable entry; `line` is its line in the log.

        Afterwards the peer `asker`, if any, gets the answer to its request.
        """
        self._shown.announced_ply = view.ply
        spectators = self._spectators
        # A spectator who joins later may want drawings of the entries that are still delayed.
        delayed = drawn = spectators.delayed is not None
        watched = {} if delayed else spectators.queues
        # Build all frames before the first is sent, so that nothing is sent if one fails.
        outgoing: list[tuple[SendQueue, bytes]] = []
        frame, shown_to = b"", ""
        for seat, peer in enumerate(self._seats.subscribers):
            if peer is None:
                continue
            if peer.views != shown_to or not view.alike:
                shown_to = peer.views
                frame = view.frame(seat, shown_to, line)
                drawn = drawn or shown_to == "drawn"
            if peer is asker:
                outgoing.append((peer.send_queue, frame + answer))
                answer = b""
            else:
                outgoing.append((peer.send_queue, frame))
        shown = view.spectator_frames(spectators.viewer, watched.values(), line) if watched else {}
        self._views.drawn = drawn or "drawn" in shown
        if asker is not None and answer:
            outgoing.append((asker.send_queue, answer))
        send_news(outgoing, watched, shown, spectators)
        if delayed:
            spectators.publish(view, self.durable_at)

    def publish_move(
        self, view: EntryView, line: bytes, player: Peer, request: int, arrived: int
    ) -> None:
        """Send everybody a durable move, then the answer to its player."""
        ignored = player.unanswered.pop(request, ())
        self.publish(view, line, player, done_frame(request, view.entry.seq, ignored))
        self.metrics.move_ms[self.durable_at - arrived] += 1

    def send_new_turn(self, seat: int) -> None:
        """Send `your_turn` to the seat to act. All entries must be sent."""
        peer = self._seats.subscribers[seat]
        if peer is None:
            self._views.release()
        else:
            peer.send_queue.send(self._views.new_turn_frame(peer.views))

    def resend_turn(self, seat: int, left_ms: int | None) -> None:
        """Send `your_turn` again; `left_ms` is the time left of the open turn."""
        peer = self._seats.subscribers[seat]
        if peer is not None:
            peer.send_queue.send(self._views.turn_frame(left_ms, peer.views))

    def send_snapshot(
        self, seat: int, why: Literal["started", "rejoined"], left_ms: int | None
    ) -> None:
        """Send a seat the whole match from its point of view."""
        peer = self._seats.subscribers[seat]
        if peer is not None:
            snapshot = self._views.snapshot(seat, why, seat, left_ms)
            peer.send_queue.send(self._views.snapshot_frame(snapshot, seat, peer.views))

    def send_end(self) -> None:
        """Send everybody the end of the match."""
        frame = cache(self.end_frame)
        for peer in self._seats.subscribers:
            if peer is not None:
                peer.send_queue.send(frame(peer.views))
        self._spectators.publish_rest()
        self._spectators.finish(frame)

    def end_frame(self, wanted: WantedViews) -> bytes:
        """Return the frame that announces the end."""
        return self._views.finished_frame(f"/records/{self._views.state.setup.match}.jsonl", wanted)

    def show_on_wall(self, peer: Peer) -> None:
        """Show the match to a connection that watches many. All entries must be durable."""
        self._spectators.add_waiting(peer.send_queue, peer.views)
        if self._shown.result is not None:  # the match ended while this waited for the disk
            self._spectators.finish(self.end_frame, [peer.send_queue])
        peer.send_queue.catch_up()

    def refuse(self, peer: Peer, request: int, refusal: Refuse) -> None:
        """Answer a request that the engine refused."""
        code = refusal.code
        goes_on = code is Code.OVER and self._views.state.result is None
        peer.refuse(
            request,
            code,
            refusal.message,
            hint=SEAT_IS_OUT if goes_on else refusal.hint,
            ply=refusal.ply if code is Code.STALE else None,
        )


def answer_move(peer: Peer, request: int, seq: int) -> None:
    """Answer a resent move."""
    ignored = peer.unanswered.pop(request, ())
    peer.send_queue.send(done_frame(request, seq, ignored))
