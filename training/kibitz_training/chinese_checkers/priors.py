"""The experiment ``chinese-checkers/priors``: learn which moves a search should try first.

Playouts and the growth of the tree follow priors of moves (`operations.move_prior`). The game's own
prior of a move is the number of steps that it gains. This experiment learns priors from search
results instead. Searches without learned priors play each other and, with ``planners``, solo
planners (`beam`), with the distances of ``learned`` (`learned.distances_for`). Numbers for leaving
and for entering each hole are fitted to the moves that all of them chose (`prior_fit`). One game in
five is held out to test the predictions.

    journal.jsonl   all games; an interrupted run resumes from it
    best.json       the distances and the priors, for ``mcts-weights:file=best.json``
"""

from __future__ import annotations

import numpy as np
from pydantic import Field

from kibitz_search.chinese_checkers import learned, weights_file
from kibitz_training import output
from kibitz_training.chinese_checkers import prior_fit
from kibitz_training.chinese_checkers.prior_games import choices, play
from kibitz_training.experiment import Experiment, Parameters, TrainingRun
from kibitz_training.game_batches import play_all, split
from kibitz_training.journal import Journal

NAME, BEST = "chinese-checkers/priors", "best.json"
DIGITS = 3
"""The decimals of the priors."""


class PriorParameters(Parameters):
    """The number of games, and the iterations of each search."""

    seats: int = Field(2, ge=2, le=6, description="players")
    planners: int = Field(0, ge=0, le=6, description="players that are planners, 0 for none")
    games: int = Field(150, ge=2, le=100_000, description="self-play games")
    iterations: int = Field(400, ge=10, le=1_000_000, description="iterations per move")


def run(parameters: PriorParameters, given: TrainingRun) -> None:
    """Play the games, fit the priors, and write the distances with the priors."""
    seats, distances = parameters.seats, learned.distances_for(parameters.seats)
    planners = min(parameters.planners, seats)
    with Journal.of_run(given, NAME, parameters, {"games"}) as journal:
        played = play_all(
            given,
            journal,
            parameters.games,
            lambda seed: play(seats, planners, distances, parameters.iterations, seed),
            lambda game: list(choices(seats, list(map(int, game)))),
        )
    fitted, held = ([choice for game in games for choice in game] for games in split(played))
    priors = prior_fit.fit(prior_fit.gathered(fitted))
    likelihood = prior_fit.likelihood(prior_fit.gathered(held), priors)
    even = float(-np.mean([np.log(len(choice.legal)) for choice in held]))
    given.reporter.say(
        f"fitted to {len(fitted)} moves; {len(held)} held-out moves have a mean "
        f"log probability of {likelihood:.4f} ({even:.4f} for a uniform distribution)"
    )
    numbers = [*distances, *np.round(priors, DIGITS).ravel().tolist()]
    notes = {"games": len(played), "likelihood": round(likelihood, 4), "even": round(even, 4)}
    output.save_weights(
        given, BEST, weights_file.file_of(numbers, seats, weights_file.GUIDED), notes
    )


EXPERIMENT = Experiment(
    NAME,
    "priors of moves for a Monte Carlo search, fitted to the moves that it chose",
    PriorParameters,
    run,
    distributed=False,  # its searches run in threads of one process
)
