"""The bots that every built-in game has; they need only its rules.

Positions are evaluated by the outcome, and an unfinished match has the same value for every seat.
The searches therefore see only the wins and losses within their horizon, and the playouts of Monte
Carlo tree search run to the end of the game.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from kibitz_bots.catalog.parameters import SEED
from kibitz_bots.catalog.personality import NamedEvaluation, Personality, imported, random_bot
from kibitz_bots.catalog.searches import ALPHABETA, GREEDY, MINIMAX, Algorithm, bots_by, mcts

EVALUATIONS = {
    "outcome": NamedEvaluation(
        imported("kibitz_search.algorithms.outcome:outcome"), "by the result only"
    )
}
MCTS = mcts(1, plies=1024, epsilon=0.2, widen=0.0)
"""Monte Carlo tree search with playouts to the end of the game."""
FOR_ALL = (GREEDY, MCTS)
"""The searches that support every game, with or without hidden information."""
FOR_TWO = (GREEDY, MINIMAX, ALPHABETA, MCTS)
"""The searches for two-player games without hidden information."""


def bots(game: str, algorithms: Collection[Algorithm] = FOR_ALL) -> Iterator[Personality]:
    """Yield a game's random player and the searches that evaluate by the outcome."""
    yield Personality(f"{game}/random", "plays a random legal move", random_bot, (SEED,))
    yield from bots_by(game, algorithms, EVALUATIONS, "outcome")
