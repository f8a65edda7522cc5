"""The parameters of the experiment of five in a row."""

from __future__ import annotations

from pydantic import Field

from kibitz_search.training.experiment import Parameters


class PatternParameters(Parameters):
    """How much is played, and how deep."""

    games: int = Field(1500, ge=2, le=1_000_000, description="games of threat against itself")
    nodes: int = Field(
        4000, ge=100, le=100_000_000, description="positions that each search looks at"
    )
