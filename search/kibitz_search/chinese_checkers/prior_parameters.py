"""The parameters of the experiment ``chinese-checkers/priors``, without what it computes with."""

from __future__ import annotations

from pydantic import Field

from kibitz_search.training.experiment import Parameters


class PriorParameters(Parameters):
    """How many games are played, and how much each search looks at."""

    seats: int = Field(2, ge=2, le=6, description="players")
    games: int = Field(150, ge=2, le=100_000, description="games of the search against itself")
    iterations: int = Field(400, ge=10, le=1_000_000, description="iterations a move")
