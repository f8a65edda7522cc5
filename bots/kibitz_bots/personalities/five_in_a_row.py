"""The house bots of five in a row."""

from __future__ import annotations

from kibitz_bots.personalities.making import (
    PLIES,
    SEED,
    TABLE,
    TIME,
    Personality,
    alphabeta,
    anything,
    greedy,
    searching,
)
from kibitz_bots.personalities.many_seats import growing, mcts

_GAME = "five-in-a-row"
_OWN = "kibitz_bots.experts.five_in_a_row"


def _level(name: str, plies: int, summary: str) -> Personality:
    return Personality(
        f"{_GAME}/{name}",
        summary,
        searching(f"{_OWN}.levels:Level", f"{_OWN}.utility:usual", plies=plies),
        (SEED,),
        algorithm="minimax",
        evaluation="the report's utility",
    )


PERSONALITIES = (
    Personality(f"{_GAME}/random", "plays any empty cell", anything, (SEED,)),
    Personality(
        f"{_GAME}/greedy",
        "the stone after which the rows on the board look best",
        greedy("kibitz_bots.evaluate.five_in_a_row:usual"),
        (SEED,),
    ),
    Personality(
        f"{_GAME}/alphabeta",
        "looks several stones ahead, by the rows on the board",
        alphabeta("kibitz_bots.evaluate.five_in_a_row:usual"),
        (SEED, TIME, PLIES, TABLE),
    ),
    _level("beginner", 1, "the report's first level: the best utility of one stone"),
    _level("intermediate", 3, "the report's second level: minimax to depth 2 beyond the stone"),
    _level("advanced", 5, "the report's third level: minimax to depth 4 beyond the stone"),
    Personality(
        f"{_GAME}/threat",
        "knows every threat on the board and follows fours to their end",
        searching(f"{_OWN}.threat:Threat", f"{_OWN}.classes:usual"),
        (SEED, TIME, PLIES, TABLE),
        algorithm="threat",
        evaluation="classes of cells",
    ),
    Personality(
        f"{_GAME}/mcts",
        "tries lines of play out, judged by the rows on the board",
        mcts("kibitz_bots.evaluate.five_in_a_row:usual"),
        growing(300, plies=8, epsilon=0.1),
    ),
)
