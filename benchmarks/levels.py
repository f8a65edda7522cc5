"""Measure the levels offered to human players: ``python -m benchmarks.levels``.

Each level plays the one below it, in pairs of games with the same seed. In the first game, the
higher level has the even seats and the lower one the odd seats; in the second, they swap. At the
end of a game, each seat of the higher level is compared with each seat of the lower level. The
score is the share of these comparisons that the higher level wins, where ties count half.
``--write`` stores it in `levels.json`, with the number of games, the commit and the date;
``--missing`` keeps the scores of as many games or more.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

from benchmarks.machine import commit
from kibitz_bots import levels
from kibitz_bots.levels import Level
from kibitz_bots.running.inprocess import play_locally
from kibitz_games.core.position import Position

TARGET = (0.6, 0.8)
"""The range of scores that a level should have against the one below."""
Play = Callable[[str, Sequence[str], int], Position]


def main(argv: Sequence[str] | None = None) -> int:
    """Measure the levels of the named games, or of all games."""
    options = _parser().parse_args(argv)
    table = levels.table()
    unknown = sorted({*options.games} - {*table.games})
    if unknown:
        print(f"Error: no levels for {', '.join(unknown)}", file=sys.stderr)
        return 2
    for game in options.games or table.games:
        for seats, ladder in table.games[game].items():
            if options.seats not in (None, seats):
                continue
            kept = options.number if options.missing else None
            for lines in measured(game, seats, ladder, options.number, _play, kept):
                table.games[game][seats] = lines
                if options.write:
                    text = table.model_dump_json(indent=1, exclude_defaults=True)
                    levels.FILE.write_text(text + "\n", encoding="utf-8")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.levels", description=__doc__)
    parser.add_argument("games", nargs="*", metavar="GAME", help="games to measure; default: all")
    parser.add_argument(
        "--number", type=int, default=200, help="number of games per pair of levels"
    )
    parser.add_argument("--seats", type=int, help="measure only this number of seats")
    parser.add_argument("--missing", action="store_true", help="keep scores of enough games")
    parser.add_argument("--write", action="store_true", help="store the scores")
    return parser


def measured(
    game: str,
    seats: int,
    ladder: Sequence[Level],
    number: int,
    play: Play,
    kept: int | None = None,
) -> Iterator[tuple[Level, ...]]:
    """Measure the levels and print their scores; yield all levels after each measurement.

    Keeps the scores that have at least `kept` games, by default none.
    """
    lines = list(ladder)
    for place, pair in enumerate(pairwise(ladder), 1):
        if kept is None or pair[1].games < kept:
            lines[place] = _measured(game, seats, pair, number, play)
            yield tuple(lines)


def _measured(game: str, seats: int, pair: tuple[Level, Level], number: int, play: Play) -> Level:
    lower, upper = pair
    began = time.perf_counter()
    pairs = max(1, number // 2)
    results = [
        score_of(play(game, seated(upper.bot, lower.bot, seats, first), seed), first)
        for seed in range(pairs)
        for first in (0, 1)
    ]
    score = round(_mean(results), 3)
    note = "" if TARGET[0] <= score <= TARGET[1] else "  (outside 60-80%)"
    seconds = time.perf_counter() - began
    print(f"{game} {seats}: {upper.bot} {score:.1%} against {lower.bot}"
          f" in {2 * pairs} games, {seconds:.0f} s{note}", flush=True)  # fmt: skip
    date = time.strftime("%Y-%m-%d")
    return Level(bot=upper.bot, score=score, games=2 * pairs, commit=commit(), date=date)


def seated(upper: str, lower: str, seats: int, first: int) -> list[str]:
    """Return the bots in seat order: the upper bots in every second seat, starting at `first`."""
    return [upper if seat % 2 == first else lower for seat in range(seats)]


def score_of(end: Position, first: int) -> float:
    """Return the share of comparisons that the upper bots won, as the module describes."""
    outcome = end.outcome
    assert outcome is not None, "a finished play has an outcome"
    uppers = outcome.ranks[first::2]
    lowers = outcome.ranks[1 - first :: 2]
    return _mean(0.5 * ((one < other) + (one <= other)) for one in uppers for other in lowers)


def _mean(shares: Iterable[float]) -> float:
    values = list(shares)
    return sum(values) / len(values)


def _play(game: str, bots: Sequence[str], seed: int) -> Position:
    named = [_seeded(bot, seed * len(bots) + seat) for seat, bot in enumerate(bots)]
    return play_locally(game, *named, seed=seed)


def _seeded(bot: str, seed: int) -> str:
    return f"{bot}{',' if ':' in bot else ':'}seed={seed}"


if __name__ == "__main__":
    sys.exit(main())
