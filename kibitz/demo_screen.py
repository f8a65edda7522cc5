"""The demo's terminal client: follows the lobby, then one match of each game after the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from textual import events

from kibitz_clients.server_connection import Connector
from kibitz_clients.tui.kibitz_app import KibitzApp
from kibitz_clients.tui.screens.match import MatchScreen
from kibitz_games.core.game import Game
from kibitz_protocol.wire.lobbies import MatchBrief

SECONDS_PER_MATCH: Final = 5.0
"""How long the lobby, and each match, is shown."""


def next_match(running: Iterable[MatchBrief], seen: Sequence[str]) -> MatchBrief | None:
    """Return a match of the game that was shown the longest ago, None when nothing runs.

    `seen` has the names of the games in the order in which they were shown, the newest last.
    """
    newest = {game: place for place, game in enumerate(seen, 1)}
    return min(running, key=lambda brief: (newest.get(brief.game, 0), brief.number), default=None)


class DemoApp(KibitzApp):
    """Follows a lobby from kind to kind until a key is pressed, then from match to match."""

    def __init__(
        self, games: Mapping[str, Game], connect: Connector, *, lobby: str, where: str
    ) -> None:
        super().__init__(games, connect, lobby=lobby, where=where)
        self._lobby = lobby
        self._seen: list[str] = []
        self._touring = True
        self._begun = False

    def on_ready(self) -> None:
        """Begin to go round."""
        self.set_interval(SECONDS_PER_MATCH, self.advance_tour)

    async def on_event(self, event: events.Event) -> None:
        """The first key or click ends the tour: the person knows where to go."""
        if self._touring and isinstance(event, events.Key | events.MouseDown):
            self._touring, self.navigation.follow = False, True
        await super().on_event(event)

    def advance_tour(self) -> None:
        """Go on to another match, and back to the lobby when all is over."""
        view = self.client_state.lobbies.get(self._lobby)
        if not self._touring or view is None or view.state == "gathering":
            return
        if not self._begun:  # the list of what runs is worth a look, too
            self._begun = True
            return
        stop = next_match(self._under_way(), self._seen)
        if stop is None:
            self.navigation.show_lobby(self._lobby)
            return
        self._seen.append(stop.game)
        if isinstance(self.screen, MatchScreen):
            if self.screen.timeline.info.match == stop.match:
                return
            self.navigation.stop_watching(self.screen.timeline)
        self.navigation.watch_match(stop.match)

    def _under_way(self) -> list[MatchBrief]:
        briefs = self.client_state.briefs.values()
        return [each for each in briefs if each.lobby == self._lobby and each.result is None]
