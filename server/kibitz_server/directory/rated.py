"""Decides which matches are rated, under which identities, and records their results.

Only accounts and house bots are rated, because their identities are permanent; a house bot counts
as its personality. A match is unrated if any of its players cannot be rated, or if a condition of
rated play does not hold (`lobby.rated_conditions`).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial

from pydantic import ValidationError

from kibitz_games.core.game import Game, GameError
from kibitz_protocol.wire.lobbies import ProgrammeItem
from kibitz_protocol.wire.records import Player, Result, Setup
from kibitz_server.accounts.sign_in import Accounts
from kibitz_server.lobby.rated_conditions import RatedPlan, rated_problem
from kibitz_server.lobby.schedule import PlannedMatch
from kibitz_server.lobby.state import LobbyState
from kibitz_server.rating import rating_list
from kibitz_server.rating.log import RatingLog


class RatedMatches:
    """Handles the rated matches of one server."""

    def __init__(self, log: RatingLog, accounts: Accounts, games: Mapping[str, Game]) -> None:
        self._log = log
        self._accounts = accounts
        self._standard = partial(standard_options, games)

    def keys(self, lobby: LobbyState, planned: PlannedMatch) -> list[str] | None:
        """Return the players' keys on the rating list, or None if the match cannot be rated."""
        settings, players = lobby.settings, planned.players
        if not settings.rated:
            return None
        account = self._accounts.is_account(lobby.host.player)
        arranged = [("item", planned.item)] if settings.arranged else []
        if rated_problem(RatedPlan(settings, account, self._standard, arranged)) is not None:
            return None
        rated = rating_list.rated_players([self._rated_player(lobby, player) for player in players])
        return None if rated is None else [counted.key for counted in rated]

    def record(self, setup: Setup, result: Result) -> None:
        """Record a finished match.

        Call it in the event loop iteration that closes the log, so that both are in one batch.
        """
        if setup.rated is None or not rating_list.is_ratable(result):
            return
        players = zip(setup.seats, setup.rated, strict=True)
        self._log.append(
            rating_list.RatedMatch(
                match=setup.match,
                game=setup.game,
                entrants=[_listed_player(player, key) for player, key in players],
                ranks=[seat.rank for seat in result.seats],
                ended=int(time.time()),
            )
        )

    def _rated_player(self, lobby: LobbyState, player: Player) -> rating_list.RatedPlayer | None:
        key = lobby.seats.personality(player.player)
        if key is None and self._accounts.is_account(player.player):
            key = player.player
        return None if key is None else _listed_player(player, key)


def standard_options(games: Mapping[str, Game], item: ProgrammeItem) -> bool:
    """Return whether an item has the default options of its game.

    Also True for invalid items, which are refused elsewhere.
    """
    game = games.get(item.game)
    if game is None:
        return True
    try:
        return bool(game.Options.from_wire(item.options) == game.Options.from_wire({}))
    except (ValidationError, GameError):
        return True


def _listed_player(player: Player, key: str) -> rating_list.RatedPlayer:
    """Return a player's identity on the rating list; a house bot's is its personality."""
    name = key if player.kind == "house" else player.name
    return rating_list.RatedPlayer(key=key, name=name, kind=player.kind)
