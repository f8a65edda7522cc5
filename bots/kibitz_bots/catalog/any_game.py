"""The bots that every built-in game has, which need only its rules.

Positions are judged by the outcome: an unfinished play has the same value for every seat. So the
searches see wins and losses within their reach, and Monte Carlo tree search plays on to the end.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from kibitz_bots.catalog.parameters import SEED
from kibitz_bots.catalog.personality import NamedEvaluation, Personality, imported, random_bot
from kibitz_bots.catalog.searches import ALPHABETA, GREEDY, MINIMAX, Algorithm, bots_by, mcts

EVALUATIONS = {
    "outcome": NamedEvaluation(
        imported("kibitz_search.algorithms.outcome:outcome"), "by nothing but who has won"
    )
}
MCTS = mcts(1, plies=1024, epsilon=0.2, widen=0.0)
"""Its playouts go on to the end."""
FOR_ALL = (GREEDY, MCTS)
"""The searches that play every game, with hidden information or without."""
FOR_TWO = (GREEDY, MINIMAX, ALPHABETA, MCTS)
"""Those that play a game of two in which nothing is hidden."""


def bots(game: str, algorithms: Collection[Algorithm] = FOR_ALL) -> Iterator[Personality]:
    """Yield the random player of a game, and the searches that judge by the outcome."""
    yield Personality(f"{game}/random", "plays any legal move", random_bot, (SEED,))
    yield from bots_by(game, algorithms, EVALUATIONS, "outcome")
