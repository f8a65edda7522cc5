"""Measure one bot among copies of another at tables of Chinese Checkers, without a server.

    python -m benchmarks.strength.tables --seats 6 --time 0.05 champion planner [--write]

The subject plays one seat, and the other bot all others. Each opening, of one random move per seat,
is played once from every seat. All have the same CPU time per move. A game is over once the first
player has finished. The result is the subject's share of first places with its 95% interval, with
an opening as the unit; the fair share is one in the number of seats. ``--write`` stores it in
``tables.jsonl``, from which `python -m docs.generate` makes a table of the strength page.
"""

from __future__ import annotations

import argparse
import datetime
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import machine
from benchmarks.experiments import matches
from benchmarks.strength import results
from kibitz.local.engine_pairs import EngineLimit
from kibitz_arena import intervals
from kibitz_arena.intervals import BlockTotal
from kibitz_bots import load
from kibitz_bots.kinds.engine_bot import EngineBot
from kibitz_games.core import registry
from kibitz_protocol.wire.shares import share_interval
from kibitz_protocol.wire.values import Tolerant

GAME = "chinese-checkers"
TABLES = Path(__file__).with_name("tables.jsonl")
"""The stored results, one JSON line each."""


class Table(NamedTuple):
    """A table with one seat of the subject."""

    seats: int
    seconds: float
    """The CPU time per move."""
    subject: str
    other: str


class TableResult(Tolerant):
    """The stored result of a table."""

    seats: int
    seconds: float
    subject: str
    other: str
    games: int
    firsts: float
    """The subject's first places; a shared one counts in part."""
    openings: list[float] | None = None
    """The first places in each opening; None in results that were stored without them."""
    commit: str
    date: str

    @property
    def table(self) -> Table:
        """The table that was measured."""
        return Table(self.seats, self.seconds, self.subject, self.other)

    @property
    def share(self) -> float:
        """The subject's share of first places."""
        return self.firsts / self.games

    @property
    def bounds(self) -> intervals.Bounds:
        """The 95% interval of the share.

        Without the openings, each counts as a single game, which is the widest interval.
        """
        if self.openings is None:
            return share_interval(self.share, self.games / self.seats)
        sizes = [min(self.seats, self.games - at) for at in range(0, self.games, self.seats)]
        bounds = intervals.share_bounds([*map(BlockTotal, self.openings, sizes)])
        assert bounds is not None
        return bounds

    @property
    def fair(self) -> float:
        """The share of first places among equals."""
        return 1 / self.seats


def play_games(table: Table, games: int) -> Iterator[float]:
    """Yield the subject's part of the first place in each game: 1, 0, or less than 1 if shared."""
    for number in range(games):
        game, state = matches.start(GAME, table.seats, 0)
        matches.scatter(game, state, table.seats, number // table.seats)
        own = number % table.seats
        specs = [table.subject if s == own else table.other for s in range(table.seats)]
        choosers = [_chooser(spec, state, table.seconds) for spec in specs]
        yield _first_place(game, state, choosers, own, number)


def _first_place(
    game: Any, state: Any, choosers: Sequence[matches.Chooser], own: int, number: int
) -> float:
    """Play until a player has finished or the game is over; return the part of seat `own`."""
    while (outcome := game.outcome(state)) is None and not int(state.placed):
        seat = game.to_act(state)
        game.play(state, choosers[seat](state, f"{number}/{seat}/{int(state.ply)}"))
    if outcome is None:
        return 1.0 if int(state.rank[own]) == 1 else 0.0
    best = max(outcome.scores)
    tied = [seat for seat, score in enumerate(outcome.scores) if score == best]
    return 1.0 / len(tied) if own in tied else 0.0


def _chooser(spec: str, start: np.record, seconds: float) -> matches.Chooser:
    """Return a function that chooses the moves of a house bot in one match."""
    bot = load(f"{GAME}/{spec}")()
    assert isinstance(bot, EngineBot)
    searcher = bot.searcher(start, registry.get(GAME).info)

    def choose(state: np.record, seed: str) -> int:
        with EngineLimit(seconds=seconds).limits(seed) as limits:
            return int(searcher.search(state, limits).action)

    return choose


def load_results(path: Path = TABLES) -> list[TableResult]:
    """Return the stored results; empty if there is no file."""
    if not path.exists():
        return []
    return [
        TableResult.model_validate_json(line)
        for line in path.read_text(encoding="utf-8").splitlines()
    ]


def save(result: TableResult, path: Path = TABLES) -> None:
    """Store a result, replacing the one of the same table."""
    kept = {each.table: each for each in load_results(path)} | {result.table: result}
    path.write_text(
        "".join(kept[table].model_dump_json() + "\n" for table in sorted(kept)), "utf-8"
    )


def main(argv: Sequence[str] | None = None) -> None:
    """Measure one table; print the result so far after every opening."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.strength.tables")
    parser.add_argument("--seats", type=int, default=6)
    parser.add_argument("--time", type=float, default=0.05, help="CPU seconds per move")
    parser.add_argument("--games", type=int, default=120)
    parser.add_argument("--write", action="store_true", help="store the result")
    parser.add_argument("subject")
    parser.add_argument("other")
    given = parser.parse_args(argv)
    table = Table(given.seats, given.time, given.subject, given.other)
    commit = machine.last_commit_of(results.SOURCES) if given.write else ""
    day = datetime.date.today().isoformat()
    openings, result = list[float](), None
    for number, part in enumerate(play_games(table, given.games)):
        if number % table.seats == 0:
            openings.append(0.0)
        openings[-1] += part
        result = TableResult(
            **table._asdict(),
            games=number + 1, firsts=sum(openings), openings=openings, commit=commit, date=day,
        )  # fmt: skip
        if result.games % table.seats == 0 or result.games == given.games:
            low, high = result.bounds
            print(f"{result.firsts:g} of {result.games} first: {low:.1%} to {high:.1%}", flush=True)
    if given.write and result is not None:
        save(result)


if __name__ == "__main__":
    main()
