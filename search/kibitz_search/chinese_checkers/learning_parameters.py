"""The parameters of the experiment ``chinese-checkers/learned``, without what it computes with."""

from __future__ import annotations

from pydantic import Field

from kibitz_search.training.experiment import Parameters


class LearnedParameters(Parameters):
    """How long the evolution strategy runs, and on how many games each step rests."""

    seats: int = Field(2, ge=2, le=6, description="players")
    population: int = Field(14, ge=4, le=1000, description="individuals in a generation")
    generations: int = Field(60, ge=1, le=100_000, description="when the run ends")
    openings: int = Field(
        24, ge=1, le=100_000, description="openings that each individual plays, from all seats"
    )
    test: int = Field(
        200, ge=0, le=100_000, description="other openings of the test against stragglers"
    )
