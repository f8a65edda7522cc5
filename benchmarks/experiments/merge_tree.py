"""The tree of number merge, with its correct values and those that the report computes.

The report's program stores the states of each level in a list, from `move_0` after the first merge
to `move_4` after the fifth. Each state has its value for the first player: +1, 0 or -1. Read
literally, `assign_heuristic_value` looks for the children of state `i` at the indices `i`, `i + 1`,
... of the next list, which is wrong. It takes the maximum if the second player moves, and the
minimum if the first player moves. `computer_move_maximiser` and its counterpart consider only the
first four children. The printed listing lacks the line that advances to the next state of `move_1`;
without this line, the program would never end.
"""

from __future__ import annotations

import functools
import itertools
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from benchmarks.experiments import matches
from benchmarks.experiments.experiment import Measured, Scale
from benchmarks.experiments.matches import Chooser, Player
from kibitz_search.number_merge.solver import NumberMergeSolver
from kibitz_training.figures import Node, tree_chart

GAME = "number-merge"
SHORT_ROW = (2, 1, 3, 4)
"""A row that is short enough to draw its whole tree."""
WIDEST = 4
"""The maximum number of children that the report's program considers."""
Values: TypeAlias = list[list[int]]
"""The values for the first player, by level and index in the level."""
Kind = Literal["as printed", "correct tree", "random"]
Opponent = Literal["random", "perfect play"]
THRESHOLDS = {"the mean": "mean", "2/5 of the total": "2/5"}
"""The report's threshold, an average, and one with which the first player has no easy win."""


@dataclass
class State:
    """A state of the report: the two scores and the row."""

    row: tuple[int, ...]
    scores: tuple[int, int] = (0, 0)
    children: list[State] = field(default_factory=list)


def levels_of(row: tuple[int, ...], above: int, below: int) -> list[list[State]]:
    """Return the levels of the whole tree, starting with the root's. Siblings are adjacent.

    The threshold is ``above / below``.
    """
    levels = [[State(row)]]
    for mover in range(len(row) - 1):
        levels.append([])
        for state in levels[-2]:
            state.children = [
                _merged(state, place, mover % 2, above, below)
                for place in range(len(state.row) - 1)
            ]
            levels[-1] += state.children
    return levels


def _merged(state: State, place: int, seat: int, above: int, below: int) -> State:
    total = state.row[place] + state.row[place + 1]
    points = (total * below > above) - (total * below < above)
    scores = (state.scores[0] + points * (seat == 0), state.scores[1] + points * (seat == 1))
    return State((*state.row[:place], total, *state.row[place + 2 :]), scores)


def _final(level: list[State]) -> list[int]:
    return [int(np.sign(state.scores[0] - state.scores[1])) for state in level]


def right_values(levels: list[list[State]]) -> Values:
    """Return the correct values, computed by minimax."""
    values = [_final(levels[-1])]
    for depth in range(len(levels) - 2, -1, -1):
        choose, places, found = (min if depth % 2 else max), iter(values[0]), list[int]()
        for state in levels[depth]:
            found.append(choose(next(places) for _ in state.children))
        values.insert(0, found)
    return values


def printed_values(levels: list[list[State]]) -> Values:
    """Return the values as the listing computes them; it computes none for the root.

    A state with n children gets an extremum of n adjacent values in the next list, starting at its
    own index. This is the maximum after an odd number of merges, and the minimum after an even
    number.
    """
    values = [_final(levels[-1])]
    for depth in range(len(levels) - 2, 0, -1):
        choose, below = (max if depth % 2 else min), values[0]
        values.insert(
            0,
            [
                choose(below[at : at + len(state.children)])
                for at, state in enumerate(levels[depth])
            ],
        )
    return [[0], *values]


def as_printed(scale: Scale) -> Measured:
    """Play the program as printed, the correct tree, and a random player, each in both seats."""
    games = scale.choose(200, 1000)
    kinds: tuple[Kind, ...] = ("as printed", "correct tree", "random")
    opponents: tuple[Opponent, ...] = ("random", "perfect play")
    rows, shares = [], {}
    for threshold, against, seat, kind in itertools.product(THRESHOLDS, opponents, (0, 1), kinds):
        match = functools.partial(result, threshold, against, seat, kind)
        counts = Counter(map(match, range(games)))
        percent, interval = matches.share(counts["won"] + counts["drawn"] / 2, games)
        score = f"{counts['won']}-{counts['drawn']}-{counts['lost']}"
        place = ("first", "second")[seat]
        rows.append((threshold, against, kind, place, str(games), score, percent, interval))
        shares[threshold, against, seat, kind] = percent
    told = [
        f"{shares[threshold, 'random', 0, 'as printed']} with a threshold of {threshold} (a "
        f"random first player {shares[threshold, 'random', 0, 'random']}, the correct tree "
        f"{shares[threshold, 'random', 0, 'correct tree']})"
        for threshold in THRESHOLDS
    ]
    return Measured(
        found="As first player against a random player on a row of six, the printed program "
        f"scores {'; '.join(told)}.",
        heads=(
            "threshold",
            "against",
            "player",
            "plays",
            "games",
            "won-drawn-lost",
            "score",
            "95% interval",
        ),
        rows=tuple(rows),
    )


def result(threshold: str, against: Opponent, seat: int, kind: Kind, seed: int) -> str:
    """Return the result of a match for a player of this kind; the seed determines the row."""
    part = THRESHOLDS[threshold]
    game, state = matches.start(GAME, 2, seed, preset="classic", threshold=part)
    own = _follower(state, kind, seed)
    perfect = Player(NumberMergeSolver).chooser(state)
    other = _random(f"other/{seed}") if against == "random" else perfect
    path = list[int]()
    while (outcome := game.outcome(state)) is None:
        mover = game.to_act(state)
        action = own(path) if mover == seat else other(state, f"{seed}/{len(path)}")
        path.append(action)
        game.play(state, action)
    difference = outcome.ranks[1 - seat] - outcome.ranks[seat]
    return "won" if difference > 0 else "lost" if difference < 0 else "drawn"


def _random(seed: str) -> Chooser:
    chance = random.Random(seed)
    return lambda state, text: chance.randrange(int(state["count"]) - 1)


def _follower(state: np.record, kind: Kind, seed: int) -> Callable[[list[int]], int]:
    """Return a function that chooses a child by its value, given the path to a node."""
    row = tuple(np.diff(state["prefix"][: int(state["length"]) + 1]).tolist())
    chance = random.Random(f"own/{seed}")
    if kind == "random":
        return lambda path: chance.randrange(len(row) - 1 - len(path))
    levels = levels_of(row, int(state["above"]), int(state["below"]))
    values = printed_values(levels) if kind == "as printed" else right_values(levels)
    widest = WIDEST if kind == "as printed" else len(row)

    def choose(path: list[int]) -> int:
        at = 0
        for depth, action in enumerate(path):
            at = at * (len(row) - 1 - depth) + action
        children = len(row) - 1 - len(path)
        found = values[len(path) + 1][at * children : at * children + min(children, widest)]
        return found.index(min(found) if len(path) % 2 else max(found))

    return choose


def tree(scale: Scale) -> Measured:
    """Tabulate and draw the whole tree of a short row, with its values."""
    above, below = 2 * sum(SHORT_ROW), 5
    levels = levels_of(SHORT_ROW, above, below)
    values = right_values(levels)
    nodes, rows = _nodes(levels, values)
    six = [len(level) for level in levels_of((1,) * 6, above, below)]
    best = {1: "the first player wins", 0: "nobody wins", -1: "the second player wins"}
    return Measured(
        found=f"The row {_text(SHORT_ROW)} with a threshold of {above / below:g} has {len(nodes)} "
        f"states; with best play, {best[values[0][0]]}. A row of six has {sum(six)} states in "
        f"{len(six)} levels: {', '.join(map(str, six))}.",
        heads=("merges", "row", "scores", "level", "value"),
        rows=tuple(rows),
        figures={
            "The whole tree of a row of four": tree_chart(
                f"{_text(SHORT_ROW)}: rows, scores and values", nodes, _names(len(levels))
            )
        },
    )


def _names(count: int) -> list[str]:
    return [*("min" if depth % 2 else "max" for depth in range(count - 1)), "end"]


def _text(row: tuple[int, ...]) -> str:
    return " ".join(map(str, row))


def _nodes(levels: list[list[State]], values: Values) -> tuple[list[Node], list[tuple[str, ...]]]:
    """Return the nodes of the chart and the rows of the table, level by level."""
    nodes, rows = list[Node](), list[tuple[str, ...]]()
    paths = [""]
    names, first = _names(len(levels)), 0
    for depth, level in enumerate(levels):
        parents = [
            (at, k)
            for at, up in enumerate(levels[depth - 1] if depth else [])
            for k in range(len(up.children))
        ]
        begin = len(nodes)
        if depth:
            paths = [f"{paths[at]} {k + 1}".strip() for at, k in parents]
        for at, state in enumerate(level):
            worth, scores = values[depth][at], f"{state.scores[0]}:{state.scores[1]}"
            parent, edge = (first + parents[at][0], str(parents[at][1] + 1)) if depth else (-1, "")
            kept = depth == 0 or (nodes[parent].marked and worth == values[0][0])
            nodes.append(Node(parent, (_text(state.row), f"{scores}  {worth:+d}"), edge, kept))
            rows.append((paths[at] or "–", _text(state.row), scores, names[depth], f"{worth:+d}"))
        first = begin
    return nodes, rows
