"""A bot that recognizes others of its kind at the table and plays for all of them.

It recognizes them by their names, the only facts about players in the protocol. It shows why events
need their safeguards: an entrant that sends several bots to one table wins more with them than as
many strangers would.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kibitz_bots.kinds.engine_bot import EngineBot
from kibitz_bots.sdk import Move, Turn
from kibitz_protocol.wire.records import Player
from kibitz_search.algorithms.conspiracy import Conspiracy

NAME = "conspirator"


class ConspiringBot(EngineBot):
    """Plays the search `Conspiracy`; its allies are the seats whose players have its name."""

    def choose(self, turn: Turn) -> Move:
        """Return the move that is best for the group."""
        if self._search is None:
            self._prepare(turn.state, turn.match.game_rules.info)
        assert isinstance(self._search, Conspiracy)
        self._search.friends = friends(turn.match.players, turn.seat)
        return super().choose(turn)


def friends(players: Sequence[Player], seat: int) -> frozenset[int]:
    """Return the other seats whose players are called conspirators, house bots or not."""
    kind = re.compile(rf"(house )?{NAME}([ -]\d+)?", re.IGNORECASE)
    return frozenset(
        other
        for other, player in enumerate(players)
        if other != seat and kind.fullmatch(player.name)
    )
