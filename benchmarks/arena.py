"""False time losses: bots that answer at once must not lose on time, however short the clock is.

    python -m benchmarks.arena [--moves 20000] [--tc 0.2+0.002] [--concurrency N] [--minutes 30]

Random movers of five in a row play each other in one event, on a server and in processes as
`kibitz arena` starts them, as many games at once as the machine has processors, until so many
moves are played. An undecided game of 225 cells is the hardest for such a clock: its bots have
0.2 s for everything but 2 ms of each of more than a hundred moves.

The output has moves, losses by cause, the time charged per move, and the delays of the server and
the scheduler. The exit status is 0 if all moves were played and nobody lost on time, or for any
other reason than the rules.
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

from kibitz.local.tournament_services import LocalServices
from kibitz.process.event_loop import run
from kibitz_arena.config import build
from kibitz_arena.runner.concurrency import ConcurrencyLimit, cpu_count, percentile
from kibitz_arena.runner.directory import TournamentDirectory
from kibitz_arena.runner.hosting import ServerOptions
from kibitz_arena.runner.progress import ProgressDisplay
from kibitz_arena.runner.tournament_runner import TournamentRunner
from kibitz_arena.state import TournamentState
from kibitz_arena.tournament import Tournament
from kibitz_games.compiled import kernels
from kibitz_protocol.wire.recordfile import read_record
from kibitz_protocol.wire.records import Cause, Moved

ENTRANTS = 4
SHARES = (0.5, 0.95, 0.99, 0.999, 1.0)


@dataclass
class Lateness(ConcurrencyLimit):
    """The concurrency limit of `kibitz arena`, which also keeps all latencies that it receives."""

    all: list[float] = field(default_factory=list)

    def record_latency(self, late_ms: float) -> None:
        """Record the delay of an answer."""
        self.all.append(late_ms)
        super().record_latency(late_ms)


class Until(ProgressDisplay):
    """A progress display that drains the tournament once it has enough moves, or no more time."""

    house: TournamentRunner

    def begin(self, house: TournamentRunner, moves: int, seconds: float) -> None:
        """Set the tournament, the wanted number of moves, and the deadline."""
        self.house = house
        self._wanted = moves
        self._deadline = time.monotonic() + seconds
        self._draining: asyncio.Task[None] | None = None

    def show(self, progress: TournamentState, width: ConcurrencyLimit) -> None:
        """Look how far it is."""
        super().show(progress, width)
        enough = moves(progress) >= self._wanted or time.monotonic() > self._deadline
        if enough and self._draining is None:
            self._draining = asyncio.ensure_future(self.house.stop())


def moves(progress: TournamentState) -> int:
    """Return the number of moves in games that count."""
    return sum(ended.result.plies for ended in progress.ended.values())


def event(arguments: argparse.Namespace) -> Tournament:
    """Return a tournament with more games than there will be."""
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


def charged(folder: TournamentDirectory, progress: TournamentState) -> Iterator[int]:
    """Yield the time charged for every move, in milliseconds."""
    for ended in progress.ended.values():
        for entry in read_record(folder.path / str(ended.record)).entries:
            if isinstance(entry, Moved):
                yield max(0, entry.elapsed_ms - entry.allowance_ms)


def shares(values: Sequence[float]) -> str:
    """Return the percentiles of milliseconds."""
    ranked = sorted(values)
    cells = [(f"p{100 * share:g}" if share < 1 else "most", share) for share in SHARES]
    return "  ".join(f"{name} {percentile(ranked, share):.1f}" for name, share in cells)


def causes(progress: TournamentState) -> Counter[Cause]:
    """Return how often a seat dropped out, by cause."""
    seats = [seat for ended in progress.ended.values() for seat in ended.result.seats]
    return Counter(seat.cause for seat in seats if seat.cause is not None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--moves", type=int, default=20_000)
    parser.add_argument("--tc", default="0.2+0.002")
    parser.add_argument("--bot", default="five-in-a-row/random", help="takes a seed")
    parser.add_argument("--concurrency", type=int, default=cpu_count())
    parser.add_argument("--minutes", type=float, default=30.0, help="begin no games after that")
    arguments = parser.parse_args()
    kernels.set_mode("plain")
    with tempfile.TemporaryDirectory(prefix="kibitz-clocks-") as directory:
        sys.exit(_measured(arguments, TournamentDirectory(Path(directory))))


def _measured(arguments: argparse.Namespace, folder: TournamentDirectory) -> int:
    folder.create(Path.cwd())
    ticker = Until(sys.stderr)
    tournament = event(arguments)
    services = LocalServices(tournament, folder)
    house = TournamentRunner(tournament, folder, ServerOptions(), services, ticker)
    house.concurrency = lateness = Lateness(arguments.concurrency)
    ticker.begin(house, arguments.moves, 60 * arguments.minutes)
    progress = run(house.run())
    ticker.close()
    played, lost = moves(progress), causes(progress)
    print(
        f"clock {arguments.tc}, {arguments.concurrency} games at once on {cpu_count()} processors"
    )
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
