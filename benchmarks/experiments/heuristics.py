"""Experiments on "Fun With Chinese Checkers": heuristics, phases, opening book, and seats."""

from __future__ import annotations

import functools

import numpy as np

from benchmarks.experiments import matches
from benchmarks.experiments.experiment import Measured, Scale
from benchmarks.experiments.matches import Player
from kibitz_games.chinese_checkers import geometry as geo
from kibitz_games.core.game import Outcome
from kibitz_search.algorithms.greedy import Greedy
from kibitz_search.algorithms.interface import Evaluation
from kibitz_search.algorithms.minimax import Minimax
from kibitz_search.chinese_checkers import evaluation as ev
from kibitz_search.chinese_checkers.phased import PhasedChineseCheckers
from kibitz_training.chinese_checkers.write_openings import WithoutBook

GAME = "chinese-checkers"
OPENING = 2
"""Random moves of each seat before a match, so that no two matches are the same."""
CROWDS = (2, 3, 4, 6)
SECONDS = 0.02
OWN_MOVES = 2
"""How far the players with and without an opening book look ahead."""
UNSEEN = 1000
"""The first seed of the games with the book; its lines were chosen by games with lower seeds."""
HEADS = ("players", "games", "first", "even share", "95% interval")


def play_all(players: list[Player], seed: int) -> Outcome:
    """Play a match with one player for each seat."""
    game, state = matches.start(GAME, len(players), seed)
    matches.scatter(game, state, OPENING * len(players), seed)
    return matches.play(game, state, [player.chooser(state) for player in players], seed)


def firsts(own: Player, other: Player, seats: int, games: int) -> float:
    """Return in how many games one player is first among others.

    A shared first place counts as a fraction. The player plays each opening from every seat.
    """
    won = 0.0
    for at in range(games):
        opening, seat = divmod(at, seats)
        ranks = play_all([own if each == seat else other for each in range(seats)], opening).ranks
        won += (ranks[seat] == 1) / ranks.count(1)
    return won


def _greedy(evaluation: Evaluation) -> Player:
    return Player(Greedy, evaluation)


def _against(own: Player, other: Player, seats: int, games: int) -> tuple[str, ...]:
    percent, interval = matches.share(firsts(own, other, seats, games), games)
    return str(seats), str(games), percent, f"{100 / seats:.1f}%", interval


def hand_tuned(scale: Scale) -> Measured:
    """Play the hand-tuned distances against the Euclidean ones."""
    row = _against(_greedy(ev.hand), _greedy(ev.euclid), 2, scale.choose(1000, 10_000))
    return Measured(
        found=f"Looking one move ahead, the hand-tuned distances win {row[2]} ({row[4]}) of "
        f"{row[1]} games against the Euclidean ones.",
        heads=HEADS,
        rows=(row,),
    )


def cohesion(scale: Scale) -> Measured:
    """Play cohesion, and then mobility, against players with the hand-tuned distances."""
    games, rows = scale.choose(240, 2400), []
    for name in ("cohesion", "mobility"):
        own = _greedy(ev.EVALUATIONS[name])
        rows += [(name, *_against(own, _greedy(ev.hand), seats, games)) for seats in CROWDS]
    told = ", ".join(f"{row[3]} with {row[1]}" for row in rows[: len(CROWDS)])
    return Measured(
        found="If one player uses cohesion and all others use the hand-tuned distances, looking "
        f"one move ahead, it is first in {told} players. The table also has the results of "
        "mobility.",
        heads=("evaluation", *HEADS),
        rows=tuple(rows),
    )


def center(scale: Scale) -> Measured:
    """Play the hand-tuned distances against the same without the preference for the middle."""
    return _compare_without(scale, "preference for the middle", lane=0)


def left_behind(scale: Scale) -> Measured:
    """Play the hand-tuned distances against the same without the penalty for pegs left behind."""
    return _compare_without(scale, "penalty for pegs left behind", behind=0)


def _compare_without(
    scale: Scale, what: str, *, lane: float = ev.LANE, behind: float = ev.LEFT_BEHIND
) -> Measured:
    """Play the hand-tuned distances against the same with other parameters."""
    games, own = scale.choose(240, 2400), _greedy(ev.hand)
    other = _greedy(functools.partial(hand_with, lane=lane, behind=behind))
    rows = tuple(_against(own, other, seats, games) for seats in CROWDS)
    told = ", ".join(f"{row[2]} with {row[0]}" for row in rows)
    return Measured(
        found="If one player uses the hand-tuned distances and all others use them without the "
        f"{what}, looking one move ahead, it is first in {told} players.",
        heads=HEADS,
        rows=rows,
    )


def hand_with(state: np.record, *, lane: float, behind: float) -> np.record:
    """Return the hand-tuned weights with these penalties: off the center lane, and left behind."""

    def weight(shape: geo.Geometry, goal: int, hole: int) -> float:
        tip, rear = shape.tips[goal], shape.tips[(goal + 3) % geo.CORNERS]
        aside = ev.aside(shape, rear, tip, hole)
        return -shape.steps(hole, tip) - lane * aside - behind * (shape.steps(hole, rear) <= 1)

    return ev.weighted(state, weight)


def seats(scale: Scale) -> Measured:
    """Count how often each seat is first if the same bot plays on all seats."""
    games, rows, beyond = scale.choose(300, 3000), [], 0
    for count in CROWDS:
        won = [0.0] * count
        for seed in range(games):
            ranks = play_all([_greedy(ev.mobility)] * count, seed).ranks
            for seat, rank in enumerate(ranks):
                won[seat] += (rank == 1) / ranks.count(1)
        for seat, wins in enumerate(won):
            percent, interval = matches.share(wins, games)
            low, high = (float(bound.rstrip("%")) for bound in interval.split(" to "))
            beyond += not low <= 100 / count <= high
            rows.append((str(count), str(seat + 1), *_even(games, percent, count, interval)))
    return Measured(
        found=f"If the same bot plays on all seats, {beyond} of {len(rows)} seats are first "
        f"significantly more or less often than an even share, in {games} games per number of "
        "players.",
        heads=("players", "seat", "games", "first", "even share", "95% interval"),
        rows=tuple(rows),
    )


def _even(games: int, percent: str, count: int, interval: str) -> tuple[str, ...]:
    return str(games), percent, f"{100 / count:.1f}%", interval


def phases(scale: Scale) -> Measured:
    """Play the bot in phases with minimax in the middle game against the default one without."""
    games, rows = scale.choose(40, 400), []
    parameters = {"middle": Minimax}
    for name in ("hand", "mobility"):
        judged = ev.EVALUATIONS[name]
        own = Player(PhasedChineseCheckers, judged, SECONDS, parameters=parameters)
        other = Player(PhasedChineseCheckers, judged, SECONDS)
        rows.append((name, *_against(own, other, 2, games)))
    return Measured(
        found=f"With {1000 * SECONDS:.0f} ms per move, the bot with minimax in the middle game "
        f"wins {rows[0][3]} ({rows[0][5]}) of its games with the hand-tuned distances and "
        f"{rows[1][3]} ({rows[1][5]}) with mobility, against the bot that searches only its own "
        "moves there.",
        heads=("evaluation", *HEADS),
        rows=tuple(rows),
    )


def opening_book(scale: Scale) -> Measured:
    """Play the bot in phases with its opening book among the same without it."""
    own = Player(PhasedChineseCheckers, ev.mobility, depth=OWN_MOVES)
    other = Player(WithoutBook, ev.mobility, depth=OWN_MOVES)
    rows = []
    for seats, games in ((2, scale.choose(60, 600)), (3, scale.choose(39, 390))):
        won = sum(_is_first(own, other, seats, *divmod(at, seats)) for at in range(games))
        percent, interval = matches.share(won, games)
        rows.append((str(seats), *_even(games, percent, seats, interval)))
    return Measured(
        found=f"At {OWN_MOVES} own moves ahead, the bot with the book is first in {rows[0][2]} "
        f"({rows[0][4]}) of the games with two players and in {rows[1][2]} ({rows[1][4]}) with "
        f"three.",
        heads=HEADS,
        rows=tuple(rows),
    )


def _is_first(own: Player, other: Player, seats: int, seed: int, seat: int) -> float:
    """Return whether one seat is first in a match from the usual start, a shared place in part."""
    seed += UNSEEN
    game, state = matches.start(GAME, seats, seed)
    choosers = [(own if each == seat else other).chooser(state) for each in range(seats)]
    ranks = matches.play(game, state, choosers, seed).ranks
    return (ranks[seat] == 1) / ranks.count(1)
