"""kibitz play number-merge docs/examples/own_search.py number-merge/random --games 2"""

import numpy as np

from kibitz_bots.catalog.parameters import SEED
from kibitz_bots.catalog.personality import EngineSpec, Personality
from kibitz_games.compiled import kernels, operations
from kibitz_search.algorithms.result import SearchResult, root_moves

LEAD = kernels.record_type("lead", [("worth", np.float64)], source=__file__)


@kernels.kernel
def _evaluate(ev, st, seat):
    """Return the value of the position for `seat`; numba compiles this if it is installed."""
    return ev.worth * (st.score[seat] - st.score[1 - seat])


operations.implement(LEAD, evaluate=_evaluate)


def lead(state):
    """Return the evaluation, a record of weights for this kind of state."""
    ev = kernels.new(LEAD)
    ev["worth"] = 1.0
    return ev


class Greedy:
    """A search that plays the move with the best evaluation."""

    def __init__(self, state):
        """Allocate memory for a match with this initial state."""

    @staticmethod
    def supports(info, state):
        return None if info.seats == (2,) else f"{info.name} is not a game for two"

    def search(self, state, ev, limits):
        seat, worth = int(operations.to_act(state)), {}
        for action in root_moves(state, limits.seed):
            after = state.copy()
            operations.play(after, np.int64(action))
            worth[action] = float(operations.evaluate(ev, after, np.int64(seat)))
        best = max(worth, key=worth.__getitem__)
        return SearchResult(best, worth[best], 1, len(worth), (best,))


MINE = Personality(
    "number-merge/mine",
    "the best move by the lead",
    EngineSpec(lambda: Greedy, lambda: lead),
    (SEED,),
)


def BOT():
    return MINE.make()
