"""The figures of ``chinese-checkers/genetic``: those that the report has, of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kibitz_games.chinese_checkers import geometry as geo
from kibitz_search.training import figures
from kibitz_search.training.genetic import Array


def over_generations(seats: int, entries: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the charts of the fitness and of the games won, by their file names."""
    fitness = {
        "the fittest": [entry["best"] for entry in entries],
        "the mean of the population": [entry["mean"] for entry in entries],
    }
    won = [100 * entry["wins"] / entry["games"] for entry in entries]
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


def shown_generations(entries: Sequence[Mapping[str, Any]], best: int) -> dict[str, int]:
    """Return the generations whose fittest is drawn, as in the report, by what each is.

    The first, the first that has won a game, that of three tenths of the run, as the report's 2,427
    is, and that of the highest fitness.
    """
    won = next((entry["generation"] for entry in entries if entry["wins"]), None)
    shown = {"first": 0}
    if won is not None:
        shown["first-win"] = won
    return shown | {"middle": len(entries) * 3 // 10, "fittest": best}
