"""Intervals of means over a tournament's games, with its blocks as the independent units.

The games of a block share a seed and an opening with rotated seats, so counting them individually
would overstate or understate the evidence. The variance is therefore that of the blocks' totals
(W. G. Cochran, "Sampling Techniques", 1977, 9.2: cluster sampling). For a share, its ratio to the
variance of independent games (the *design effect*; L. Kish, "Survey Sampling", 1965) converts the
number of games to an effective number, for which Wilson's interval is computed; it stays within 0
to 1. A perfect score has no variance to estimate: then each block counts as one game.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple, TypeAlias

from kibitz_protocol.wire.shares import Z_95, share_interval

PRIOR_VARIANCE: Final = 2.0
"""The weight of the prior that the games of a block are all alike: the variance of 8 even games."""

Bounds: TypeAlias = tuple[float, float]


class BlockTotal(NamedTuple):
    """The sum of a value over the games of one block, and their number."""

    total: float
    games: int


def by_block(values: Iterable[tuple[str, float]]) -> list[BlockTotal]:
    """Return the totals of values that are given with the tag of their block."""
    blocks: dict[str, list[float]] = defaultdict(list)
    for block, value in values:
        blocks[block].append(value)
    return [BlockTotal(math.fsum(inside), len(inside)) for inside in blocks.values()]


def mean_of(blocks: Sequence[BlockTotal]) -> float:
    """Return the mean over all games; there must be at least one."""
    return math.fsum(block.total for block in blocks) / sum(block.games for block in blocks)


def share_bounds(blocks: Sequence[BlockTotal]) -> Bounds | None:
    """Return the 95% interval of a mean of values from 0 to 1; None without blocks."""
    if not blocks:
        return None
    games = sum(block.games for block in blocks)
    return share_interval(mean_of(blocks), games / _design_effect(blocks))


def mean_bounds(blocks: Sequence[BlockTotal]) -> Bounds | None:
    """Return the normal 95% interval of a mean of any values; None for fewer than two blocks."""
    if len(blocks) < 2:
        return None
    mean = mean_of(blocks)
    reach = Z_95 * math.sqrt(_variance(blocks, mean)) / sum(block.games for block in blocks)
    return mean - reach, mean + reach


def _design_effect(blocks: Sequence[BlockTotal]) -> float:
    """Return the ratio of the variance to that of independent games, at most a block's games."""
    largest = max(block.games for block in blocks)
    if len(blocks) == 1:
        return largest
    mean = mean_of(blocks)
    independent = mean * (1 - mean) * sum(block.games for block in blocks)
    variance = _variance(blocks, mean) + PRIOR_VARIANCE * largest
    return min(largest, variance / (independent + PRIOR_VARIANCE))


def _variance(blocks: Sequence[BlockTotal], mean: float) -> float:
    """Return the estimated variance of the sum over all blocks."""
    squares = math.fsum((block.total - block.games * mean) ** 2 for block in blocks)
    return squares * len(blocks) / (len(blocks) - 1)
