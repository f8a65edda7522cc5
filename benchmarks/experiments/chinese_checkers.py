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
End = Literal["home", "beaten", "circles"]
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
        moves = np.empty(op.max_actions(st.dtype), np.int32)
        for following in moves[: op.generate(st, moves)].tolist():
            _extend(st, ev, seat, first, following, limit, depth + 1, best, rule)
        op.set_side_to_move(st, np.int64(turn))
    op.undo(st, action)


def sooner(scale: Scale) -> Measured:
    """Play to the end with each way to compare plans, against the greedy player."""
    games = scale.choose(20, 200)
    ends = {rule: Counter(finish(seed, rule) for seed in range(games)) for rule in RULES}
    return Measured(
        found=f"Of {games} endgames against the greedy player, plans of {OWN_MOVES} own moves go "
        f"in circles in {ends['sooner']['circles']} where the sooner of equal outcomes is better, "
        f"in {ends['first']['circles']} where the first one found stays, and in "
        f"{ends['last']['circles']} where the last one found is taken.",
        heads=("of equal plans", "games", "home first", "beaten", "circles", "95% interval"),
        rows=tuple(_row(rule, ends[rule]) for rule in RULES),
    )


def _row(rule: Rule, ends: Counter[End]) -> tuple[str, ...]:
    games, circles = ends.total(), ends["circles"]
    percent, interval = matches.share(circles, games)
    counts = (str(ends["home"]), str(ends["beaten"]), f"{circles} ({percent})")
    return rule, str(games), *counts, interval


def finish(seed: int, rule: Rule) -> End:
    """Play greedily into the race, then by plans; return how the planner ends.

    It goes in circles where neither is home after `PATIENCE` own moves, or where the rules end the
    match before that, as they do when a position comes again.
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
    beaten = float(op.evaluate(ev, state, np.int64(1 - own))) >= WIN_SCORE
    return "beaten" if beaten else "circles"


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
