"""Test the shipped arrays: `greedy` with each array, against each judge."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import numpy as np

import kibitz_search.chinese_checkers
from benchmarks.experiments import matches
from benchmarks.experiments.experiment import Measured, Scale
from kibitz_search.chinese_checkers import weights_file
from kibitz_search.chinese_checkers.evaluation import EVOLVED
from kibitz_search.chinese_checkers.hole_arrays import Array
from kibitz_training.chinese_checkers import genetic_fitness
from kibitz_training.chinese_checkers.hole_games import PLIES, WON, against

WEIGHTS = Path(kibitz_search.chinese_checkers.__file__).with_name("weights")
SEED = 2026
REPORTED = {2: ("99%", 427.4), 3: ("99.2%", 393.4)}
"""The report's win rate and maximum fitness, by number of players."""
BEGINS = ("individual", "turns")
"""The first mover: always the array, as during its evolution, or each player in turn."""
HEADS = ("players", "judge", "begins", "games", "won", "95% interval", "plies per win", "fitness")


def evolved(scale: Scale) -> Measured:
    """Play the evolved arrays against each judge, in games not used during evolution."""
    count, rows, sentences = scale.choose(1000, 4000), [], []
    arrays = {seats: _read(name) for seats, name in EVOLVED.items()}
    for seats, (array, command) in arrays.items():
        rows += [
            (str(seats), judge, begins, *tested(array, seats, judge, begins, count, scale.threads))
            for begins in BEGINS
            for judge in genetic_fitness.JUDGES
        ]
        first = rows[-len(BEGINS) * len(genetic_fitness.JUDGES)]
        sentences.append(_sentence(seats, first, command))
    for begins in BEGINS:
        row = tested(arrays[2][0], 3, "hand", begins, count, scale.threads)
        rows.append(("3, array for 2", "hand", begins, *row))
    sentences.append(
        f"With 3 players, the array for 2 wins {rows[-2][4]} ({rows[-2][5]}) of the same games."
    )
    return Measured(found=" ".join(sentences), heads=HEADS, rows=tuple(rows))


def _read(name: str) -> tuple[Array, str]:
    """Return a shipped array, and the command that evolved it."""
    file = weights_file.read(WEIGHTS / f"{name}.json")
    return np.array(file.weights, np.float64), file.command


def tested(
    array: Array, seats: int, judge: str, begins: str, count: int, threads: int
) -> tuple[str, ...]:
    """Return an array's number of games, win rate, interval, plies per win and fitness, as text."""
    with closing(against(judge, seats, threads=threads, begins=begins)) as games:
        came = games.play(array[np.newaxis], [SEED], 0, count)[0]
    won = came[:, WON] > 0
    plies = f"{came[won, PLIES].mean():.1f}" if won.any() else "-"
    fitness = f"{genetic_fitness.scores(came).mean():.1f}"
    return str(count), *matches.share(int(won.sum()), count), plies, fitness


def _sentence(seats: int, row: tuple[str, ...], command: str) -> str:
    """Summarize the games against the hand-tuned array."""
    share, highest = REPORTED[seats]
    compared = "less than" if float(row[7]) < highest else "no less than"
    return (
        f"With {seats} players, the shipped array wins {row[4]} ({row[5]}) of the games that it "
        f"begins against the hand-tuned array, in {row[6]} plies per win. Its mean fitness is "
        f"{row[7]}, {compared} the report's maximum of {highest} (with {share} wins). "
        f"`{command}` evolves it again."
    )
