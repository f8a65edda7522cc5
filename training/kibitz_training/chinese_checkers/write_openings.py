"""Write the opening book: ``python -m kibitz_training.chinese_checkers.write_openings``.

The candidates are the shortest crossings that a beam search finds after each first move; of two
mirror images, one is left out. Each is measured in games for two and for three players: it is the
only line of one seat's book, and the other seats play the same search without a book. All searches
look `--depth` own moves ahead. Lines that score at least as much as an even share are written, the
best first, with their games and this command.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar

from kibitz_games.chinese_checkers import GAME
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.phased import Oracle
from kibitz_search.chinese_checkers import race_db
from kibitz_search.chinese_checkers.endgame import RaceEndgame
from kibitz_search.chinese_checkers.evaluation import mobility
from kibitz_search.chinese_checkers.opening import BOOK, Line, OpeningBook, line_of, mirrored
from kibitz_search.chinese_checkers.phased import PhasedChineseCheckers
from kibitz_search.chinese_checkers.race_beam import RaceBeam

SEATS = (2, 3)


class WithoutBook(PhasedChineseCheckers):
    """The search in phases without an opening book."""

    oracles: ClassVar[tuple[type[Oracle], ...]] = (RaceEndgame,)


@dataclass(frozen=True)
class Measured:
    """A line with its results in games."""

    moves: str
    crossing: int
    """The number of moves of the whole crossing."""
    score: float
    """The share of opponents that finished later, over all games."""
    games: int


def crossings(width: int, moves: int) -> Iterator[tuple[str, int]]:
    """Yield the first moves and the length of a crossing after each first move."""
    state = GAME.start(GAME.Options(), 2, {})
    solo, known = RaceBeam(race_db.for_board(state)), set[Line]()
    for action in GAME.legal(state):
        after = state.copy()
        GAME.play(after, action)
        course = solo.find(after, 0, width)
        if course is None:
            continue
        actions = (action, *course.actions)
        text = " ".join(GAME.notation.format(GAME.encode(state, each)) for each in actions[:moves])
        if mirrored(line_of(text)) not in known:
            known.add(line_of(text))
            yield text, len(actions)


def score(line: Line, seats: int, own: int, depth: int, seed: int) -> float:
    """Play a game in which the seat `own` plays a line; return its share of later opponents."""
    state = GAME.start(GAME.Options(), seats, {})
    book, ev = OpeningBook(state, [line]), mobility(state)
    searches = [WithoutBook(state) for _ in range(seats)]
    while (outcome := GAME.outcome(state)) is None:
        seat = GAME.to_act(state)
        limits = SearchLimits(depth=depth, seed=f"{seed}/{seat}/{int(state['ply'])}")
        found = book.probe(state, limits) if seat == own else None
        GAME.play(state, (found or searches[seat].search(state, ev, limits)).action)
    ranks = outcome.ranks
    later = sum((rank > ranks[own]) + (rank == ranks[own]) / 2 for rank in ranks) - 0.5
    return later / (seats - 1)


def measured(text: str, crossing: int, games: int, depth: int, seed: int) -> Measured:
    """Measure a line in `games` games for each number of seats, in each seat in turn."""
    scores = [
        score(line_of(text), seats, at % seats, depth, seed + at // seats)
        for seats in SEATS
        for at in range(games)
    ]
    return Measured(text, crossing, round(sum(scores) / len(scores), 3), len(scores))


def main() -> None:
    """Write the book."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--moves", type=int, default=4, help="number of moves per line")
    parser.add_argument("--lines", type=int, default=6, help="maximum number of lines")
    parser.add_argument("--width", type=int, default=1024, help="beam width")
    parser.add_argument("--games", type=int, default=12, help="games per line, for 2 and for 3")
    parser.add_argument("--depth", type=int, default=2, help="own moves that searches look ahead")
    parser.add_argument("--seed", type=int, default=1, help="seed of the first games")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name(BOOK))
    chosen = parser.parse_args()
    found = [
        measured(text, length, chosen.games, chosen.depth, chosen.seed)
        for text, length in crossings(chosen.width, chosen.moves)
    ]
    found.sort(key=lambda line: line.score, reverse=True)
    kept = [line for line in found if line.score >= 0.5]
    options = ("moves", "lines", "width", "games", "depth", "seed")
    words = " ".join(f"--{name} {getattr(chosen, name)}" for name in options)
    written = {
        "board": "star-4-10",
        "what": "first moves of crossings that score best in games against no book",
        "made by": f"python -m kibitz_training.chinese_checkers.write_openings {words}",
        "lines": [asdict(line) for line in kept[: chosen.lines]],
    }
    chosen.out.write_text(json.dumps(written, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
