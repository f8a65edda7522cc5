"""A bot that recognizes its own kind in a match and plays for the group.

It recognizes them by name, since the protocol reveals nothing else about players. It demonstrates
why events need safeguards: several bots of one entrant in the same match win more together than
independent bots would.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kibitz_bots.kinds.engine_bot import EngineBot
from kibitz_bots.sdk import Move, Turn
from kibitz_protocol.wire.records import Player
from kibitz_search.algorithms.greedy import Greedy

NAME = "conspirator"


class ConspiringBot(EngineBot):
    """Plays with the search `Greedy`; its allies are the players that share its name."""

    def choose(self, turn: Turn) -> Move:
        """Return the best move for the group."""
        if self._search is None:
            self._prepare(turn.state, turn.match.game_rules.info)
        assert isinstance(self._search, Greedy)
        self._search.friends = friends(turn.match.players, turn.seat)
        return super().choose(turn)


def friends(players: Sequence[Player], seat: int) -> frozenset[int]:
    """Return the other seats with a player whose name marks a conspirator.

    The name may be that of a house bot and may end in a number.
    """
    kind = re.compile(rf"(house )?{NAME}([ -]\d+)?", re.IGNORECASE)
    return frozenset(
        other
        for other, player in enumerate(players)
        if other != seat and kind.fullmatch(player.name)
    )
