"""Sequential probability ratio tests: decide with few games whether A is better than B.

This is the generalized sequential probability ratio test (GSPRT) on the scores of blocks. Under H0,
A's expected score is that of a player `elo0` stronger than B; under H1, `elo1` stronger, in
logistic Elo: ``1 / (1 + 10 ** (-elo / 400))``. After every block the test compares the maximum
likelihood of the scores so far under H1 and under H0. The test ends when the logarithm of that
ratio (LLR) leaves the interval from ``log(beta / (1 - alpha))`` to ``log((1 - beta) / alpha)`` (A.
Wald, Sequential Analysis, 1947).

The unit is the block, not the game: the games of a block share a seed and an opening, so their
results are not independent, and counting them individually would overstate the evidence. For two
seats this is the pentanomial test of fishtest (M. Van den Bergh, "A practical introduction to the
GSPRT", http://hardy.uhasselt.be/Fishtest/GSPRT_approximation.pdf; the likelihood at a given mean is
Proposition 1.1 of his "support_MLE_multinomial", the empirical likelihood of A. B. Owen, Biometrika
75, 1988). With more seats, a game's score is whether A finished ahead of B, with ties as half,
regardless of the other players.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final, Literal, TypeAlias

from pydantic import Field

from kibitz_arena.pentanomial import Pairs, Pentanomial
from kibitz_arena.tournament import StopRule
from kibitz_protocol.wire.values import Tolerant

State: TypeAlias = Literal["running", "accepted H0", "accepted H1"]

PSEUDOCOUNT: Final = 1e-3
"""The pseudo-count for outcomes that never occurred, in blocks, as in fishtest; keeps values
finite."""
BISECTION_STEPS: Final = 100
"""The number of bisection steps for a likelihood's multiplier; 60 suffice for doubles."""


class SprtResult(Tolerant):
    """The state of a sequential test."""

    better: tuple[str, str] = Field(description="A and B: is A better than B?")
    elo0: float
    elo1: float
    alpha: float
    beta: float
    state: State
    llr: float = Field(description="log-likelihood ratio of H1 against H0; final once decided")
    lower: float = Field(description="H0 is accepted when the LLR falls to this bound")
    upper: float = Field(description="H1 is accepted when the LLR rises to this bound")
    blocks: int = Field(description="how many blocks were counted")
    score: float | None = Field(description="the mean score of A against B in them, 0 to 1")
    pairs: Pairs | None = Field(
        None, description="for two seats: the blocks in which A scored 0, 1/2, 1, 3/2 and 2 points"
    )

    @property
    def decided(self) -> bool:
        """Whether the test has ended."""
        return self.state != "running"


class Sprt:
    """A running test; `add` every block in the order of completion."""

    __test__ = False  # not a pytest class

    def __init__(self, stop: StopRule, *, paired: bool = False) -> None:
        """`paired` says that each block is two games with two seats."""
        self.stop = stop
        self._paired = paired
        self.lower = math.log(stop.beta / (1 - stop.alpha))
        self.upper = math.log((1 - stop.beta) / stop.alpha)
        self._scores: Counter[float] = Counter()
        self._llr = 0.0
        self._state: State = "running"

    def add(self, score: float) -> None:
        """Count a block by the mean score of A against B, 0 to 1.

        Blocks after the decision are ignored.
        """
        if self._state != "running":
            return
        self._scores[score] += 1
        self._llr = llr(
            self._scores, expected_score(self.stop.elo0), expected_score(self.stop.elo1)
        )
        if self._llr >= self.upper:
            self._state = "accepted H1"
        elif self._llr <= self.lower:
            self._state = "accepted H0"

    @property
    def result(self) -> SprtResult:
        """The current state of the test."""
        blocks = self._scores.total()
        total = sum(score * count for score, count in self._scores.items())
        return SprtResult(
            **self.stop.model_dump(),
            state=self._state,
            llr=self._llr,
            lower=self.lower,
            upper=self.upper,
            blocks=blocks,
            score=total / blocks if blocks else None,
            pairs=self.pentanomial.counts if self._paired else None,
        )

    @property
    def pentanomial(self) -> Pentanomial:
        """The blocks as pairs of games with two seats."""
        counted = Pentanomial()
        for score, count in self._scores.items():
            counted = counted.with_pairs(2 * score, count)
        return counted


def expected_score(elo: float) -> float:
    """Return the expected score of a player who is stronger by `elo`, in logistic Elo."""
    return 1 / (1 + 10 ** (-elo / 400))


def block_score(places: Iterable[tuple[int, int]]) -> float:
    """Return the mean score of a block; `places` contains the places of A and B in each game."""
    scores = [0.5 * ((a < b) - (a > b)) + 0.5 for a, b in places]
    return sum(scores) / len(scores)


def llr(scores: Mapping[float, int], mean0: float, mean1: float) -> float:
    """Return the log-likelihood ratio of a mean score of `mean1` against `mean0`.

    `scores` counts the blocks by mean score. Losing or winning all points is always possible, so
    these outcomes get a small pseudo-count.
    """
    counts = {0.0: PSEUDOCOUNT, 1.0: PSEUDOCOUNT} | {score: float(n) for score, n in scores.items()}
    total = sum(counts.values())
    at0, at1 = _multiplier(counts, mean0), _multiplier(counts, mean1)
    ratio = sum(
        count * math.log((1 + at0 * (score - mean0)) / (1 + at1 * (score - mean1)))
        for score, count in counts.items()
    )
    return ratio * sum(scores.values()) / total


def _multiplier(counts: Mapping[float, float], mean: float) -> float:
    """Return t with ``sum(p * (a - mean) / (1 + t * (a - mean))) == 0``.

    The most likely distribution with this mean gives outcome `a` the probability ``p / (1 + t * (a
    - mean))``, where `p` is its observed frequency. The sum decreases in t between the two poles,
    so bisection finds its root.
    """
    low, high = -1 / (1 - mean), 1 / mean
    for _ in range(BISECTION_STEPS):
        middle = (low + high) / 2
        slope = sum(n * (a - mean) / (1 + middle * (a - mean)) for a, n in counts.items())
        low, high = (middle, high) if slope > 0 else (low, middle)
    return (low + high) / 2
