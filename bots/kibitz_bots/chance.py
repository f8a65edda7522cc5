"""The bot that plays anything, in every game."""

from __future__ import annotations

from kibitz_bots.sdk import Bot, Move, Turn, seed_of


class RandomBot(Bot):
    """Plays a random legal move; a seed makes it repeatable."""

    name = "random"
    at_once = 64

    def __init__(self, seed: int | None = None) -> None:
        self.seed = seed

    def choose(self, turn: Turn) -> Move:
        """Return any legal move."""
        seed = turn.match.id if self.seed is None else self.seed
        return seed_of(turn, seed).choice(turn.legal)
