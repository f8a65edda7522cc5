"""The experiments of "Fun With Chinese Checkers" that need no training.

`plan` is the report's search as it lists it: the best plan over all depths, own moves only. It
compares two plans of equal worth in one of three ways:

- ``sooner``: the one that comes to its worth earlier is better, as in the report;
- ``first``: whichever was found first stays;
- ``last``: whichever was found last is taken, and so the longest.
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
"""How far ahead the plans go."""
RACE = 76
"""Plies after which the own player's plans begin; until then both play greedily."""
PATIENCE = 40
"""Own moves after which it counts as not coming home."""


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


@dataclass(frozen=True)
class End:
    """How an endgame ended."""

    home: bool
    moves: int
    """Own moves that it took."""
    put_off: int
    """How often a win at once was there and was not taken."""


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
    """Play to the end with each way to compare plans, while the other player stands still."""
    games = scale.choose(20, 200)
    ends = {rule: [finish(seed, rule) for seed in range(games)] for rule in RULES}
    circles = {rule: sum(not end.home for end in ends[rule]) for rule in RULES}
    return Measured(
        found=f"Of {games} endgames in which the other player stands still, plans of {OWN_MOVES} "
        f"own moves do not come home in {circles['sooner']} where the sooner of equal outcomes is "
        f"better, in {circles['first']} where the first one found stays, and in {circles['last']} "
        f"where the last one found is taken. That one put off a win at once "
        f"{sum(end.put_off for end in ends['last'])} times.",
        heads=("of equal plans", "games", "home", "95% interval", "own moves", "wins put off"),
        rows=tuple(_row(rule, ends[rule]) for rule in RULES),
    )


def _row(rule: Rule, ends: list[End]) -> tuple[str, ...]:
    home = [end.moves for end in ends if end.home]
    percent, interval = matches.share(len(home), len(ends))
    moves = f"{sum(home) / len(home):.1f}" if home else "none"
    put_off = str(sum(end.put_off for end in ends))
    return rule, str(len(ends)), f"{len(home)} ({percent})", interval, moves, put_off


def finish(seed: int, rule: Rule) -> End:
    """Play greedily into the race, then by plans of seat 0 alone; return how it ends.

    It has not come home where it takes more than `PATIENCE` own moves, or where the rules end the
    match before, as they do when a position comes a third time.
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
    """Return a position of the middle game, played greedily."""
    game, state = matches.start(GAME, 2, seed)
    matches.scatter(game, state, 4, seed)
    greedy = Player(Greedy, hand).chooser(state)
    for ply in range(plies):
        game.play(state, greedy(state, f"{seed}/{ply}"))
    return game, state
