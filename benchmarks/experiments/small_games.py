"""The two algorithms that the report on Tanks first tried on small games: minimax and A*.

Its Figure 3 is a minimax tree of tic-tac-toe, its Figure 4 the lists of A* on a grid. The report
does not give the rules of its second game, Snails, so A* finds paths around rocks here. `trace`
also returns the lists; bots use the A* in `kibitz_search.algorithms.pathfinding`.
"""

from __future__ import annotations

import heapq
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from benchmarks.experiments import matches
from benchmarks.experiments.experiment import Measured, Scale
from kibitz_games.core import registry
from kibitz_games.core.position import Position
from kibitz_training.figures import Node, grid_chart, tree_chart

Place: TypeAlias = tuple[int, int]

GAME = registry.get("tic-tac-toe")
LATE = "b1 a1 c1 c2 b3 a3"
"""The moves to a late position, x to move, whose whole tree can be drawn."""
_SEARCHED: dict[int, tuple[int, int]] = {}
"""The value and the nodes of each position that has been searched, by its key."""
GRID = (
    "..........",
    "......#...",
    "..#####...",
    "......#...",
    ".S....#.G.",
    "......#...",
    "...####...",
    "..........",
)
SIDE = 15
"""The side of the random grids, as in Tanks."""
ROCKS = 0.2
"""The share of places with rocks on random grids."""


def after(moves: str) -> Position:
    """Return the position after moves such as ``b2 a1``."""
    position = Position(GAME)
    for move in moves.split():
        position.push_move(move)
    return position


def children(position: Position) -> list[Position]:
    """Return the positions after each move, none when the game is over."""
    found = []
    for action in position.legal:
        found.append(position.copy())
        found[-1].push(action)
    return found


def value(position: Position) -> int:
    """Return the minimax value of a position for the first player: +1, 0 or -1."""
    return _searched(position)[0]


def nodes(position: Position) -> int:
    """Return the number of nodes in the tree below a position, including the position itself."""
    return _searched(position)[1]


def _searched(position: Position) -> tuple[int, int]:
    """Return the value and the nodes of a position."""
    if position.key not in _SEARCHED:
        below = [_searched(child) for child in children(position)]
        best = max if position.to_act == 0 else min
        worth = best(found[0] for found in below) if below else _lead(position)
        _SEARCHED[position.key] = worth, 1 + sum(found[1] for found in below)
    return _SEARCHED[position.key]


def _lead(position: Position) -> int:
    assert position.outcome is not None, "a position without moves is the end of a game"
    first, second = position.outcome.scores
    return round(first - second)


def minimax_tree(scale: Scale) -> Measured:
    """Draw a minimax tree of tic-tac-toe, and play minimax against a random player."""
    games, rows = scale.choose(500, 5000), []
    for seat, place in enumerate(("first", "second")):
        counts = Counter(_result(seat, seed) for seed in range(games))
        percent, interval = matches.share(counts["won"] + counts["drawn"] / 2, games)
        score = f"{counts['won']}-{counts['drawn']}-{counts['lost']}"
        rows.append((place, str(games), score, percent, interval))
    start = after("")
    best = {1: "a win for x", 0: "a draw", -1: "a win for o"}[value(start)]
    title = "Tic-tac-toe: +1 if x wins"
    return Measured(
        found=f"The complete tree of tic-tac-toe has {nodes(start):,} nodes; with best play, the "
        f"result is {best}. Against a random player, minimax scores {rows[0][3]} as first player "
        f"and {rows[1][3]} as second player.",
        heads=("minimax plays", "games", "won-drawn-lost", "score", "95% interval"),
        rows=tuple(rows),
        figures={"A minimax tree of tic-tac-toe": tree_chart(title, *_drawn(after(LATE)))},
    )


def _result(seat: int, seed: int) -> str:
    """Return the result of a game that minimax plays in a seat, with its own draws by chance."""
    chance, position = random.Random(f"{'xo'[seat]}/{seed}"), after("")
    while following := children(position):
        if position.to_act == seat:
            following = [each for each in following if value(each) == value(position)]
        position = chance.choice(following)
    return {1: "won", 0: "drawn", -1: "lost"}[_lead(position) * (1, -1)[seat]]


def _drawn(root: Position) -> tuple[list[Node], list[str]]:
    """Return the nodes of a whole tree, parents before children, and the names of its levels."""
    positions, found, depth = [root], [Node(-1, _lines(root), marked=True)], [0]
    for at, position in enumerate(positions):
        for child in children(position):
            positions.append(child)
            kept = found[at].marked and value(child) == value(root)
            found.append(Node(at, _lines(child), marked=kept))
            depth.append(depth[at] + 1)
    names = [("max", "min")[(root.to_act + level) % 2] for level in range(max(depth))]
    return found, [*names, "end"]


def _lines(position: Position) -> tuple[str, ...]:
    return *position.view().to_wire()["board"], f"{value(position):+d}"


@dataclass(frozen=True)
class Trace:
    """The result of A*, with its lists at the end."""

    way: tuple[Place, ...]
    """The path from the start to the goal; empty if there is none."""
    closed: frozenset[Place]
    """The places that it has evaluated."""
    fringe: frozenset[Place]
    """The places that it has seen but not evaluated."""
    paid: dict[Place, int]
    """The number of steps from the start to each place that it has seen."""


def trace(grid: Sequence[str], start: Place, goal: Place, weight: int = 1) -> Trace:
    """Find a path around the rocks (``#``) of a grid; with a `weight` of 0, it is breadth-first.

    The lower bound of the remaining cost is `weight` times the steps to the goal without rocks.
    Among places with equal sums of cost and bound, the one closest to the goal is evaluated first.
    """
    paid, came, closed = {start: 0}, {start: start}, set[Place]()
    rest = _steps(start, goal)
    heap = [(weight * rest, weight * rest, start)]
    while heap:
        here = heapq.heappop(heap)[2]
        if here in closed:
            continue
        closed.add(here)
        if here == goal:
            return Trace(_way(came, goal), frozenset(closed), frozenset(paid) - closed, paid)
        for there in _beside(grid, here):
            if there not in closed and paid[here] + 1 < paid.get(there, len(grid) ** 4):
                paid[there], came[there] = paid[here] + 1, here
                rest = weight * _steps(there, goal)
                heapq.heappush(heap, (paid[there] + rest, rest, there))
    return Trace((), frozenset(closed), frozenset(), paid)


def _steps(here: Place, there: Place) -> int:
    return abs(here[0] - there[0]) + abs(here[1] - there[1])


def _beside(grid: Sequence[str], here: Place) -> list[Place]:
    row, column = here
    near = [(row - 1, column), (row, column + 1), (row + 1, column), (row, column - 1)]
    return [
        (y, x)
        for y, x in near
        if 0 <= y < len(grid) and 0 <= x < len(grid[0]) and grid[y][x] != "#"
    ]


def _way(came: dict[Place, Place], goal: Place) -> tuple[Place, ...]:
    way = [goal]
    while came[way[-1]] != way[-1]:
        way.append(came[way[-1]])
    return tuple(reversed(way))


def astar_lists(scale: Scale) -> Measured:
    """Draw the lists of A* on a grid, and count the places that it evaluates on random grids."""
    grids = [_random_grid(seed) for seed in range(scale.choose(200, 2000))]
    start, goal = (0, 0), (SIDE - 1, SIDE - 1)
    rows, means = [], []
    for weight, name in ((1, "A*"), (0, "breadth-first")):
        traces = [trace(grid, start, goal, weight) for grid in grids]
        ways = [each for each in traces if each.way]
        means.append(sum(len(each.closed) for each in ways) / len(ways))
        steps = sum(len(each.way) - 1 for each in ways) / len(ways)
        rows.append((name, str(len(grids)), str(len(ways)), f"{steps:.1f}", f"{means[-1]:.1f}"))
    return Measured(
        found=f"On {len(grids)} grids of {SIDE} by {SIDE} cells, from corner to corner, A* "
        f"evaluates {means[0]:.1f} places on average and a breadth-first search {means[1]:.1f}. "
        "The paths that they find are equally long.",
        heads=("search", "grids", "with a way", "steps (mean)", "places evaluated (mean)"),
        rows=tuple(rows),
        figures={"The lists of A* when it reaches the goal": _picture()},
    )


def _random_grid(seed: int) -> list[str]:
    chance = random.Random(seed)
    cells = [["#" if chance.random() < ROCKS else "." for _ in range(SIDE)] for _ in range(SIDE)]
    cells[0][0] = cells[-1][-1] = "."
    return ["".join(line) for line in cells]


def _picture() -> str:
    """Return a chart of a grid with the known cost and the bound of each place seen by A*."""
    found = {cell: (y, x) for y, line in enumerate(GRID) for x, cell in enumerate(line)}
    goal, done = found["G"], trace(GRID, found["S"], found["G"])

    def cell(place: Place) -> tuple[str, str]:
        if GRID[place[0]][place[1]] == "#":
            return "rock", ""
        text = f"{done.paid[place]}+{_steps(place, goal)}" if place in done.paid else ""
        kind = "the way" if place in done.way else "closed list" if place in done.closed else ""
        return text, "fringe list" if place in done.fringe else kind

    cells = [[cell((y, x)) for x in range(len(line))] for y, line in enumerate(GRID)]
    kinds = ("closed list", "fringe list", "the way")
    return grid_chart("A*: steps so far + steps left at least", cells, kinds)
