"""The parameters of ``chinese-checkers/genetic``."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from kibitz_search.training.experiment import Parameters


class GeneticParameters(Parameters):
    """What the report on Chinese Checkers leaves open of its genetic algorithm, and its length."""

    seats: int = Field(2, ge=2, le=6, description="players; all but one are the judge")
    population: int = Field(20, ge=2, le=10_000, description="individuals in a generation")
    generations: int = Field(8000, ge=1, le=1_000_000, description="when the run ends")
    judge: Literal["hand", "euclid", "stragglers", "mobility"] = Field(
        "hand", description="the evaluation that they play against"
    )
    begins: Literal["turns", "individual", "judge"] = Field(
        "turns", description="who makes the first move: everybody in turn, or always the same"
    )
    keep_survivors: bool = Field(
        False, description="whether the fittest live on beside their children"
    )
    lowest: int = Field(1, ge=-25, le=100, description="the least number of a random individual")
    highest: int = Field(24, ge=-25, le=100, description="the largest number of one")
    fixed: Literal["apart", "judge"] = Field(
        "apart",
        description="the numbers that are not random, of start and goal holes: the hand-tuned "
        "ones, apart so that the random ones lie between, or as the judge has them",
    )
    patience: int = Field(
        500,
        ge=1,
        le=1_000_000,
        description="generations without a win after which it begins anew",
    )
    own_distance: bool = Field(
        False, description="whether a loser's way is measured by its own array, not by the judge's"
    )
    restarts: int = Field(
        3, ge=0, le=1000, description="how often a game that nobody can win is begun again"
    )
    stuck: Literal["start", "left"] = Field(
        "start",
        description="how far from a win it was then: as at the start, or by what it had left",
    )
    test: int = Field(
        1000, ge=0, le=1_000_000, description="games of the best against each judge at the end"
    )

    @model_validator(mode="after")
    def _check_range(self) -> Self:
        if self.highest < self.lowest:
            raise ValueError(f"highest: expected at least the lowest, {self.lowest}")
        return self
