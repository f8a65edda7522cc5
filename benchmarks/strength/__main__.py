"""The command `python -m benchmarks.strength`; see the package's docstring."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import benchmarks.strength
from benchmarks import machine
from benchmarks.strength import cases, results, runner
from benchmarks.strength.cases import StrengthCase
from benchmarks.strength.results import CaseResult, Measurement
from kibitz_arena.config_error import ConfigError
from kibitz_arena.report import text
from kibitz_arena.tournament import Tournament
from kibitz_games.compiled import kernels

RUNS = Path(__file__).parents[2] / "records" / "strength"
"""The directory of tournaments, from which interrupted ones are resumed."""


def main(argv: Sequence[str] | None = None) -> int:
    """Play the named cases, and return the exit status."""
    options = _parser().parse_args(argv)
    kernels.set_mode("plain")
    try:
        chosen = cases.select(options.names)
        if options.missing:
            commit = machine.last_commit_of(results.SOURCES)
            stored = results.load()
            chosen = [case for case in chosen if not _is_stored(case, commit, stored)]
        return _play_all(chosen, quick=options.quick, write=options.write)
    except (cases.UnknownCaseError, ConfigError, machine.UncommittedError) as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2


def _is_stored(case: StrengthCase, commit: str, stored: Mapping[str, CaseResult]) -> bool:
    """Return whether the stored result is from the case as it is and from this commit."""
    result = stored.get(case.name)
    if result is None or result.measured.stored_only or result.measured.commit != commit:
        return False
    return result.of_event(case.tournament)


def _play_all(chosen: Sequence[StrengthCase], *, quick: bool, write: bool) -> int:
    """Play the cases until one is interrupted; return the exit status."""
    status = 0
    for number, case in enumerate(chosen):
        print(f"{case.name}: {time_left(chosen[number:], results.load())}", flush=True)
        try:
            status = max(status, _play(case, quick=quick, write=write))
        except runner.CaseInterruptedError as error:
            print(f"Error: {case.name}: {error}", file=sys.stderr)
            return 1
        except runner.CaseFailedError as error:
            print(f"Error: {case.name}: {error}", file=sys.stderr)
            status = max(status, 1)
    return status


def time_left(cases_left: Sequence[StrengthCase], stored: Mapping[str, CaseResult]) -> str:
    """Describe the number of events left, and how long they took when last measured."""
    known = [
        seconds
        for case in cases_left
        if case.name in stored and (seconds := stored[case.name].measured.seconds) is not None
    ]
    new = len(cases_left) - len(known)
    unknown = f"; unknown duration: {new}" if new else ""
    return f"events left: {len(cases_left)}, about {sum(known) / 60:.0f} min{unknown}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.strength",
        description=benchmarks.strength.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="cases to play; default: all")
    parser.add_argument(
        "--missing", action="store_true", help="skip cases that are stored for this commit"
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--quick", action="store_true", help="play a tenth of the games")
    how.add_argument("--write", action="store_true", help="store the results")
    return parser


def _play(case: StrengthCase, *, quick: bool, write: bool) -> int:
    """Play one case, print and optionally store its result; return the exit status.

    Raises `runner.CaseFailedError`, and `machine.UncommittedError` if a result to store would not
    be from a commit.
    """
    commit = machine.last_commit_of(results.SOURCES) if write else ""
    result = _play_quickly(case) if quick else _play_whole(case, commit)
    print(f"{case.name}: {_conclusion(result, quick=quick)}\n", flush=True)
    if write:
        if machine.last_commit_of(results.SOURCES) != commit:
            raise runner.CaseFailedError("the sources changed during the event; not stored")
        results.save(result)
    return 0 if result.well and (result.holds or quick) else 1


def _play_whole(case: StrengthCase, commit: str) -> CaseResult:
    """Play a case; runs of different commits are not mixed."""
    return _result(case, case.tournament, RUNS / commit / f"{case.name}.arena", commit)


def _play_quickly(case: StrengthCase) -> CaseResult:
    with tempfile.TemporaryDirectory(prefix="kibitz-strength-") as folder:
        return _result(case, cases.shortened(case.tournament), Path(folder) / "quick", "")


def _result(case: StrengthCase, tournament: Tournament, directory: Path, commit: str) -> CaseResult:
    played = runner.play_case(case, tournament, directory)
    print(text.render_text(played, 100), flush=True)
    today = time.strftime("%Y-%m-%d")
    measured = Measurement(commit=commit, date=today, seconds=round(played.seconds))
    return CaseResult.of(played, directory, measured)


def _conclusion(result: CaseResult, *, quick: bool) -> str:
    """Describe the result of a case briefly; a quick run has too few games to prove claims."""
    failed = [claim.claim for claim in result.claims if not claim.holds]
    words = [] if result.well else [f"faults: {result.faults()}"]
    if quick:
        words.append(f"{len(result.claims) - len(failed)} of {len(result.claims)} claims so far")
    elif failed:
        words.append(f"failed: {'; '.join(failed)}")
    else:
        words.append("shown")
    return "; ".join(words)


if __name__ == "__main__":
    sys.exit(main())
