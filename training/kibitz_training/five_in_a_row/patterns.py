"""The experiment ``five-in-a-row/patterns``: weights of shapes fitted to games and proofs.

`threat` plays itself with few positions per move; a game ends when the search has proven the
winner. Its evaluation is fitted to the results of four of five games, and its move order to their
moves; the fifth tests both. They apply to the board
size that they were fitted on.

    journal.jsonl   all games; an interrupted run resumes from it
    best.json       the weights, for ``five-in-a-row/threat-weights:file=best.json``
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pydantic import Field

from kibitz_games.five_in_a_row import geometry as geo
from kibitz_search.five_in_a_row import weights_file
from kibitz_training import output
from kibitz_training.experiment import Experiment, Parameters, TrainingRun
from kibitz_training.five_in_a_row import pattern_fit
from kibitz_training.five_in_a_row.pattern_games import (
    MIDDLE,
    Choices,
    Leaves,
    PlayedGame,
    joined_choices,
    joined_leaves,
    play,
    studied,
)
from kibitz_training.game_batches import play_all, split
from kibitz_training.journal import Journal

NAME, BEST = "five-in-a-row/patterns", "best.json"
FIRST = 3
"""The number of moves among which the chosen one is looked for, to test the order."""


class PatternParameters(Parameters):
    """The board size, the number of games, and the size of the searches."""

    size: int = Field(10, ge=MIDDLE, le=geo.LARGEST, description="columns and rows of the board")
    games: int = Field(1500, ge=2, le=1_000_000, description="self-play games of threat")
    nodes: int = Field(4000, ge=100, le=100_000_000, description="positions per search")


def run(parameters: PatternParameters, given: TrainingRun) -> None:
    """Play the games, fit the weights, and write them."""
    with Journal.of_run(given, NAME, parameters, {"games"}) as journal:
        played = play_all(
            given,
            journal,
            parameters.games,
            lambda seed: _line(play(seed, parameters.size, parameters.nodes)),
            _read,
        )
    fitted, held = split(played)
    scale = pattern_fit.search_scale(fitted)
    numbers = np.rint(pattern_fit.fit(*_together(fitted, parameters.size, scale)))
    leaves, choices = _together(held, parameters.size, scale)
    usual = pattern_fit.usual_numbers()
    before, after = (pattern_fit.loss(leaves, each) for each in (usual, numbers))
    first = [pattern_fit.among_first(choices, each, FIRST) for each in (usual, numbers)]
    given.reporter.say(
        f"fitted to {len(fitted)} games; log loss on {len(held)} others "
        f"{before:.4f} with the default weights, {after:.4f} with these; "
        f"chosen move among the first {FIRST}: {first[0]:.1%}, {first[1]:.1%}"
    )
    notes: dict[str, int | float | str] = {
        "games": len(played),
        "loss before": round(before, 4),
        "loss": round(after, 4),
        f"among the first {FIRST} before": round(first[0], 3),
        f"among the first {FIRST}": round(first[1], 3),
    }
    file = weights_file.file_of(numbers.tolist(), parameters.size)
    output.save_weights(given, BEST, file, notes)


def _line(game: PlayedGame) -> list[Any]:
    return [game.opening, list(game.moves), list(game.values), game.result]


def _read(line: Any) -> PlayedGame:
    opening, moves, values, result = line
    read = tuple(map(int, moves)), tuple(map(float, values)), float(result)
    return PlayedGame(int(opening), *read)


def _together(games: Sequence[PlayedGame], size: int, scale: float) -> tuple[Leaves, Choices]:
    """Return the positions of games."""
    leaves, choices = zip(*(studied(game, size, scale) for game in games), strict=True)
    return joined_leaves(leaves), joined_choices(choices)


EXPERIMENT = Experiment(
    NAME,
    "weights of the shapes of cells, fitted to self-play games of threat and their proven results",
    PatternParameters,
    run,
    distributed=False,  # its searches run in threads of one process
)
