"""The additional rules of lobbies that were opened by `seek`. Pure.

A seek is a lobby with one item, a seat for each of its players, and these rules:

- The opener has the first seat. The lobby closes when it leaves.
- The lobby also closes when a player leaves after the first start, and when no match was running
  for as long as the opener was willing to wait.
- Every player may ask for a rematch, which also sets its ready flag. If another player has asked
  before, the request only sets the flag.
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import ValidationError

from kibitz_games.core.game import Game, GameError
from kibitz_protocol.wire.lobbies import LobbySettings, OpenSeat, ProgrammeItem, SeekTerms
from kibitz_server.lobby.state import LobbyState


def seek_settings(name: str, terms: SeekTerms) -> LobbySettings:
    """Return the settings of the lobby in which `name` seeks opponents."""
    return LobbySettings(
        name=f"{name} seeks",
        seats=[OpenSeat() for _ in range(terms.item.seats)],
        programme=[terms.item],
        rated=terms.rated,
        at_once=1,
    )


def terms_of(state: LobbyState) -> SeekTerms | None:
    """Return the terms of a seek, or None for any other lobby."""
    if state.opened.seek_s is None:
        return None
    return SeekTerms(item=state.settings.programme[0], rated=state.settings.rated)


def same_terms(games: Mapping[str, Game], one: SeekTerms | None, other: SeekTerms) -> bool:
    """Return whether two terms are equal, after parsing their options."""
    if one is None or one.rated != other.rated:
        return False
    bare = [terms.item.model_copy(update={"options": {}}) for terms in (one, other)]
    if bare[0] != bare[1]:
        return False
    if one.item.options == other.item.options:
        return True
    options = [_options(games, terms.item) for terms in (one, other)]
    return options[0] is not None and options[0] == options[1]


def _options(games: Mapping[str, Game], item: ProgrammeItem) -> object:
    """Return the options as parsed by the game, or None if they are invalid."""
    game = games.get(item.game)
    try:
        return None if game is None else game.Options.from_wire(item.options)
    except (ValidationError, GameError):
        return None


def is_open(state: LobbyState) -> bool:
    """Return whether a lobby is a seek that is still waiting for players."""
    seeks = state.opened.seek_s is not None and state.round.number == 1
    return seeks and state.phase == "gathering" and bool(state.seats.free())


def is_over(state: LobbyState) -> bool:
    """Return whether a seek cannot continue, because a player has left."""
    if state.opened.seek_s is None or state.phase not in ("gathering", "finished"):
        return False
    begun = state.phase == "finished" or state.round.number > 1
    withdrawn = state.host.player not in state.seats.members
    return withdrawn or (begun and bool(state.seats.free()))


class SeekTimer:
    """Measures for how long a seek has had no running match, in the caller's milliseconds."""

    def __init__(self, state: LobbyState, now: int) -> None:
        self._key = (state.phase, state.round.number)
        self._since = now

    def note(self, state: LobbyState, now: int) -> None:
        """Restart the timer at `now` if the phase or the round has changed."""
        key = (state.phase, state.round.number)
        if key != self._key:
            self._key, self._since = key, now

    def due(self, state: LobbyState) -> int | None:
        """Return when the seek expires if nothing happens; None if it cannot expire now."""
        seconds = state.opened.seek_s
        if seconds is None or state.phase not in ("gathering", "finished"):
            return None
        return self._since + 1000 * seconds
