"""Which matches are rated, as whom their players count, and what is written of them.

Who can be found again is rated: accounts, and house bots, which are their personality. Where one
player of a match cannot be, nobody is rated.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from kibitz_protocol.wire.records import Player, Result, Setup
from kibitz_server.accounts.accounts import Accounts
from kibitz_server.lobby.state import LobbyState
from kibitz_server.rating import ladder
from kibitz_server.rating.log import RatingLog


class RatedMatches:
    """Decides about the matches of one server."""

    def __init__(self, log: RatingLog, accounts: Accounts) -> None:
        self._log = log
        self._accounts = accounts

    def keys(self, lobby: LobbyState, players: Sequence[Player]) -> list[str] | None:
        """Return who the players of a match are on the ladder; None where it cannot be rated."""
        if not lobby.settings.rated:
            return None
        rated = ladder.rated_players([self._rated_player(lobby, player) for player in players])
        return None if rated is None else [each.key for each in rated]

    def record(self, setup: Setup, result: Result) -> None:
        """Enter a match that is over, in the same turn of the loop that closes its log."""
        if setup.rated is None or not ladder.is_ratable(result):
            return
        players = zip(setup.seats, setup.rated, strict=True)
        self._log.append(
            ladder.RatedMatch(
                match=setup.match,
                game=setup.game,
                entrants=[_ladder_player(player, key) for player, key in players],
                ranks=[seat.rank for seat in result.seats],
                ended=int(time.time()),
            )
        )

    def _rated_player(self, lobby: LobbyState, player: Player) -> ladder.RatedPlayer | None:
        key = lobby.personality(player.player)
        if key is None and self._accounts.is_account(player.player):
            key = player.player
        return None if key is None else _ladder_player(player, key)


def _ladder_player(player: Player, key: str) -> ladder.RatedPlayer:
    """Return who a player is on the ladder; house bots go by their personality."""
    name = key if player.kind == "house" else player.name
    return ladder.RatedPlayer(key=key, name=name, kind=player.kind)
