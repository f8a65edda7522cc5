"""Intervals of what was counted."""

from __future__ import annotations

Z = 1.959964
"""95% of a normal distribution lie within so many deviations."""


def wilson(wins: float, games: int) -> tuple[float, float]:
    """Return the 95% interval of a share (E. B. Wilson, 1927)."""
    share = wins / games
    middle = share + Z * Z / (2 * games)
    half: float = Z * (share * (1 - share) / games + Z * Z / (4 * games * games)) ** 0.5
    scale = 1 + Z * Z / games
    return (middle - half) / scale, (middle + half) / scale
