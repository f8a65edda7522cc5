"""Follows a match of another node through its log, for this node's spectators.

Entries read from the database are durable, so any node may show them. A tail applies them to a
`MatchState` and shows them through `EntryView` and `Spectators`, as the runner on the playing node
does. So its spectators receive exactly the same frames as the runner's, even in matches with delays
or hidden information. `directory.tails` reads the entries and passes them to `take`; time is an
argument here, except for snapshots.

    log of another node --lines--> take --> MatchState --> EntryView --> Spectators

A tail takes no commands, opens no turns and never makes a flag fall. For the time left in a turn it
assumes that the turn began when its entry was read. If the turn began before the tail started
reading, it shows the seat's time at the start of the turn.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

from kibitz_games.core.game import Game
from kibitz_protocol.wire.records import Entry, Setup
from kibitz_server.match.record import read_entry
from kibitz_server.match.spectators import Spectators
from kibitz_server.match.state import BrokenLog, MatchState
from kibitz_server.match.visibility import EntryView, MatchViews
from kibitz_server.match.watched import WatchedMatch
from kibitz_server.net.peer import Peer
from kibitz_server.storage.interface import NewEntries
from kibitz_server.storage.streams import Stream


class MatchTail(WatchedMatch):
    """Follows one match, and shows it to its spectators."""

    def __init__(
        self,
        game: Game,
        setup: Setup,
        stream: Stream,
        clock: Callable[[], int],
        *,
        lobby_shown: bool,
    ) -> None:
        """Start before the first entry.

        Raises the errors of `MatchState`. `stream` records how far the log was read.
        """
        state = MatchState(game, setup)
        self.views = MatchViews(state)
        spectators = Spectators(
            self.views,
            when_settled=lambda call: call(),  # everything that a tail has read is on disk
            left_ms=lambda: self.left_ms(clock()),
        )
        super().__init__(state, stream, spectators)
        self.lobby_shown = lobby_shown
        """Whether its lobby lets anybody watch. If not, only the playing node admits spectators."""
        self.caught_up = False
        """Whether the existing log has been read; until then no spectators are admitted."""
        self.read_at = -1
        """When the last complete read of the log began, in the order of `directory.tails`."""
        self._past: list[EntryView] = []
        """The entries read before `caught_up` that must still be shown with a delay."""
        self._turn_read = (-1, 0)
        """The newest turn that began after `caught_up`, and the time when its start was read."""

    @property
    def over(self) -> bool:
        """Whether the match is over, its log is closed, and all of it was read."""
        return self.stream.closed

    # --- the log ----------------------------------------------------------------------------

    def take(self, new: NewEntries, now: int) -> None:
        """Apply and show new entries. After a `BrokenLog` error this tail is unusable."""
        for line in new.lines:
            entry = read_entry(line)
            if self.caught_up:
                self._show(entry, now)
            elif self.spectators.delayed is not None:
                self.views.drawn = True  # a new spectator may want drawings of the waiting entries
                self._past.append(self.views.advance(entry))
            else:
                self.state.apply(entry)
        self.shown.players, self.shown.result = self.state.players, self.state.result
        self.stream.tail = self.stream.durable = self.state.seq
        self.stream.chain = new.chain
        if new.closed and self.state.result is None:
            raise BrokenLog("the log is closed, but the match has not ended")
        self.stream.closed = new.closed
        self.views.release()

    def catch_up(self, now: int) -> None:
        """Admit spectators from now on, since the existing log has been read.

        The delay of the newest entry starts now, so this node never shows it earlier than the
        playing node.
        """
        if not self.caught_up:
            self.caught_up = True
            past, self._past = self._past, []
            self.spectators.restore_delay(past, now)

    def _show(self, entry: Entry, now: int) -> None:
        spectators = self.spectators
        self.views.drawn = spectators.delayed is not None or "drawn" in spectators.queues.values()
        before = self.state.turn
        view = self.views.advance(entry)
        if self.state.turn != before:
            self._turn_read = (self.state.turn, now)
        spectators.publish(view, now)

    def announce_end(self) -> None:
        """Send all spectators the end of the match, which must be `over`."""
        self.spectators.publish_rest()
        written = partial(self.views.finished_frame, f"/records/{self.key}.jsonl")
        self.spectators.finish(cache(written))

    # --- queries --------------------------------------------------------------------

    def left_ms(self, now: int) -> int | None:
        """Return the approximate time left of the seat to act."""
        total, (turn, since) = self.state.left_ms, self._turn_read
        if total is None or turn != self.state.turn:
            return total
        return max(0, total - max(0, now - since))

    # --- spectators -------------------------------------------------------------------------

    def put_on_wall(self, peer: Peer) -> None:
        """Add the match to a connection that watches many, and gets their snapshots one by one."""
        if not peer.leaving:
            self.watchers[peer] = None
            self.spectators.add_waiting(peer.send_queue, peer.views)
            peer.send_queue.catch_up()
