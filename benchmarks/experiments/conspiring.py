"""The gain of bots that recognize their own kind: groups that cooperate, and groups that do not."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.experiments import matches
from benchmarks.experiments.experiment import Measured, Scale
from benchmarks.experiments.matches import Player
from kibitz_search.algorithms.conspiracy import Conspiracy
from kibitz_search.algorithms.greedy import Greedy
from kibitz_search.chinese_checkers.evaluation import EVALUATIONS

GAME = "chinese-checkers"
GROUPS: tuple[tuple[int, tuple[int, ...]], ...] = (
    (3, (0, 1)),
    (4, (0, 1)),
    (4, (0, 2)),
    (6, (0, 1, 2)),
    (6, (0, 2, 4)),
)
"""Seats of the match, and those of the group in the first match; they turn with each match."""
OPENING = 2
"""Random moves of each seat before the match, so that no two are the same."""


@dataclass(frozen=True)
class Gain:
    """The results of a group over its games."""

    games: int
    wins: int
    """Games in which one of the group came first."""
    score: float
    """The mean share of the others that a member of it left behind."""


def play_group(seats: int, group: tuple[int, ...], games: int, *, together: bool) -> Gain:
    """Play a group against bots that look one move ahead by the same evaluation.

    Its members know each other where they are `together`; else each plays for itself.
    """
    judged, wins, score = EVALUATIONS["mobility"], 0, 0.0
    for seed in range(games):
        game, state = matches.start(GAME, seats, seed)
        matches.scatter(game, state, OPENING * seats, seed)
        own = frozenset((seat + seed) % seats for seat in group)
        choosers = []
        for seat in range(seats):
            friends = own - {seat} if together else frozenset()
            member = Player(Conspiracy, judged, parameters={"friends": friends})
            choosers.append((member if seat in own else Player(Greedy, judged)).chooser(state))
        outcome = matches.play(game, state, choosers, seed)
        wins += any(outcome.ranks[seat] == 1 for seat in own)
        score += sum(outcome.scores[seat] for seat in own) / len(own)
    return Gain(games, wins, score / games)


def conspiring(scale: Scale) -> Measured:
    """Play every group with and without its members knowing each other."""
    games = scale.choose(200, 1000)
    rows, better = [], 0
    for seats, group in GROUPS:
        alone, joined = (
            play_group(seats, group, games, together=together) for together in (False, True)
        )
        better += joined.wins > alone.wins
        for gain, how in ((alone, "each for itself"), (joined, "together")):
            percent, interval = matches.share(gain.wins, games)
            who = f"{len(group)} of {seats}: seats {', '.join(str(seat + 1) for seat in group)}"
            rows.append((who, how, str(games), percent, interval, f"{gain.score:.3f}"))
    return Measured(
        found=f"One of the group comes first more often with members that know each other in "
        f"{better} of {len(GROUPS)} groups, in {games} games each.",
        heads=("group", "plays", "games", "one is first", "95% interval", "mean score"),
        rows=tuple(rows),
    )
