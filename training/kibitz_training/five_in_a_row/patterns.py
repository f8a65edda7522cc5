"""The experiment ``five-in-a-row/patterns``: class weights fitted to games and proofs.

`threat` plays itself with few positions per move; a game ends when the search has proven the
winner. Weights are fitted to four of five games, and the fifth tests them. They apply to the board
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
from kibitz_search.five_in_a_row.weights_file import SIZE
from kibitz_training import output
from kibitz_training.experiment import Experiment, Parameters, TrainingRun
from kibitz_training.five_in_a_row import pattern_fit
from kibitz_training.five_in_a_row.pattern_games import MIDDLE, PlayedGame, play, positions
from kibitz_training.game_batches import play_all, split
from kibitz_training.journal import Journal

NAME, BEST = "five-in-a-row/patterns", "best.json"


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
    rows, chances, _ = _together(held, parameters.size, scale)
    before = pattern_fit.loss(rows, chances, pattern_fit.usual_numbers())
    after = pattern_fit.loss(rows, chances, numbers)
    given.reporter.say(
        f"fitted to {len(fitted)} games; log loss on {len(held)} others "
        f"{before:.4f} with the default weights, {after:.4f} with these"
    )
    notes = {"games": len(played), "loss before": round(before, 4), "loss": round(after, 4)}
    file = weights_file.file_of(numbers.tolist(), parameters.size)
    output.save_weights(given, BEST, file, notes)


def _line(game: PlayedGame) -> list[Any]:
    return [game.opening, list(game.moves), list(game.values), game.result]


def _read(line: Any) -> PlayedGame:
    opening, moves, values, result = line
    read = tuple(map(int, moves)), tuple(map(float, values)), float(result)
    return PlayedGame(int(opening), *read)


def _together(
    games: Sequence[PlayedGame], size: int, scale: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the positions of games, their chances and their weights."""
    parts = [positions(game, size, scale) for game in games]
    rows = np.concatenate([rows for rows, _ in parts] or [np.zeros((0, SIZE))])
    chances = np.concatenate([chances for _, chances in parts] or [np.zeros(0)])
    share = np.concatenate([np.full(len(rows), 1 / max(1, len(rows))) for rows, _ in parts])
    return rows, chances, share


EXPERIMENT = Experiment(
    NAME,
    "class weights of cells, fitted to self-play games of threat and their proven results",
    PatternParameters,
    run,
    distributed=False,  # its searches run in threads of one process
)
