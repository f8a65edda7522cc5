"""The command: `python -m benchmarks.strength`; the package says what it does."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import benchmarks.strength
from benchmarks.strength import outcome, staging, table, targets
from benchmarks.strength.outcome import Outcome
from benchmarks.strength.targets import Target
from kibitz_clients.arena import tables
from kibitz_clients.arena.event import Event, EventError
from kibitz_games import kernels

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "bots.md"
RUNS = ROOT / "records" / "strength"
"""Where events are played, so that one that was cut off goes on."""


def main(argv: Sequence[str] | None = None) -> int:
    """Play the targets that are named, and return the exit status."""
    said = _parser().parse_args(argv)
    kernels.choose("plain")
    try:
        chosen = targets.chosen(said.names)
    except (targets.UnknownTarget, EventError) as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    if not said.render:
        return max([_shown(each, quick=said.quick, keep=said.write) for each in chosen], default=0)
    render(PAGE, targets.every())
    return 0


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="python -m benchmarks.strength",
        description=benchmarks.strength.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("names", nargs="*", metavar="NAME", help="targets; all without any")
    made.add_argument("--quick", action="store_true", help="play a tenth of the games")
    what = made.add_mutually_exclusive_group()
    what.add_argument("--write", action="store_true", help="keep the outcomes, write the table")
    what.add_argument("--render", action="store_true", help="write the table, play nothing")
    return made


def _shown(target: Target, *, quick: bool, keep: bool) -> int:
    """Play one target, print what it has shown, keep it if asked to; return the exit status."""
    try:
        found = _quickly(target) if quick else _played(target)
    except staging.Broken as error:
        print(f"Error: {target.name}: {error}", file=sys.stderr)
        return 1
    print(f"{target.name}: {_verdict(found, quick=quick)}\n", flush=True)
    if keep and not quick:
        outcome.keep(found, target.kept)
        render(PAGE, targets.every())
    return 0 if found.well and (found.holds or quick) else 1


def _played(target: Target) -> Outcome:
    return _found(target, target.event, RUNS / f"{target.name}.arena")


def _quickly(target: Target) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="kibitz-strength-") as folder:
        return _found(target, targets.shortened(target.event), Path(folder) / "quick")


def _found(target: Target, event: Event, directory: Path) -> Outcome:
    results = staging.play(target, event, directory)
    print(tables.text(results, 100), flush=True)
    return Outcome.of(results, directory)


def _verdict(found: Outcome, *, quick: bool) -> str:
    """Say in a word what came of a target; so few games as a quick run has prove no claim."""
    failed = [each.claim for each in found.claims if not each.holds]
    words = [] if found.well else [f"faults: {found.faults()}"]
    if quick:
        words.append(f"{len(found.claims) - len(failed)} of {len(found.claims)} claims so far")
    elif failed:
        words.append(f"failed: {'; '.join(failed)}")
    else:
        words.append("shown")
    return "; ".join(words)


def render(page: Path, shown: Sequence[Target]) -> None:
    """Write the table of what was kept of these targets into a page."""
    kept = [(each.name, outcome.kept(each.kept)) for each in shown]
    text = table.written(
        page.read_text(encoding="utf-8"), [(name, found) for name, found in kept if found]
    )
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
