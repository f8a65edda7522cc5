"""False time losses: bots that answer at once must not lose on time, however short the clock is.

    python -m benchmarks.arena [--moves 20000] [--tc 0.2+0.002] [--concurrency N] [--minutes 30]

Random movers of five in a row play each other in one event, on a server and in processes as
`kibitz arena` starts them, as many games at once as the machine has processors, until so many
moves are played. A game of 225 cells that nobody decides is the hardest there is for such a
clock: its bots have 0.2 s for everything but 2 ms of each of more than a hundred moves.

Printed are moves, losses by cause, what bots were charged a move, and how late the server and
the scheduler answered meanwhile. The status is 0 when all moves were played and nobody lost on
time, or for any other reason than the rules.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kibitz.event.folder import EventFolder
from kibitz.event.house import House, Site
from kibitz.event.ticker import Ticker
from kibitz.event.width import Width, cores, percentile
from kibitz.running import run
from kibitz_clients.arena.event import Event, build
from kibitz_clients.arena.journal import Progress
from kibitz_games import kernels
from kibitz_protocol.recordfile import read_record
from kibitz_protocol.records import Cause, Moved

ENTRANTS = 4
SHARES = (0.5, 0.95, 0.99, 0.999, 1.0)


@dataclass
class Lateness(Width):
    """The width of an event that says how many games there are at once; keeps all it is told."""

    all: list[float] = field(default_factory=list)

    def heed(self, late_ms: float) -> None:
        """Take in how late an answer was."""
        self.all.append(late_ms)
        super().heed(late_ms)


class Until(Ticker):
    """Shows how far an event is, and drains it once it has enough moves, or no more time."""

    house: House

    def begin(self, house: House, moves: int, seconds: float) -> None:
        """Say what to count for."""
        self.house = house
        self._wanted = moves
        self._deadline = time.monotonic() + seconds
        self._draining: asyncio.Task[None] | None = None

    def show(self, progress: Progress, width: Width) -> None:
        """Look how far it is."""
        super().show(progress, width)
        enough = moves(progress) >= self._wanted or time.monotonic() > self._deadline
        if enough and self._draining is None:
            self._draining = asyncio.ensure_future(self.house.drain())


def moves(progress: Progress) -> int:
    """Return how many moves were played in games that count."""
    return sum(ended.result.plies for ended in progress.ended.values())


def event(arguments: argparse.Namespace) -> Event:
    """Return an event with more games than there will be."""
    entrants = [
        {"name": f"random-{n}", "bot": f"{arguments.bot}:seed={n}"} for n in range(1, ENTRANTS + 1)
    ]
    values = {
        "name": "clocks",
        "game": arguments.bot.partition("/")[0],
        "time-control": arguments.tc,
        "blocks": 1000,
        "entrants": entrants,
        "concurrency": arguments.concurrency,
    }
    return build(values, "benchmark")


def charged(folder: EventFolder, progress: Progress) -> Iterator[int]:
    """Yield what every move was charged, in milliseconds."""
    for ended in progress.ended.values():
        for entry in read_record(folder.path / str(ended.record)).entries:
            if isinstance(entry, Moved):
                yield max(0, entry.elapsed_ms - entry.allowance_ms)


def shares(values: Sequence[float]) -> str:
    """Return the percentiles of milliseconds."""
    ranked = sorted(values)
    cells = [(f"p{100 * share:g}" if share < 1 else "most", share) for share in SHARES]
    return "  ".join(f"{name} {percentile(ranked, share):.1f}" for name, share in cells)


def causes(progress: Progress) -> Counter[Cause]:
    """Return how often a seat dropped out, by cause."""
    seats = [seat for ended in progress.ended.values() for seat in ended.result.seats]
    return Counter(seat.cause for seat in seats if seat.cause is not None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--moves", type=int, default=20_000)
    parser.add_argument("--tc", default="0.2+0.002")
    parser.add_argument("--bot", default="five-in-a-row/random", help="takes a seed")
    parser.add_argument("--concurrency", type=int, default=cores())
    parser.add_argument("--minutes", type=float, default=30.0, help="begin no games after that")
    arguments = parser.parse_args()
    kernels.choose("plain")
    with tempfile.TemporaryDirectory(prefix="kibitz-clocks-") as directory:
        sys.exit(_measured(arguments, EventFolder(Path(directory))))


def _measured(arguments: argparse.Namespace, folder: EventFolder) -> int:
    folder.make(Path.cwd())
    ticker = Until(sys.stderr)
    house = House(event(arguments), folder, Site(), ticker)
    house.width = lateness = Lateness(arguments.concurrency)
    ticker.begin(house, arguments.moves, 60 * arguments.minutes)
    progress = run(house.hold())
    ticker.close()
    played, lost = moves(progress), causes(progress)
    print(f"clock {arguments.tc}, {arguments.concurrency} games at once on {cores()} processors")
    print(f"{played} moves in {progress.played} games, {progress.running_ms / 1000:.0f} s")
    print(f"lost on time: {lost[Cause.TIME]}")
    print(f"lost for other causes: {_counted(lost)}; repeated: {progress.requeued}")
    print(f"charged a move, ms:      {shares([*charged(folder, progress)])}")
    print(f"lateness of answers, ms: {shares(lateness.all)}")
    if house.failure is not None:
        print(house.failure)
    return 0 if played >= arguments.moves and not lost and house.failure is None else 1


def _counted(lost: Counter[Cause]) -> str:
    others = [f"{cause} {n}" for cause, n in lost.items() if cause is not Cause.TIME]
    return ", ".join(others) or "0"


if __name__ == "__main__":
    main()
