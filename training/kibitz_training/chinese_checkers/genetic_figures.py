"""The charts of ``chinese-checkers/genetic``, which correspond to those of the report."""

from __future__ import annotations

from collections.abc import Sequence

from kibitz_games.chinese_checkers import geometry as geo
from kibitz_search.chinese_checkers.hole_arrays import Array
from kibitz_training import figures


def over_generations(
    seats: int, best: Sequence[float], mean: Sequence[float], won: Sequence[float]
) -> dict[str, str]:
    """Return the charts of the fitness and the win rate in percent, by file name."""
    fitness = {"the fittest": best, "mean of the population": mean}
    players = f"{seats} players"
    return {
        "fitness.svg": figures.line_chart(
            f"Fitness by generation, {players}", fitness, across="generation"
        ),
        "wins.svg": figures.line_chart(
            f"Win rate of the population, {players}",
            won,
            across="generation",
            up="% of the games",
            low=0,
            high=100,
        ),
    }


def star(title: str, array: Array) -> str:
    """Return an SVG of the array on the star; darker holes have smaller numbers."""
    points = geo.geometry("star", geo.COMMON["star"]).points
    # One unit is half a hole wide, and half the square root of three holes high.
    places = [(x / 2, y * 3**0.5 / 2) for x, y in points]
    return figures.dot_chart(title, places, array.tolist())
