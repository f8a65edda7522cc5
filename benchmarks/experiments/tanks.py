"""Plots like Figures 8 and 9 of "AI Based Tanks Game": the points of each generation."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from kibitz_training import journal
from kibitz_training.figures import line_chart

TABLE_2 = (460, 360, 410, 660, 330)
"""The points of the report's trained network in five games, from its Table 2."""


QUIRKS = "quirks"
"""How the names of runs end whose games have the quirks of the report's program."""


def generations(folders: Mapping[str, Path]) -> Mapping[str, str]:
    """Return the plots of the named runs, beside the mean points of the report's Table 2.

    With quirks, single games have so many points that they need a plot of their own.
    """
    points = {name: _points(folder) for name, folder in folders.items()}
    quirks = {name: each for name, each in points.items() if name.endswith(QUIRKS)}
    usual = {name: each for name, each in points.items() if name not in quirks}
    return {
        "Figure 8: the highest points of each generation": _plot("Highest", max, usual),
        "Figure 8 with quirks": _plot("Highest", max, quirks),
        "Figure 9: the mean points of each generation": _plot("Mean", statistics.fmean, points),
    }


def _points(folder: Path) -> list[list[float]]:
    """Return the points of each network of each generation, from a run's journal."""
    path = folder / journal.JOURNAL
    return [entry["fitness"] for entry in journal.parse(path.read_bytes(), str(path)).entries]


def _plot(
    name: str,
    summary: Callable[[Sequence[float]], float],
    points: Mapping[str, Sequence[Sequence[float]]],
) -> str:
    lines = {run: [*map(summary, each)] for run, each in points.items()}
    last = max(map(len, lines.values()))
    lines["report's Table 2"] = [statistics.fmean(TABLE_2)] * last
    return line_chart(
        f"{name} points of each generation", lines, across="generation", up="points", low=0
    )
