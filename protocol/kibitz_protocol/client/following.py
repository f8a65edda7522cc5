"""Everything that a client follows: its seats, lobbies and watched matches, a wall, the hall.

The client derives it from the answers to requests and from news. After a reconnect the session
requests all of it again (`requests_to_restore`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from kibitz_protocol.client.events import MatchLost, News, NewsReceived, SessionEvent
from kibitz_protocol.client.lobby_views import LobbyViews, patched
from kibitz_protocol.client.sequence import EventOrder, SequenceTracker
from kibitz_protocol.wire.lobbies import LobbyView
from kibitz_protocol.wire.messages import (
    MAX_WALL,
    Answer,
    Event,
    Finished,
    HallChanged,
    HallNews,
    Join,
    Leave,
    LeaveMatch,
    LobbyChanged,
    LobbyClosed,
    LobbyNews,
    MatchEnded,
    MatchStarted,
    Refused,
    Rejoin,
    Request,
    Snapshot,
    Subscribe,
    Unsubscribe,
    Unwatch,
    Wall,
    Walled,
    Watch,
    Welcome,
)


class Following:
    """The matches, lobbies and topics about which the server sends news to a client."""

    def __init__(self) -> None:
        self._sequences = SequenceTracker()
        self._lobbies: dict[str, Join] = {}
        self._hall_wanted = False
        # The matches of the last wall; None without one.
        self._wall: list[str] | None = None
        self.connection_lost()

    # --- connections ----------------------------------------------------------------------

    def connection_lost(self) -> None:
        """Discard lobbies, the hall and sequence numbers of matches: changes may have been lost."""
        self._views = LobbyViews()
        self._hall: HallNews | None = None
        self._sequences.await_snapshots()

    def forget_closed_lobbies(self, welcome: Welcome) -> list[SessionEvent]:
        """Forget lobbies that closed, or that removed this player, while it was disconnected."""
        shut = [key for key, join in self._lobbies.items() if _was_removed(join, welcome)]
        return [event for key in shut for event in self._forget_lobby(key)]

    def requests_to_restore(
        self, seats: Collection[str], lobbies: Collection[str], leaving: Collection[str]
    ) -> Iterator[Request]:
        """Yield requests that restore the last connection, seats first because their clocks run.

        `seats` and `lobbies` are those of the welcome; the lobbies in `leaving` are not joined. The
        caller must replace the ids.

        Seats that the server does not list are rejoined too, because the answer says how the match
        ended.
        """
        for match in seats:
            self._sequences.expect(match, seated=True)
        for match in dict.fromkeys([*seats, *self._sequences.seated()]):
            yield Rejoin(id=1, match=match)
        for key in dict.fromkeys([*lobbies, *self._lobbies]):
            if key not in leaving:
                yield self._lobbies.get(key) or Join(id=1, lobby=key)
        if self._hall_wanted:
            yield Subscribe(id=1, topic="hall")
        watched = dict.fromkeys([*(self._wall or ()), *self._sequences.watched()])
        others = [match for match in watched if match not in seats]
        if self._wall is not None:
            yield Wall(id=1, matches=others[:MAX_WALL])
            others = others[MAX_WALL:]
        for match in others:
            yield Watch(id=1, match=match)

    # --- answers --------------------------------------------------------------------------

    def answered(self, request: Request, answer: Answer) -> list[SessionEvent]:
        """Update the followed matches and lobbies after the answer to a request."""
        if isinstance(answer, Refused):
            return self._refused(request, answer)
        match request:
            case Join(lobby=lobby):
                self._lobbies[lobby] = request
            case Leave(lobby=lobby):
                self._lobbies.pop(lobby, None)
            case Rejoin(match=match) | Watch(match=match):
                self._sequences.expect(match, seated=isinstance(request, Rejoin))
            case Unwatch(match=match) | LeaveMatch(match=match):
                self._drop(match)
            case Subscribe():
                self._hall_wanted = True
            case Unsubscribe():
                self._hall_wanted, self._hall = False, None
            case Wall() if isinstance(answer, Walled):
                return self._set_wall(answer)
            case _:
                pass
        return []

    def _refused(self, request: Request, refused: Refused) -> list[SessionEvent]:
        match request:
            case Watch(match=match) if self._sequences.is_seated(match):
                return []  # the seat still receives its own news
            case Rejoin(match=match) | Watch(match=match) if match in self._sequences:
                self._drop(match)
                return [MatchLost(match, refused.code, refused.message)]
            case Join(lobby=lobby) if lobby in self._lobbies:
                return self._forget_lobby(lobby)
            case _:
                return []

    def _set_wall(self, answer: Walled) -> list[SessionEvent]:
        """Follow the matches of a wall, and stop watching all others."""
        followed = {*self._sequences.watched(), *(self._wall or ())}
        for match in followed.difference(answer.watching):
            self._drop(match)
        self._wall = list(answer.watching)
        return [
            MatchLost(each.match, each.code, each.message)
            for each in answer.refused
            if each.match in followed
        ]

    # --- news -----------------------------------------------------------------------------

    def order(self, event: Event) -> EventOrder:
        """Return the place of an event in the sequence of its match."""
        return self._sequences.classify(event)

    def snapshot_request(self, match: str) -> Request:
        """Return the request for the current state of a match; the caller must replace its id."""
        if self._sequences.is_seated(match):
            return Rejoin(id=1, match=match)
        return Watch(id=1, match=match)

    def receive(self, news: News | LobbyChanged | HallChanged) -> list[SessionEvent]:
        """Return the owner's events for a message. A change of a lobby becomes the whole lobby."""
        match news:
            case HallChanged():
                return self._change_hall(news)
            case HallNews():
                self._hall = news
            case LobbyChanged():
                return _lobby_news(self._views.change(news))
            case LobbyNews(lobby=view):
                self._views.tell(view)
            case MatchStarted(lobby=lobby, match=brief):
                begun = self._views.match_started(lobby, brief)
                return [NewsReceived(news), *_lobby_news(begun)]
            case MatchEnded(lobby=lobby, match=brief):
                ended = self._views.match_ended(lobby, brief.match)
                return [NewsReceived(news), *_lobby_news(ended)]
            case Snapshot(match=match, result=result):
                self._sequences.reset_to(news)
                if result is not None:
                    self._drop(match)
            case Finished(match=match):
                self._drop(match)
            case LobbyClosed(lobby=lobby):
                self._lobbies.pop(lobby, None)
                self._views.forget(lobby)
            case _:
                pass
        return [NewsReceived(news)]

    def _change_hall(self, changed: HallChanged) -> list[SessionEvent]:
        if self._hall is None:
            return []
        self._hall = patched(self._hall, changed.patch)
        return [NewsReceived(self._hall)]

    def _drop(self, match: str) -> None:
        """Stop following a match."""
        self._sequences.drop(match)
        if self._wall is not None:
            self._wall = [watched for watched in self._wall if watched != match]

    def _forget_lobby(self, lobby: str) -> list[SessionEvent]:
        del self._lobbies[lobby]
        return [NewsReceived(LobbyClosed(lobby=lobby, reason="closed"))]


def _lobby_news(view: LobbyView | None) -> list[SessionEvent]:
    return [] if view is None else [NewsReceived(LobbyNews(lobby=view))]


def _was_removed(join: Join, welcome: Welcome) -> bool:
    """Return whether this player was a member of a lobby that no longer lists it."""
    return join.role == "player" and join.lobby not in welcome.lobbies
