"""The test of the array that ships: `greedy` with it, against each judge."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import numpy as np

import kibitz_search.chinese_checkers
from benchmarks.experiments import matches
from benchmarks.experiments.experiment import Measured, Scale
from kibitz_search.chinese_checkers import evolution, weights_file
from kibitz_search.chinese_checkers.hole_games import PLIES, WON, against

SHIPPED = Path(kibitz_search.chinese_checkers.__file__).with_name("weights") / "evolved-2.json"
SEED = 2026
REPORTED = 427.4
"""The fitness of the report's fittest array."""


def evolved(scale: Scale) -> Measured:
    """Play the evolved array against each judge, in games that its evolution has not seen."""
    count = scale.choose(1000, 4000)
    file = weights_file.read(SHIPPED)
    array = np.array([file.weights], np.float64)
    rows = []
    for judge in evolution.JUDGES:
        with closing(against(judge, 2, threads=scale.threads)) as games:
            came = games.play(array, [SEED], 0, count)[0]
        won = came[:, WON] > 0
        percent, interval = matches.share(int(won.sum()), count)
        plies, fitness = f"{came[won, PLIES].mean():.1f}", f"{evolution.scores(came).mean():.1f}"
        rows.append((judge, str(count), percent, interval, plies, fitness))
    hand = rows[evolution.JUDGES.index("hand")]
    compared = "less than" if float(hand[5]) < REPORTED else "no less than"
    return Measured(
        found=f"The array that ships wins {hand[2]} ({hand[3]}) of its games against the "
        f"hand-tuned one, in {hand[4]} plies a win and with a mean fitness of {hand[5]}, "
        f"{compared} the report's {REPORTED}. `{file.command}` evolves it again.",
        heads=("judge", "games", "won", "95% interval", "plies a win", "mean fitness"),
        rows=tuple(rows),
    )
