"""Experiments whose results come from events of `benchmarks.strength`.

They only tabulate stored results; ``python -m benchmarks.strength NAME --write`` plays the events.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from benchmarks.experiments.experiment import Measure, Measured, UnavailableError
from benchmarks.strength import results
from benchmarks.strength.results import CaseResult

HEADS = ("event", "bot", "against", "games", "won-drawn-lost", "score", "95% interval")


def of(names: tuple[str, ...], found: str) -> Callable[[], Measure]:
    """Return the loader of an experiment that tabulates these events between two bots.

    `found` is the summary. It may contain ``{name}`` for the score of the first bot of an event,
    with the hyphens of the event's name as underscores.
    """
    return lambda: lambda scale: tabulate(results.load(), names, found)


def tabulate(kept: Mapping[str, CaseResult], names: tuple[str, ...], found: str) -> Measured:
    """Return the table of the stored events."""
    if missing := [name for name in names if name not in kept]:
        raise UnavailableError(
            f"no results for {', '.join(missing)}; run python -m benchmarks.strength"
        )
    scores = {name.replace("-", "_"): f"{100 * _first(kept[name]):.1f}%" for name in names}
    return Measured(
        found=found.format_map(scores),
        heads=HEADS,
        rows=tuple(_row(name, kept[name]) for name in names),
        command=f"python -m benchmarks.strength {' '.join(names)} --write",
    )


def _first(result: CaseResult) -> float:
    return result.players[0].score


def _row(name: str, result: CaseResult) -> tuple[str, ...]:
    own, other = result.players[0], result.players[1]
    counts = f"{own.wins}-{own.draws}-{own.losses}"
    interval = f"{100 * own.low:.1f}% to {100 * own.high:.1f}%"
    score = f"{100 * own.score:.1f}%"
    others = other.name if len(result.players) == 2 else f"{len(result.players) - 1} others"
    return name, own.name, others, str(own.games), counts, score, interval
