"""The parameters of the experiments of Tanks."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kibitz_search.training.experiment import Parameters


class ReportParameters(Parameters):
    """What the report on Tanks leaves open of its evolution, and its size."""

    input: Literal["codes", "scaled"] = Field(
        "codes", description="what the network reads: the codes, or a tenth of them"
    )
    population: int = Field(250, ge=2, le=10_000, description="networks in a generation")
    generations: int = Field(30, ge=1, le=100_000, description="when the run ends")
    test: int = Field(
        1000, ge=4, le=1_000_000, description="games of the best at the end, in every seat in turn"
    )


class NeuroevolutionParameters(Parameters):
    """The size of an evolution strategy for networks."""

    population: int = Field(32, ge=4, le=1000, multiple_of=2, description="networks a generation")
    generations: int = Field(300, ge=1, le=1_000_000, description="when the run ends")
    games: int = Field(8, ge=4, le=1000, multiple_of=4, description="games of each network")
    test: int = Field(
        1000, ge=4, le=1_000_000, description="games of the best at the end, in every seat in turn"
    )
