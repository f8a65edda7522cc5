"""The figures of ``chinese-checkers/genetic``: those that the report has, of a run."""

from __future__ import annotations

from collections.abc import Sequence

from kibitz_games.chinese_checkers import geometry as geo
from kibitz_search.chinese_checkers.hole_arrays import Array
from kibitz_training import figures


def over_generations(
    seats: int, best: Sequence[float], mean: Sequence[float], won: Sequence[float]
) -> dict[str, str]:
    """Return the charts of the fitness and of the games won, in percent, by their file names."""
    fitness = {"the fittest": best, "the mean of the population": mean}
    players = f"{seats} players"
    return {
        "fitness.svg": figures.line_chart(
            f"Fitness over the generations, {players}", fitness, across="generation"
        ),
        "wins.svg": figures.line_chart(
            f"Games won by the population, {players}",
            won,
            across="generation",
            up="% of the games",
            low=0,
            high=100,
        ),
    }


def star(title: str, array: Array) -> str:
    """Return an array drawn on the star: the darker a hole, the nearer to a win its peg."""
    points = geo.geometry("star", geo.COMMON["star"]).points
    # Points are half a hole wide and half the root of three high.
    places = [(x / 2, y * 3**0.5 / 2) for x, y in points]
    return figures.dot_chart(title, places, array.tolist())
