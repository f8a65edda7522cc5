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
)

_GAME = "five-in-a-row"

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
)
