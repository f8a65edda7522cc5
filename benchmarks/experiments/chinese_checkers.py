"""Experiments on "Fun With Chinese Checkers" that need no training.

`plan` is the search as listed in the report, which considers only own moves and keeps the best plan
over all depths. It compares two plans of equal value in one of three ways:

- ``sooner``: the plan that reaches its value earlier is better, as in the report;
- ``first``: the plan that was found first is kept;
- ``last``: the plan that was found last, which is the longest, replaces the other.
"""

from __future__ import annotations

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
"""The length of plans."""
RACE = 76
"""Plies that both players play greedily before the first plan."""
PATIENCE = 40
"""A player that needs more own moves than this counts as not reaching its goal."""


@dataclass
class Plan:
    """The best plan so far."""

    action: int = -1
    worth: float = -np.inf
    depth: int = 0

    def beaten_by(self, worth: float, depth: int, rule: Rule) -> bool:
        """Return whether another plan replaces this one."""
        if worth != self.worth:
            return worth > self.worth
        return rule == "last" or (rule == "sooner" and depth < self.depth)


@dataclass(frozen=True)
class End:
    """The outcome of an endgame."""

    home: bool
    moves: int
    """Number of own moves."""
    put_off: int
    """How often the player did not play an immediate win."""


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
    """Evaluate the plan extended by `action`, and all of its extensions."""
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
    """Play endgames with each way to compare plans, while the other player stands still."""
    games = scale.choose(20, 200)
    ends = {rule: [finish(seed, rule) for seed in range(games)] for rule in RULES}
    circles = {rule: sum(not end.home for end in ends[rule]) for rule in RULES}
    return Measured(
        found=f"In {games} endgames in which the other player does not move, the player searches "
        f"plans of {OWN_MOVES} own moves. It does not reach its goal in {circles['sooner']} of "
        f"them if it prefers the sooner of two equal plans, in {circles['first']} if it keeps the "
        f"first plan found, and in {circles['last']} if it takes the last plan found. With the "
        f"last rule, it delayed an immediate win {sum(end.put_off for end in ends['last'])} times.",
        heads=("preferred plan", "games", "home", "95% interval", "own moves", "wins delayed"),
        rows=tuple(_row(rule, ends[rule]) for rule in RULES),
    )


def _row(rule: Rule, ends: list[End]) -> tuple[str, ...]:
    home = [end.moves for end in ends if end.home]
    percent, interval = matches.share(len(home), len(ends))
    moves = f"{sum(home) / len(home):.1f}" if home else "none"
    put_off = str(sum(end.put_off for end in ends))
    return rule, str(len(ends)), f"{len(home)} ({percent})", interval, moves, put_off


def finish(seed: int, rule: Rule) -> End:
    """Play greedily until the race, then move only seat 0, by its plans; return the outcome.

    Seat 0 does not reach its goal if it needs more than `PATIENCE` own moves, or if the rules end
    the match first, for example after a threefold repetition.
    """
    game, state = matches.start(GAME, 2, seed)
    matches.scatter(game, state, 4, seed)
    greedy = Player(Greedy, hand).chooser(state)
    _play_greedily(game, state, greedy, seed)
    ev, own, put_off = hand(state), np.int64(0), 0
    for moves in range(1, PATIENCE + 1):
        if game.outcome(state) is not None:
            break
        op.set_side_to_move(state, own)
        could_win = _wins_at_once(state, ev, own)
        game.play(state, plan(state, ev, f"{seed}/{moves}", rule))
        if float(op.evaluate(ev, state, own)) >= WIN_SCORE:
            return End(True, moves, put_off)
        put_off += could_win
    return End(False, PATIENCE, put_off)


def _wins_at_once(state: np.record, ev: np.record, own: np.int64) -> bool:
    st = state.copy()
    for action in root_moves(state, 0):
        op.play(st, action)
        won = float(op.evaluate(ev, st, own)) >= WIN_SCORE
        op.undo(st, action)
        if won:
            return True
    return False


def _play_greedily(game: Game, state: np.record, greedy: Chooser, seed: int) -> None:
    for ply in range(RACE):
        if game.outcome(state) is not None:
            return
        game.play(state, greedy(state, f"{seed}/{ply}"))


def middle(seed: int, plies: int = 24) -> tuple[Game, Any]:
    """Return a middle-game position reached by greedy play."""
    game, state = matches.start(GAME, 2, seed)
    matches.scatter(game, state, 4, seed)
    greedy = Player(Greedy, hand).chooser(state)
    for ply in range(plies):
        game.play(state, greedy(state, f"{seed}/{ply}"))
    return game, state
