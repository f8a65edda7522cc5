"""The experiments of "Fun With Chinese Checkers" that need no training.

`plan` is the report's search as it lists it: the best plan over all depths, own moves only. It
compares two plans of equal worth in one of three ways:

- ``sooner``: the one that comes to its worth earlier is better, as in the report;
- ``first``: whichever was found first stays;
- ``last``: whichever was found last is taken, and so the longest.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from benchmarks.experiments import matches
from benchmarks.experiments.experiment import Measured, Scale
from benchmarks.experiments.matches import Chooser, Player
from kibitz_games.compiled import operations as op
from kibitz_games.core.game import Game
from kibitz_search.algorithms.greedy import Greedy
from kibitz_search.algorithms.result import WIN_SCORE, root_moves
from kibitz_search.chinese_checkers.evaluation import hand

GAME = "chinese-checkers"
Rule = Literal["sooner", "first", "last"]
RULES: tuple[Rule, ...] = ("sooner", "first", "last")
OWN_MOVES = 2
"""How far ahead the plans go."""
RACE = 60
"""Plies after which the own player's plans begin; until then both play greedily."""
PATIENCE = 60
"""Own moves after which it counts as going round in circles."""


@dataclass
class Plan:
    """The best plan so far."""

    action: int = -1
    worth: float = -np.inf
    depth: int = 0

    def beaten_by(self, worth: float, depth: int, rule: Rule) -> bool:
        """Whether a plan takes the place of this one."""
        if worth != self.worth:
            return worth > self.worth
        return rule == "last" or (rule == "sooner" and depth < self.depth)


def plan(state: np.record, ev: np.record, seed: str, rule: Rule) -> int:
    """Return the first move of the best plan of up to `OWN_MOVES` own moves."""
    st, best = state.copy(), Plan()
    seat = int(op.to_act(st))
    for limit in range(OWN_MOVES):
        for action in root_moves(state, seed):
            _extend(st, ev, seat, action, action, limit, 0, best, rule)
    return best.action


def _extend(
    st: np.record,
    ev: np.record,
    seat: int,
    first: int,
    action: int,
    limit: int,
    depth: int,
    best: Plan,
    rule: Rule,
) -> None:
    """Judge a plan that goes on with `action`, and all that go on from there."""
    op.play(st, action)
    over = bool(op.terminal(st))
    worth = float(op.evaluate(ev, st, np.int64(seat)))
    if best.beaten_by(worth, depth, rule):
        best.action, best.worth, best.depth = first, worth, depth
    if depth < limit and not over and worth < WIN_SCORE:
        turn = op.set_side_to_move(st, np.int64(seat))
        for following in root_moves(st, 0):
            _extend(st, ev, seat, first, following, limit, depth + 1, best, rule)
        op.set_side_to_move(st, np.int64(turn))
    op.undo(st, action)


def sooner(scale: Scale) -> Measured:
    """Play to the end with each way to compare plans, against the greedy player."""
    games = scale.choose(20, 200)
    rows, ends = [], {}
    for rule in RULES:
        counts = Counter(finish(seed, rule) for seed in range(games))
        ends[rule] = counts["home"]
        percent, interval = matches.share(counts["home"], games)
        rows.append(
            (rule, str(games), str(counts["home"]), str(counts["circles"]), percent, interval)
        )
    return Measured(
        found=f"Of {games} endgames the player brought all pegs home in {ends['sooner']} where "
        f"the sooner of equal outcomes is better, in {ends['first']} where the first one found "
        f"stays, and in {ends['last']} where the last one found is taken.",
        heads=("of equal plans", "games", "home", "in circles", "home, share", "95% interval"),
        rows=tuple(rows),
    )


def finish(seed: int, rule: Rule) -> Literal["home", "circles"]:
    """Play greedily into the race, then by plans; return whether the planner comes home.

    The rules against repetition do not help it: it has `PATIENCE` own moves, and the match is
    lost to it when they end it first.
    """
    game, state = matches.start(GAME, 2, seed)
    matches.scatter(game, state, 4, seed)
    greedy = Player(Greedy, hand).chooser(state)
    ev = hand(state)
    _play_greedily(game, state, greedy, seed)
    own = 0
    for _ in range(2 * PATIENCE):
        if game.outcome(state) is not None:
            break
        choice = f"{seed}/{int(state['ply'])}"
        by_plan = game.to_act(state) == own
        action = plan(state, ev, choice, rule) if by_plan else greedy(state, choice)
        game.play(state, action)
        if float(op.evaluate(ev, state, np.int64(own))) >= WIN_SCORE:
            return "home"
    return "circles"


def _play_greedily(game: Game, state: np.record, greedy: Chooser, seed: int) -> None:
    for ply in range(RACE):
        if game.outcome(state) is not None:
            return
        game.play(state, greedy(state, f"{seed}/{ply}"))


def middle(seed: int, plies: int = 24) -> tuple[Game, Any]:
    """Return a position of the middle game, played greedily."""
    game, state = matches.start(GAME, 2, seed)
    matches.scatter(game, state, 4, seed)
    greedy = Player(Greedy, hand).chooser(state)
    for ply in range(plies):
        game.play(state, greedy(state, f"{seed}/{ply}"))
    return game, state
