"""The client's state: all matches, lobbies and own turns that one connection has received.

Sans-I/O: `ClientState.apply` applies each message; screens and line output show the state.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kibitz_clients.matches.timeline import MatchInfo, Timeline
from kibitz_games.core.game import Game, GameError
from kibitz_protocol.client.events import MatchLost, News
from kibitz_protocol.wire.lobbies import LobbyView, MatchBrief
from kibitz_protocol.wire.messages import (
    Event,
    Finished,
    LobbyClosed,
    LobbyNews,
    MatchEnded,
    MatchStarted,
    Snapshot,
    YourTurn,
)
from kibitz_protocol.wire.values import Fields


@dataclass
class ClientState:
    """Everything that one connection has received: matches, lobbies, own turns."""

    games: Mapping[str, Game]
    matches: dict[str, Timeline] = field(default_factory=dict)
    lobbies: dict[str, LobbyView] = field(default_factory=dict)
    turns: dict[str, YourTurn] = field(default_factory=dict)
    briefs: dict[str, MatchBrief] = field(default_factory=dict)
    """The matches of the lobbies, in starting order."""
    lost: dict[str, str] = field(default_factory=dict)
    """Matches that are no longer available, with the reason."""

    def apply(self, message: News | MatchLost, now: int) -> None:
        """Apply one message."""
        match message:
            case Snapshot(match=match):
                timeline = self.matches.setdefault(match, Timeline(MatchInfo.of(message)))
                timeline.snapshot(message, now)
                self._add_start(timeline)
                self._drop_stale_turn(match)
            case Event(match=match) if match in self.matches:
                self.matches[match].event(message, now)
                self._drop_stale_turn(match)
            case YourTurn(match=match):
                self.turns[match] = message
                if match in self.matches:
                    self.matches[match].turn(message, now)
            case Finished(match=match):
                self.turns.pop(match, None)
                if match in self.matches:
                    self.matches[match].finished(message)
            case LobbyNews(lobby=lobby):
                self.lobbies[lobby.lobby] = lobby
                self.briefs |= lobby.live
            case MatchStarted(match=brief) | MatchEnded(match=brief):
                self.briefs[brief.match] = brief
            case LobbyClosed(lobby=key):
                self.lobbies.pop(key, None)
            case MatchLost(match=match):
                self.lost[match] = message.message
            case _:
                pass

    def fill_missing(self, match: str, events: Iterable[Event], wanted: tuple[int, int]) -> None:
        """Insert earlier events of a match; add its start once the first event is known."""
        timeline = self.matches[match]
        timeline.fill_missing(events, wanted)
        self._add_start(timeline)

    def forget(self, matches: Iterable[str]) -> None:
        """Drop all data of these matches."""
        for match in matches:
            for known in (self.matches, self.briefs, self.turns, self.lost):
                known.pop(match, None)

    def next_match(self, lobby: str, after: int) -> MatchBrief | None:
        """Return the running match of a lobby after number `after`, wrapping around."""
        running = [
            brief
            for brief in self.briefs.values()
            if brief.lobby == lobby and brief.result is None and brief.number != after
        ]
        running.sort(key=lambda brief: (brief.number < after, brief.number))
        return running[0] if running else None

    def _add_start(self, timeline: Timeline) -> None:
        game = self.games.get(timeline.info.game)
        if game is not None and timeline.frame(0) is None and timeline.frame(1) is not None:
            start = initial_view(game, timeline.info)
            if start is not None:
                timeline.set_start(*start)

    def _drop_stale_turn(self, match: str) -> None:
        turn = self.turns.get(match)
        newest = self.matches[match].newest
        if turn is not None and (newest.ply != turn.ply or newest.to_act != turn.seat):
            del self.turns[match]


def initial_view(game: Game, facts: MatchInfo) -> tuple[Fields, int] | None:
    """Return a match's start and the seat to act, or None if the start is random."""
    try:
        if facts.rules_version is not None:
            game = game.at_version(facts.rules_version)
        options = game.Options.from_wire(facts.options)
        if game.info.hidden or game.deal(options, len(facts.seats), 0):
            return None
        state = game.start(options, len(facts.seats), {})
        return game.view(state, None).to_wire(), game.to_act(state)
    except (GameError, ValueError):
        return None
