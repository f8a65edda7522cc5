"""Monte Carlo search by learned moves, alone and with the own moves planned at the end.

`GuidedMcts` is the usual search, with playouts that fit what was learned. With six players it is
level with others until the last pegs come home, and then leaves them in front of a full goal: what
brings one in takes several own moves, and between two of them lie five of the others. So
`GuidedPhases` plans its own moves alone there, as `Iddfs` does.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from kibitz_games.compiled import operations as op
from kibitz_games.core.game import GameInfo
from kibitz_search.algorithms.iddfs import Iddfs
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.mcts import Mcts
from kibitz_search.algorithms.result import SearchResult


class Playouts(NamedTuple):
    """Parameters of `Mcts`."""

    plies: int
    epsilon: float
    widen: float


PLAYOUTS: Final = {2: Playouts(2, 0.05, 1.0), 6: Playouts(6, 0.1, 0.5)}
"""What to play with by the number of seats: the better the guesses, the less chance helps.
With six, tried in 60 games against `champion` at 5 ms a move: 67% with these, 58% with half of
`widen`, 57% with a third less of it and twice `epsilon`, or 12 plies."""


class GuidedMcts(Mcts):
    """`Mcts` in which `plies`, `epsilon` and `widen` follow from the number of seats where None."""

    def __init__(
        self,
        state: np.record,
        *,
        plies: int | None = None,
        epsilon: float | None = None,
        widen: float | None = None,
        **others: Any,
    ) -> None:
        fitting = PLAYOUTS.get(int(state["seats"]), PLAYOUTS[2])
        super().__init__(
            state,
            plies=fitting.plies if plies is None else plies,
            epsilon=fitting.epsilon if epsilon is None else epsilon,
            widen=fitting.widen if widen is None else widen,
            **others,
        )


STEPS_LEFT = 10
"""With so few steps to go, of all pegs together, the own moves are planned alone."""


class GuidedPhases:
    """`GuidedMcts`, whose parameters it takes, and `Iddfs` once `STEPS_LEFT` says so."""

    def __init__(self, state: np.record, **parameters: Any) -> None:
        self._middle, self._end = GuidedMcts(state, **parameters), Iddfs(state)

    @staticmethod
    def supports(info: GameInfo, state: np.record) -> str | None:
        """Return why it cannot play a game, or None if it can."""
        return Iddfs.supports(info, state)

    def warm_up(self, state: np.record, ev: np.record) -> None:
        """Search both ways once, so that nothing is compiled when the end comes."""
        for each in (self._middle, self._end):
            each.search(state, ev, SearchLimits(0.001))

    def search(self, state: np.record, ev: np.record, limits: SearchLimits) -> SearchResult:
        """Return what the search of the phase finds for the seat to act."""
        left = int(state["distance"][int(op.to_act(state))])
        search = self._end if left <= STEPS_LEFT else self._middle
        return search.search(state, ev, limits)
