"""Experiments on "5 in a Row", except for the games between its levels."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Iterator
from typing import cast

from benchmarks.experiments import matches
from benchmarks.experiments.experiment import Measured, Scale, UnavailableError
from benchmarks.strength import results
from kibitz_bots.catalog import five_in_a_row as catalog
from kibitz_bots.catalog.personality import EngineSpec
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.five_in_a_row import utility
from kibitz_search.five_in_a_row.report_levels import ReportLevel
from kibitz_training.figures import flow_chart

GAME = "five-in-a-row"
LEVELS = ("beginner", "intermediate", "advanced")
SIZES = (6, 8, 10, 15)
PLIES = (1, 3, 5, 7)
CROSS = "five-in-a-row-cross"
KINDS = {
    number: name.lower().replace("_", " ")
    for name, number in vars(utility).items()
    if name[0].isupper() and name.isupper() and isinstance(number, int) and name != "CENTRE"
}
"""The patterns that a stone makes, by their numbers in the table of utilities."""


def levels() -> dict[str, int]:
    """Return the search depth of each level's bot in plies, by the level's name."""
    found = {each.short: each.build for each in catalog.PERSONALITIES}
    specs = {name: cast(EngineSpec, found[name]) for name in LEVELS}
    return {name: int(spec.fixed["plies"]) for name, spec in specs.items()}


def tests() -> list[tuple[str, int]]:
    """Return the tests for a stone in the report's order: the pattern, and its utility."""
    own = [(f"own {KINDS[kind]}", worth) for kind, worth in enumerate(utility.OWN) if worth]
    other = [
        (f"the other's {KINDS[kind]}", worth) for kind, worth in enumerate(utility.OTHER) if worth
    ]
    return sorted([*own, *other], key=lambda test: -test[1])


def chart(scale: Scale) -> Measured:
    """Draw a flow chart of how a level chooses its stone, from the code's levels and utilities."""
    plies = levels()
    steps = [
        ("put a stone into the next empty cell", ""),
        *((f"{what}?", f"utility {worth:,}") for what, worth in tests()),
        ("the middle of an empty board?", f"utility {utility.CENTRE}"),
        ("otherwise: utility 0", ""),
        ("a five, a full board or the level's depth?", "the value of the line is the sum"),
        ("add its utility, subtract the opponent's; try the best reply", ""),
        ("remove the stone; more empty cells?", "try the next cell"),
        ("play the stone with the best line", ""),
    ]
    depths = ", ".join(f"{name} {count - 1}" for name, count in plies.items())
    return Measured(
        found=f"The first of {len(tests())} tests that applies gives the utility of a stone. "
        f"Plies searched beyond the stone: {depths}.",
        heads=("level", "plies beyond the stone", "plies in all"),
        rows=tuple((name, str(count - 1), str(count)) for name, count in plies.items()),
        figures={
            "How a level chooses its stone": flow_chart("Five in a row: a level's stone", steps)
        },
    )


def unbeatable(scale: Scale) -> Measured:
    """Tabulate the games of the advanced level against each bot in the saved cross table, by name.

    `coverage.yaml` refers to rows by number, so their order must not depend on the results.
    """
    kept = results.load()
    if CROSS not in kept:
        raise UnavailableError(f"no results of {CROSS}; python -m benchmarks.strength {CROSS}")
    names = [player.name for player in kept[CROSS].players]
    line = kept[CROSS].crosstable[names.index("advanced")]
    rows, lost = [], list[str]()
    for name, cell in sorted(zip(names, line, strict=True)):
        if cell is None:
            continue
        won, drawn, beaten = map(int, cell.split("-"))
        games = won + drawn + beaten
        # An opening is played from both seats; without each opening's scores, it counts once.
        percent, interval = matches.share((won + drawn / 2) / 2, games / 2)
        rows.append((name, str(games), cell, percent, interval))
        lost += [name] if beaten else []
    return Measured(
        found=f"The advanced level loses games to {len(lost)} of {len(rows)} bots: "
        f"{', '.join(lost)}.",
        heads=("against", "games", "won-drawn-lost", "score of advanced", "95% interval"),
        rows=tuple(rows),
        command=f"python -m benchmarks.strength {CROSS} --write",
    )


def grid_and_depth(scale: Scale) -> Measured:
    """Measure the cost of a move by board size and search depth."""
    count, most = scale.choose(3, 11), scale.choose(5, 7)
    rows = []
    for size in SIZES:
        for plies in (each for each in PLIES if each <= most):
            costs = [*_costs(size, plies, count)]
            nodes = statistics.median(each[0] for each in costs)
            seconds = statistics.median(each[1] for each in costs)
            whole = math.perm(size * size - 8, plies)
            rows.append(
                (
                    f"{size} by {size}",
                    str(plies),
                    f"{whole:,}",
                    f"{nodes:,.0f}",
                    f"{1000 * seconds:,.0f}",
                )
            )
    cost = {(row[0], row[1]): row for row in rows}
    small, usual = cost["6 by 6", "5"], cost["10 by 10", "5"]
    return Measured(
        found=f"With 8 stones on the board, the advanced level searches {usual[3]} positions per "
        f"move on a 10x10 board and {small[3]} on a 6x6 board. Without pruning, as in the "
        f"report's listing, it would search {usual[2]} and {small[2]} lines.",
        heads=(
            "board",
            "plies in all",
            "lines without pruning",
            "positions (median)",
            "ms (median)",
        ),
        rows=tuple(rows),
    )


def _costs(size: int, plies: int, count: int) -> Iterator[tuple[int, float]]:
    """Yield the positions and seconds of one search in each of `count` positions with 8 stones."""
    seed = 0
    while count:
        game, state = matches.start(GAME, 2, seed, size=size)
        matches.scatter(game, state, 8, seed)
        seed += 1
        if game.outcome(state) is not None:
            continue
        count -= 1
        search, ev = ReportLevel(state, plies=plies), utility.usual(state)
        began = time.perf_counter()
        result = search.search(state, ev, SearchLimits(seed=str(seed)))
        yield result.nodes, time.perf_counter() - began
