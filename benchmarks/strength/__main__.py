"""The command `python -m benchmarks.strength`; see the package's docstring."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import benchmarks.strength
from benchmarks.strength import cases, results, runner
from benchmarks.strength.cases import StrengthCase
from benchmarks.strength.results import CaseResult
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
    except (cases.UnknownCaseError, ConfigError) as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    return max(_play(case, quick=options.quick, write=options.write) for case in chosen)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.strength",
        description=benchmarks.strength.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="cases to play; default: all")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--quick", action="store_true", help="play a tenth of the games")
    how.add_argument("--write", action="store_true", help="store the results")
    return parser


def _play(case: StrengthCase, *, quick: bool, write: bool) -> int:
    """Play one case, print and optionally store its result; return the exit status."""
    try:
        result = _play_quickly(case) if quick else _play_whole(case)
    except runner.CaseFailedError as error:
        print(f"Error: {case.name}: {error}", file=sys.stderr)
        return 1
    print(f"{case.name}: {_conclusion(result, quick=quick)}\n", flush=True)
    if write:
        results.save(result)
    return 0 if result.well and (result.holds or quick) else 1


def _play_whole(case: StrengthCase) -> CaseResult:
    return _result(case, case.tournament, RUNS / f"{case.name}.arena")


def _play_quickly(case: StrengthCase) -> CaseResult:
    with tempfile.TemporaryDirectory(prefix="kibitz-strength-") as folder:
        return _result(case, cases.shortened(case.tournament), Path(folder) / "quick")


def _result(case: StrengthCase, tournament: Tournament, directory: Path) -> CaseResult:
    played = runner.play_case(case, tournament, directory)
    print(text.render_text(played, 100), flush=True)
    return CaseResult.of(played, directory)


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
