"""Whole events that are cut off: nothing lost, nothing twice, and the same order over two seeds.

    python -m benchmarks.interrupted [EVENT.yaml ...] [--quick] [--seeds 1 2] [--minutes 60]

Each event is held once a seed by `kibitz arena`, interrupted by Ctrl-C, killed with SIGKILL, and
interrupted once more, each time after another quarter of its games, and gone on with. Then its
journal and its results are held against each other, and the ratings of the seeds are printed
side by side. Two entrants are *clearly different* where the first seed says with at least 99%
which of them is stronger; the order is stable where no seed says the opposite of another in that
way, and where everybody who is clearly better by the first seed is rated higher by all.

The status is 0 when all holds. `--quick` plays one game a pairing or group on a small board.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kibitz_arena import entries, state
from kibitz_arena.config import load
from kibitz_arena.entries import GameEnded
from kibitz_arena.results import Results
from kibitz_arena.tournament import Tournament
from kibitz_games.compiled import kernels

EVENTS = Path(__file__).parent / "events"
SIGNALS = (signal.SIGINT, signal.SIGKILL, signal.SIGINT)
CLEAR = 0.99
LOOK_SECONDS = 0.2
TELL_SECONDS = 15.0
END_SECONDS = 120.0
"""How long an interrupted event may take to end its running games."""


class OutOfTime(Exception):
    """A tournament took longer than it was given."""


@dataclass
class Run:
    """One event, held in a directory of its own until its end or until `deadline`."""

    file: Path
    directory: Path
    deadline: float
    concurrency: str

    @property
    def journal(self) -> Path:
        return self.directory / "journal.jsonl"

    @property
    def results(self) -> Results:
        return Results.model_validate_json((self.directory / "results.json").read_bytes())

    def ended(self) -> list[GameEnded]:
        """Return the games that count, as the journal has them."""
        with contextlib.suppress(FileNotFoundError):
            found = entries.FORMAT.parse(self.journal.read_bytes()).entries
            return [each for each in found if isinstance(each, GameEnded)]
        return []

    def hold(self, planned: int) -> None:
        """Hold it to its end, through all interruptions."""
        for number, what in enumerate(SIGNALS, 1):
            self._until(number * planned // (len(SIGNALS) + 1), what)
        status = self._until(None, None)
        if status != 0:
            raise AssertionError(f"expected status 0 at the end, got {status}")

    def _until(self, games: int | None, what: signal.Signals | None) -> int:
        """Go on until so many games have ended, send the signal; return the status."""
        words = [sys.executable, "-m", "kibitz", "arena", str(self.file), "-q", "--json"]
        words += ["--dir", str(self.directory), "--concurrency", self.concurrency]
        with subprocess.Popen(words, stdout=subprocess.DEVNULL) as process:
            try:
                self._watch(process, games)
                if what is not None and process.poll() is None:
                    print(f"    {what.name} after {len(self.ended())} games", flush=True)
                    process.send_signal(what)
                    process.wait(END_SECONDS)
            finally:
                process.kill()
        return process.returncode

    def _watch(self, process: subprocess.Popen[bytes], games: int | None) -> None:
        told = time.monotonic()
        while process.poll() is None:
            ended = len(self.ended())
            if games is not None and ended >= games:
                return
            now = time.monotonic()
            if now > self.deadline:
                raise OutOfTime(f"{ended} games had ended by then; they are in {self.directory}")
            if now > told + TELL_SECONDS:
                told = now
                print(f"    {ended} games", flush=True)
            time.sleep(LOOK_SECONDS)


def flaws(run: Run, event: Tournament) -> Iterator[str]:
    """Yield everything that a tournament which was cut off should not have lost or doubled."""
    ended, results = run.ended(), run.results
    for what, keys in (
        ("tag", [each.tag for each in ended]),
        ("match", [each.match for each in ended]),
        ("record", [each.record for each in ended]),
    ):
        yield from (f"the {what} {key} is there {n} times" for key, n in _twice(keys))
    if not results.finished or results.played != results.planned or len(ended) != results.played:
        yield f"{results.played} of {results.planned} games count, {len(ended)} are in the journal"
    if results.interruptions != len(SIGNALS):
        yield f"expected {len(SIGNALS)} interruptions, found {results.interruptions}"
    counts = {line.name: line.games for line in results.standings}
    if len({*counts.values()}) > 1 or counts.keys() != {*event.names}:
        yield f"expected equal counts, found {counts}"
    lost = [each.tag for each in ended if not (run.directory / str(each.record)).is_file()]
    yield from (f"the record of {tag} is not there" for tag in lost)


def _twice(keys: Sequence[object]) -> list[tuple[object, int]]:
    return [(key, count) for key, count in Counter(keys).items() if count > 1]


def table(runs: Sequence[Results]) -> Iterator[str]:
    """Yield the ratings of the seeds side by side, in the order of the first."""
    found = [{line.name: line for line in results.standings} for results in runs]
    yield (
        "    "
        + f"{'entrant':<16}"
        + "".join(f"{f'seed {each.event.seed}':>22}{'games':>7}" for each in runs)
    )
    for name in found[0]:
        cells = []
        for lines in found:
            line = lines[name]
            rating, low, high = (value or 0.0 for value in (line.rating, line.low, line.high))
            cells.append(f"{f'{rating:+.0f} ± {(high - low) / 2:.0f}':>22}{line.games:>7}")
        yield f"    {name:<16}" + "".join(cells)


def unstable(runs: Sequence[Results]) -> Iterator[str]:
    """Yield the pairs that are clearly different by one seed and the other way by another."""
    first = runs[0]
    for other in runs[1:]:
        for better, worse in _clear(first):
            if _rating(other, better) <= _rating(other, worse):
                yield f"{better} is not above {worse} with seed {other.event.seed}"
        for better, worse in _clear(other):
            if (worse, better) in _clear(first):
                yield f"{better} and {worse} are clearly different both ways"


def _clear(results: Results) -> set[tuple[str, str]]:
    names = [line.name for line in results.standings]
    return {
        (a, b)
        for a, row in zip(names, results.superiority, strict=True)
        for b, share in zip(names, row, strict=True)
        if share is not None and share >= CLEAR
    }


def _rating(results: Results, name: str) -> float:
    return next(line.rating or 0.0 for line in results.standings if line.name == name)


def held(
    event: Tournament, seeds: Sequence[int], folder: Path, arguments: argparse.Namespace
) -> bool:
    """Hold a tournament once a seed and print what comes of it; return whether all was well."""
    well, runs = True, []
    for seed in seeds:
        seeded = event.model_copy(update={"seed": seed})
        file = folder / f"{event.name}-{seed}.yaml"
        file.write_text(json.dumps(seeded.dump()))
        deadline = time.monotonic() + 60 * arguments.minutes
        run = Run(file, file.with_suffix(".arena"), deadline, arguments.concurrency)
        planned = state.TournamentState(seeded).planned
        print(f"{event.name}, seed {seed}: {planned} games, {event.seats} seats", flush=True)
        began = time.monotonic()
        run.hold(planned)
        found = [*flaws(run, seeded)]
        result = "nothing lost, nothing twice" if not found else "; ".join(found)
        print(f"    {result}; {time.monotonic() - began:.0f} s", flush=True)
        well = well and not found
        runs.append(run.results)
    print("\n".join(table(runs)))
    if len(runs) > 1:
        moved = [*unstable(runs)]
        if not _clear(runs[0]) and not arguments.quick:
            moved.append("expected some who are clearly different")
        clear, pairs = len(_clear(runs[0])), len(event.names) * (len(event.names) - 1) // 2
        print(f"    clearly different: {clear} of {pairs} pairs; ", end="")
        print("the order of these is stable" if not moved else "; ".join(moved), flush=True)
        well = well and not moved
    return well


def quick(event: Tournament) -> Tournament:
    """Return a short event of the same kind."""
    game = event.game.model_copy(update={"options": {**event.game.options, "size": 2}})
    return event.model_copy(update={"game": game, "games": 1, "balanced": False})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("events", nargs="*", type=Path, help="event files; ours if none is said")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--minutes", type=float, default=60.0, help="for each event and seed")
    parser.add_argument("--concurrency", default=str(os.cpu_count() or 1))
    parser.add_argument("--dir", type=Path, help="where the tournaments' directories are kept")
    arguments = parser.parse_args()
    kernels.set_mode("plain")
    with contextlib.ExitStack() as stack:
        temporary = stack.enter_context(tempfile.TemporaryDirectory(prefix="kibitz-events-"))
        folder = (arguments.dir or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        well = True
        for path in arguments.events or sorted(EVENTS.glob("*.yaml")):
            event = load(path.read_text(), str(path))
            event = quick(event) if arguments.quick else event
            well = held(event, arguments.seeds, folder, arguments) and well
    sys.exit(0 if well else 1)


if __name__ == "__main__":
    main()
