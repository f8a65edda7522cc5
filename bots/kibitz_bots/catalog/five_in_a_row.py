"""The house bots of five in a row."""

from __future__ import annotations

from pathlib import Path

import kibitz_search
from kibitz_bots.catalog.parameters import BLUNDER, PLIES, SEED, TABLE, TIME
from kibitz_bots.catalog.personality import (
    EngineSpec,
    NamedEvaluation,
    Personality,
    imported,
    random_bot,
)
from kibitz_bots.catalog.searches import ALPHABETA, GREEDY, MINIMAX, bots_by, mcts

_GAME = "five-in-a-row"
_SEARCH = "kibitz_search.five_in_a_row"
_WEIGHTS = Path(kibitz_search.__file__).parent / "five_in_a_row" / "weights"


def _level(name: str, plies: int, summary: str) -> Personality:
    return Personality(
        f"{_GAME}/{name}",
        summary,
        EngineSpec(
            imported(f"{_SEARCH}.report_levels:ReportLevel"),
            imported(f"{_SEARCH}.utility:usual"),
            fixed={"plies": plies},
        ),
        (SEED,),
        algorithm="minimax",
        evaluation="the report's utility",
    )


EVALUATIONS = {
    "usual": NamedEvaluation(imported(f"{_SEARCH}.evaluation:usual"), "by the rows on the board")
}

PERSONALITIES = (
    Personality(f"{_GAME}/random", "plays a random empty cell", random_bot, (SEED,)),
    *bots_by(
        _GAME,
        (GREEDY, MINIMAX, ALPHABETA, mcts(300, plies=8, epsilon=0.1)),
        EVALUATIONS,
        "usual",
        summaries={
            "greedy": "plays the stone with the best evaluation of the resulting rows",
            "alphabeta": "searches several stones ahead, judged by the rows on the board",
        },
    ),
    _level("beginner", 1, "the report's first level: plays the stone with the best utility"),
    _level("intermediate", 3, "the report's second level: runs 2-ply minimax after each stone"),
    _level("advanced", 5, "the report's third level: runs 4-ply minimax after each stone"),
    Personality(
        f"{_GAME}/threat",
        "tracks every threat on the board and searches forcing sequences of fours to the end",
        EngineSpec(
            imported(f"{_SEARCH}.threat:Threat"), imported(f"{_SEARCH}.weights_file:fitted")
        ),
        (SEED, BLUNDER, TIME, PLIES, TABLE),
        algorithm="threat",
        evaluation="shapes of cells",
        weights=(_WEIGHTS / "board-15.json",),
    ),
)
