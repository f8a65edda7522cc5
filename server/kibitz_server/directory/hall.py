"""The hall: public lists of lobbies, matches and ladders, sent to subscribed connections.

New subscribers receive the current hall (`HallNews`). While there are subscribers, the server
compares the hall with its last state every `HALL_INTERVAL_S`. All subscribers get the same frame
with a patch. Comparing states finds every change, whatever caused it. The hall shows only data that
is on disk. Without subscribers nothing is computed or kept. A connection that reads too slowly
misses patches, and receives the whole hall when it reads again.

The size of the hall is limited: it contains the newest lobbies and running matches, and their total
numbers. Rating lists are read from disk, infrequently and outside the event loop.

    kibitz_protocol.wire.merge_patch.apply(last hall, patch) == current hall
"""

from __future__ import annotations

import logging
from asyncio import AbstractEventLoop, TimerHandle
from collections.abc import Awaitable, Callable, Iterable, Iterator
from itertools import count, islice
from typing import Final, TypeVar

from kibitz_protocol.wire.lobbies import LadderTable, LobbyBrief, MatchBrief
from kibitz_protocol.wire.merge_patch import difference
from kibitz_protocol.wire.messages import HallChanged, HallNews
from kibitz_server.directory.other_nodes import OtherNodes
from kibitz_server.directory.registry import Registry
from kibitz_server.match.runner import MatchRunner
from kibitz_server.net.peer import Peer
from kibitz_server.net.send_queue import SendQueue, message_frame
from kibitz_server.rating.log import RatingLog

_B = TypeVar("_B", LobbyBrief, MatchBrief)

LOG = logging.getLogger("kibitz.hall")
HALL_INTERVAL_S: Final = 0.25
RATING_INTERVAL_S: Final = 5.0
"""Seconds between reads of the rating lists. Ratings are computed with a delay anyway."""
MAX_LOBBIES: Final = 100
"""The maximum number of lobbies; the newest ones are listed."""
MAX_MATCHES: Final = 200
"""The maximum number of running matches, as many as a wall shows."""
RATING_LINES: Final = 10
"""The maximum number of lines of each rating list."""
_KEY: Final = "the hall"
"""The key of a connection's subscription; keys of matches and lobbies contain no space."""


class Hall:
    """Sends the hall's news."""

    def __init__(
        self,
        loop: AbstractEventLoop,
        spawn: Callable[[Callable[[], Awaitable[None]]], None],
        registry: Registry,
        rating_log: RatingLog,
        others: OtherNodes,
    ) -> None:
        self._loop = loop
        self._spawn = spawn
        self._registry = registry
        self._rating_log = rating_log
        self._others = others
        self._subscribers: dict[Peer, None] = {}
        self._told: HallNews | None = None
        """The last news sent, None without subscribers."""
        self._whole: bytes | None = None
        """The last news as a frame, if it has been encoded."""
        self._next_order = count(1)
        """Numbers the matches in the order in which their ends are announced."""
        self._rating_lists: dict[str, LadderTable] = {}
        self._ratings_read_at = float("-inf")
        """The time at which the rating lists were last requested."""
        self._timer: TimerHandle | None = None
        self._stopped = False

    # --- subscribers ------------------------------------------------------------------------

    def wake(self) -> None:
        """Start updating the hall if there are no subscribers; call `subscribe` right after."""
        if self._told is None:
            self._told = self._look()
            self._read_ratings()

    def subscribe(self, peer: Peer) -> None:
        """Send a connection the hall, and all changes from now on."""
        self.wake()
        self._subscribers[peer] = None
        peer.subscriptions[_KEY] = self
        if self._timer is None and not self._stopped:
            self._schedule()
        self.send_snapshot(peer.send_queue)

    def unsubscribe(self, peer: Peer) -> None:
        """Unsubscribe a connection."""
        self._subscribers.pop(peer, None)
        peer.subscriptions.pop(_KEY, None)
        peer.send_queue.caught_up(self)
        if not self._subscribers:
            self._forget()

    def disconnected(self, peer: Peer) -> None:
        """Handle a closed connection (`net.peer.Subscription`)."""
        self.unsubscribe(peer)

    def send_snapshot(self, queue: SendQueue) -> None:
        """Send the whole hall, as of the last change that was sent (`SnapshotSource`)."""
        queue.caught_up(self)
        if self._told is None:
            return
        if self._whole is None:
            self._whole = message_frame(self._told)
        queue.send_droppable(self._whole, self)

    def stop(self) -> None:
        """Stop sending news, because the server is shutting down."""
        self._stopped = True
        self._cancel_timer()

    # --- comparing ----------------------------------------------------------------------------

    def _schedule(self) -> None:
        self._timer = self._loop.call_later(HALL_INTERVAL_S, self._on_timer)

    def _on_timer(self) -> None:
        self._schedule()
        if self._loop.time() - self._ratings_read_at >= RATING_INTERVAL_S:
            self._read_ratings()
        try:
            self._send_changes()
        except Exception:
            LOG.exception("cannot send the hall")

    def _send_changes(self) -> None:
        """Send everybody the changes since the last comparison."""
        if self._told is None:
            return
        seen = self._look()
        patch = difference(self._told, seen)
        if not patch:
            return
        frame = message_frame(HallChanged(patch=patch))
        self._told, self._whole = seen, None
        for peer in self._subscribers:
            peer.send_queue.send_droppable(frame, self)

    def _look(self) -> HallNews:
        """Return the current hall."""
        registry = self._registry
        matches = [match for match in registry.matches.values() if _is_shown(match)]
        lobbies = [
            (lobby.stream.number, lobby.brief)
            for lobby in registry.lobbies.values()
            if lobby.stored and lobby.shown.settings.listed
        ]
        known = {} if self._told is None else self._told.matches
        elsewhere = list(self._others.listed())
        lobbies_there = [line.brief for line in elsewhere if line.brief is not None]
        matches_there = [match for line in elsewhere for match in line.matches]
        lobbies_here = (
            brief.model_copy(update={"order": order})
            for order, brief in islice(reversed(lobbies), MAX_LOBBIES)
        )
        matches_here = (
            _match_line(match, known.get(match.key))
            for match in islice(reversed(matches), MAX_MATCHES)
        )
        newest_lobbies = _newest_first([*lobbies_here, *lobbies_there])[:MAX_LOBBIES]
        newest_matches = _newest_first([*matches_here, *matches_there])[:MAX_MATCHES]
        return HallNews(
            lobbies={brief.lobby: brief for brief in newest_lobbies},
            matches={brief.match: brief for brief in newest_matches},
            finished={brief.match: brief for brief in _newest_first(self._finished())},
            ladders=self._rating_lists,
            lobbies_in_all=len(lobbies) + len(lobbies_there),
            matches_in_all=len(matches) + len(matches_there),
        )

    def _finished(self) -> Iterator[MatchBrief]:
        """Yield the last finished matches, each with its sequence number."""
        known = {} if self._told is None else self._told.finished
        for brief in reversed(self._registry.finished_briefs(None)):
            yield known.get(brief.match) or brief.model_copy(
                update={"order": next(self._next_order)}
            )

    # --- rating lists -----------------------------------------------------------------------

    def _read_ratings(self) -> None:
        self._ratings_read_at = self._loop.time()
        self._spawn(self._fold_ratings)

    async def _fold_ratings(self) -> None:
        try:
            rating_list = await self._rating_log.rating_list()
        except Exception:
            LOG.exception("cannot read the rating lists")
            return
        if self._told is None:
            return
        former = self._rating_lists
        self._rating_lists = {
            game: former[game]
            if game in former and former[game].matches == rating_list.matches(game)
            else LadderTable(
                game=game,
                players=len(lines := rating_list.lines(game)),
                matches=rating_list.matches(game),
                lines=lines[:RATING_LINES],
            )
            for game in rating_list.games()
        }

    # --- the end ----------------------------------------------------------------------------

    def _forget(self) -> None:
        """Drop all state, because there are no subscribers."""
        self._told = self._whole = None
        self._rating_lists = {}
        self._cancel_timer()

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _is_shown(match: MatchRunner) -> bool:
    """Return whether a match is listed and still running, according to its entries on disk."""
    return match.listed and match.shown.stored and match.shown.result is None


def _match_line(match: MatchRunner, former: MatchBrief | None) -> MatchBrief:
    """Return a match's line as spectators may see it; reuse the last line if possible."""
    if former is None or former.seats != list(match.shown.players):
        return match.shown.brief().model_copy(update={"order": match.stream.number})
    ply = match.shown.ply
    return former if former.ply == ply else former.model_copy(update={"ply": ply})


def _newest_first(briefs: Iterable[_B]) -> list[_B]:
    return sorted(briefs, key=lambda brief: brief.order or 0, reverse=True)
