"""Requests to watch one match, to watch many on a wall, or to stop watching.

Matches of other nodes can be watched here too (`directory.tails`), after a short delay for reading
the log. This node redirects spectators to the playing node in three cases: if they have a seat in
the match, if the lobby shows its matches only to members, and if this node follows as many matches
as it may.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection
from functools import partial
from typing import Final

from kibitz_protocol.wire import messages
from kibitz_protocol.wire.messages import (
    WALL_MATCH_COST,
    Done,
    NotWatched,
    Walled,
)
from kibitz_protocol.wire.refusals import Code
from kibitz_server.accounts.identity import Identity
from kibitz_server.directory.directory import Directory
from kibitz_server.directory.other_nodes import BetweenNodes
from kibitz_server.directory.tails import (
    LOOK_S,
    TRY_AGAIN_LATER,
    CannotFollow,
    Tails,
)
from kibitz_server.handlers.answering import Answers
from kibitz_server.match import requests as match_requests
from kibitz_server.match.runner import MatchRunner
from kibitz_server.match.tail import MatchTail
from kibitz_server.match.watched import WatchedMatch
from kibitz_server.net.peer import Peer
from kibitz_server.storage.errors import StoreError

LOG = logging.getLogger("kibitz.handlers")
RETRY_S: Final = 4 * LOOK_S
"""Seconds after which a wall retries a match that could not be read."""


class AwaitedMatch:
    """A placeholder among a connection's subscriptions for a match that is still being read.

    If it has been replaced or removed, the connection no longer wants to watch the match. Its key
    contains a space, unlike the keys of matches and lobbies.
    """

    def __init__(self, peer: Peer, match: str) -> None:
        """Replace any earlier placeholder of the connection for this match."""
        self.match = match
        self._subscriptions = peer.subscriptions
        peer.subscriptions[_place(match)] = self

    @property
    def wanted(self) -> bool:
        """Whether the connection is open and still wants to watch the match."""
        return self._subscriptions.get(_place(self.match)) is self

    def end(self) -> None:
        """Remove the placeholder."""
        if self.wanted:
            del self._subscriptions[_place(self.match)]

    def disconnected(self, peer: Peer) -> None:
        """Do nothing: the code that admits the spectator notices that the connection is closed."""


class WatchHandlers:
    """Admits spectators to matches, whichever node plays them."""

    def __init__(
        self,
        directory: Directory,
        answers: Answers,
        spawn: Callable[[Callable[[], Awaitable[None]]], None],
    ) -> None:
        self._directory = directory
        self._answers = answers
        self._spawn = spawn

    def watch(self, peer: Peer, identity: Identity, request: messages.Watch) -> None:
        directory, key = self._directory, request.match
        match, tails = directory.registry.find_match(key), directory.tails
        if match is not None:
            declined = self._why_not_watched(match, identity)
            if declined is None:
                match_requests.watch(match, peer, request.id)
            elif declined.code is Code.OVER:
                match_requests.refuse_over(key, peer, request.id)
            else:
                peer.refuse(request.id, declined.code, declined.message)
        elif tails is None or directory.quarantine.reason(key) is not None:
            self._answers.refuse_missing(peer, request.id, "match", key)
        else:
            awaited = AwaitedMatch(peer, key)
            work = partial(self._watch_elsewhere, tails, peer, identity, request, awaited)
            self._answers.later(peer, request.id, work)

    async def _watch_elsewhere(
        self,
        tails: Tails,
        peer: Peer,
        identity: Identity,
        request: messages.Watch,
        awaited: AwaitedMatch,
    ) -> None:
        """Show a match of another node, or redirect to that node."""
        key = request.match
        try:
            tail = None if tails.is_over(key) else await tails.follow(key)
            if tail is not None and self._directory.watched(key) is not tail:
                raise BetweenNodes(f"match {key} is moving to another node")
        except CannotFollow:
            tail = None
        finally:
            wanted = awaited.wanted
            awaited.end()
        declined = None if tail is None else self._why_not_watched(tail, identity)
        if tails.is_over(key) or (declined is not None and declined.code is Code.OVER):
            match_requests.refuse_over(key, peer, request.id)
        elif tail is None or declined is not None:
            # Only the playing node knows its players and its lobby's members.
            self._answers.refuse_missing(peer, request.id, "match", key)
        else:
            peer.answer(Done(re=request.id))
            if wanted:  # otherwise the spectator has left or stopped watching
                self._let_in(tail, peer, tail.admit_spectator)

    def _let_in(self, tail: MatchTail, peer: Peer, let_in: Callable[[Peer], None]) -> None:
        """Admit a spectator; if the match cannot be shown, stop following it."""
        peer.subscriptions[tail.key] = tail
        try:
            let_in(peer)
        except Exception as error:
            LOG.exception("cannot show match %s", tail.key)
            if self._directory.tails is not None:
                self._directory.tails.give_up(tail.key, error)

    def _why_not_watched(self, match: WatchedMatch, identity: Identity) -> NotWatched | None:
        """Return why a player may not watch a match, or None."""
        if match.shown.seat_of(identity.key) is not None:
            code, message = Code.NOT_WATCHABLE, "you play in this match: rejoin it"
        elif match.shown.result is not None:
            return _over(match.key)
        elif match.spectators.viewer is None or not self._lobby_shows(match, identity):
            code, message = Code.NOT_WATCHABLE, "the host does not admit spectators to this match"
        else:
            return None
        return NotWatched(match=match.key, code=code, message=message)

    def _lobby_shows(self, match: WatchedMatch, identity: Identity) -> bool:
        if isinstance(match, MatchTail):
            return match.lobby_shown
        lobby = self._directory.registry.lobbies.get(match.state.setup.lobby or "")
        return lobby is None or lobby.shown.may_watch(identity.key)

    def wall(self, peer: Peer, identity: Identity, request: messages.Wall) -> None:
        shown: dict[str, WatchedMatch | None] = {}
        declined: dict[str, NotWatched] = {}
        for key in request.matches:
            match = self._directory.watched(key)
            if match is not None:
                why = self._why_not_watched(match, identity)
            else:
                unread = [other for other, watched in shown.items() if watched is None]
                why = self._why_not_watched_elsewhere(key, identity, unread)
            if why is None:
                shown[key] = match
            else:
                declined[key] = why
        new = {key: match for key, match in shown.items() if not _is_shown(peer, key, match)}
        if new and not peer.charge(WALL_MATCH_COST * len(new), request.id):
            return
        _unwatch_others(peer, shown)
        watching = list(shown)
        peer.answer(Walled(re=request.id, watching=watching, refused=list(declined.values())))
        tails = self._directory.tails
        for key, match in new.items():
            if match is not None and not isinstance(match, MatchTail):
                _put_on_wall(peer, match)
            elif tails is not None:
                work = partial(self._add_to_wall, tails, peer, AwaitedMatch(peer, key))
                self._spawn(work)

    def _why_not_watched_elsewhere(
        self, key: str, identity: Identity, unread: Collection[str]
    ) -> NotWatched | None:
        """Return why another node's match cannot be added to a wall; `unread` are others to read.

        Returns None if nothing in its node's lines forbids it.
        """
        tails, others = self._directory.tails, self._directory.others
        line = others.line_of(key)
        if tails is not None and tails.is_over(key):
            return _over(key)
        if tails is not None and line is not None and tails.may_begin(key, unread):
            shown = line.brief is None or line.brief.watchable
            [brief] = [brief for brief in line.matches if brief.match == key]
            if shown and brief.watchable and identity.key not in line.players:
                return None
        place = others.match(key)
        if place is None:
            code, message = self._answers.missing("match", key)
        else:
            node = place.node
            code, message = Code.ELSEWHERE, f"the match is on node {node.name}, {node.url}"
        return NotWatched(match=key, code=code, message=message)

    async def _add_to_wall(self, tails: Tails, peer: Peer, awaited: AwaitedMatch) -> None:
        """Add a match of another node to a wall once it is read, if it is still wanted."""
        key = awaited.match
        while awaited.wanted:
            try:
                match = self._directory.registry.matches.get(key) or await tails.follow(key)
            except (BetweenNodes, StoreError):
                match = None
            except Exception as error:
                if not isinstance(error, CannotFollow):
                    LOG.exception("cannot follow match %s", key)
                if awaited.wanted:
                    _send_away(peer, key)
                return
            if match is None or self._directory.watched(key) is not match:
                await asyncio.sleep(RETRY_S)
            elif awaited.wanted:
                awaited.end()
                if isinstance(match, MatchTail):
                    self._let_in(match, peer, match.put_on_wall)
                else:
                    _put_on_wall(peer, match)

    def unwatch(self, peer: Peer, identity: Identity, request: messages.Unwatch) -> None:
        key = request.match
        match = self._directory.watched(key)
        if match is not None:
            match.unwatch(peer)
            if match.seats.seat_of(peer) is None:
                peer.subscriptions.pop(key, None)
        peer.subscriptions.pop(_place(key), None)
        peer.answer(Done(re=request.id))


def _over(key: str) -> NotWatched:
    return NotWatched(match=key, code=Code.OVER, message="the match is over")


def _is_shown(peer: Peer, key: str, match: WatchedMatch | None) -> bool:
    """Return whether a connection watches a match or is about to."""
    return _place(key) in peer.subscriptions or (match is not None and peer in match.watchers)


def _place(match: str) -> str:
    """Return the subscription key of an `AwaitedMatch`."""
    return f"awaited {match}"


def _send_away(peer: Peer, key: str) -> None:
    """Disconnect a client whose watch request was accepted, because showing the match failed."""
    peer.close(TRY_AGAIN_LATER, f"match {key} cannot be shown here: try again")


def _put_on_wall(peer: Peer, match: WatchedMatch) -> None:
    peer.subscriptions[match.key] = match
    match.put_on_wall(peer)


def _unwatch_others(peer: Peer, kept: Collection[str]) -> None:
    """Stop showing all matches except `kept` to a connection; its seats are unaffected."""
    for key, subscription in list(peer.subscriptions.items()):
        if isinstance(subscription, AwaitedMatch):
            if subscription.match not in kept:
                subscription.end()
        elif key in kept or not isinstance(subscription, MatchRunner | MatchTail):
            continue
        elif subscription.seats.seat_of(peer) is None:
            subscription.unwatch(peer)
            del peer.subscriptions[key]
