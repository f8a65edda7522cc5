"""Best-reply search: after each action of the player, only one opponent replies, the strongest.

Source: M. P. D. Schadd and M. H. M. Winands, "Best-Reply Search for Multi-Player Games" (IEEE
Transactions on Computational Intelligence and AI in Games 3, 2011). Plies of the root's seat
alternate with plies in which only one opponent acts: the one whose action minimizes the lead of the
root's seat (see `utility`). The other opponents do not move. The search therefore looks further
ahead in the player's actions than the paranoid search, at the price of positions that cannot occur
in turn order. The game must allow skipping turns (`operations.set_side_to_move`). With two seats,
this is alpha-beta.
"""

from __future__ import annotations

import numpy as np

from kibitz_games.compiled import operations as op
from kibitz_games.core.game import GameInfo
from kibitz_search.algorithms.paranoid import Paranoid
from kibitz_search.algorithms.utility import active_seats


class Brs(Paranoid):
    """Best-reply search for two or more seats; see the module docstring and `MultiplayerSearch`."""

    single_reply = True

    @staticmethod
    def supports(info: GameInfo, state: np.record) -> str | None:
        """Return why the search does not support a game, or None if it does."""
        if not op.offers(state.dtype, "set_side_to_move"):
            return f"{info.name} does not allow skipping turns"
        return Paranoid.supports(info, state)

    def _reset(self, st: np.record, ev: np.record) -> None:
        super()._reset(st, ev)
        seats = active_seats(st)
        self._ws.active[: len(seats)] = seats
