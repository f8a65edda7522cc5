"""Measure how much a group of bots gains if its members recognize each other."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.experiments import matches
from benchmarks.experiments.experiment import Measured, Scale
from benchmarks.experiments.matches import Player
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
"""The number of seats, and the group's seats in the first match; they rotate with each match."""
OPENING = 2
"""Random moves per seat before the match, so that all matches differ."""


@dataclass(frozen=True)
class Gain:
    """The results of a group over its games."""

    games: int
    wins: int
    """Games in which a member of the group finished first."""
    score: float
    """The mean fraction of the other players that rank below a member."""


def play_group(seats: int, group: tuple[int, ...], games: int, *, together: bool) -> Gain:
    """Play a group against bots that look one move ahead with the same evaluation.

    The members recognize each other if they are `together`; otherwise each plays for itself.
    """
    judged, wins, score = EVALUATIONS["mobility"], 0, 0.0
    for seed in range(games):
        game, state = matches.start(GAME, seats, seed)
        matches.scatter(game, state, OPENING * seats, seed)
        own = frozenset((seat + seed) % seats for seat in group)
        choosers = []
        for seat in range(seats):
            friends = own - {seat} if together and seat in own else frozenset()
            player = Player(Greedy, judged, parameters={"friends": friends})
            choosers.append(player.chooser(state))
        outcome = matches.play(game, state, choosers, seed)
        wins += any(outcome.ranks[seat] == 1 for seat in own)
        score += sum(outcome.scores[seat] for seat in own) / len(own)
    return Gain(games, wins, score / games)


def conspiring(scale: Scale) -> Measured:
    """Play every group with members that recognize each other, and with members that do not."""
    games = scale.choose(200, 1000)
    rows, better = [], 0
    for seats, group in GROUPS:
        alone, joined = (
            play_group(seats, group, games, together=together) for together in (False, True)
        )
        better += joined.wins > alone.wins
        for gain, how in ((alone, "separately"), (joined, "together")):
            percent, interval = matches.share(gain.wins, games)
            who = f"{len(group)} of {seats}: seats {', '.join(str(seat + 1) for seat in group)}"
            rows.append((who, how, str(games), percent, interval, f"{gain.score:.3f}"))
    return Measured(
        found=f"In {better} of {len(GROUPS)} groups, a member finishes first more often if the "
        f"members recognize each other. Each group plays {games} games of each kind.",
        heads=("group", "plays", "games", "a member is first", "95% interval", "mean score"),
        rows=tuple(rows),
    )
