"""Measure how often bots that answer immediately lose on time, which should never happen.

    python -m benchmarks.arena [--moves 20000] [--tc 0.2+0.002] [--concurrency N] [--minutes 30]

Random five-in-a-row bots play each other in one event until they have played `--moves` moves. The
server and the bots are started as by `kibitz arena`, with one game per processor at a time. A long
game on 225 cells is the hardest test for such a clock: each bot has 0.2 s plus 2 ms per move, and
makes more than a hundred moves.

The output shows the number of moves, the losses by cause, the time charged per move, and the delays
of the server and the scheduler. The exit status is 0 if all moves were played and no bot lost on
time or for technical reasons.
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
    """The concurrency limit of `kibitz arena`, extended to store all latencies."""

    all: list[float] = field(default_factory=list)

    def record_latency(self, late_ms: float) -> None:
        """Record the delay of an answer."""
        self.all.append(late_ms)
        super().record_latency(late_ms)


class Until(ProgressDisplay):
    """A progress display that stops the tournament after enough moves, or at the deadline."""

    house: TournamentRunner

    def begin(self, house: TournamentRunner, moves: int, seconds: float) -> None:
        """Set the tournament, the target number of moves, and the deadline."""
        self.house = house
        self._wanted = moves
        self._deadline = time.monotonic() + seconds
        self._draining: asyncio.Task[None] | None = None

    def show(self, progress: TournamentState, width: ConcurrencyLimit) -> None:
        """Check whether the target or the deadline is reached."""
        super().show(progress, width)
        enough = moves(progress) >= self._wanted or time.monotonic() > self._deadline
        if enough and self._draining is None:
            self._draining = asyncio.ensure_future(self.house.stop())


def moves(progress: TournamentState) -> int:
    """Return the number of moves in games that count."""
    return sum(ended.result.plies for ended in progress.ended.values())


def event(arguments: argparse.Namespace) -> Tournament:
    """Return a tournament with more games than will be played."""
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
    """Return percentiles of a sample in milliseconds, as text."""
    ranked = sorted(values)
    cells = [(f"p{100 * share:g}" if share < 1 else "most", share) for share in SHARES]
    return "  ".join(f"{name} {percentile(ranked, share):.1f}" for name, share in cells)


def causes(progress: TournamentState) -> Counter[Cause]:
    """Return the number of seats that dropped out, by cause."""
    seats = [seat for ended in progress.ended.values() for seat in ended.result.seats]
    return Counter(seat.cause for seat in seats if seat.cause is not None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--moves", type=int, default=20_000)
    parser.add_argument("--tc", default="0.2+0.002")
    parser.add_argument("--bot", default="five-in-a-row/random", help="a bot that takes a seed")
    parser.add_argument("--concurrency", type=int, default=cpu_count())
    parser.add_argument(
        "--minutes", type=float, default=30.0, help="start no games after this many minutes"
    )
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
    print(f"clock {arguments.tc}, {arguments.concurrency} concurrent games on {cpu_count()} CPUs")
    print(f"{played} moves in {progress.played} games, {progress.running_ms / 1000:.0f} s")
    print(f"lost on time: {lost[Cause.TIME]}")
    print(f"lost for other reasons: {_counted(lost)}; replayed: {progress.requeued}")
    print(f"charged per move, ms:    {shares([*charged(folder, progress)])}")
    print(f"lateness of answers, ms: {shares(lateness.all)}")
    if house.failure is not None:
        print(house.failure)
    return 0 if played >= arguments.moves and not lost and house.failure is None else 1


def _counted(lost: Counter[Cause]) -> str:
    others = [f"{cause} {n}" for cause, n in lost.items() if cause is not Cause.TIME]
    return ", ".join(others) or "0"


if __name__ == "__main__":
    main()
