"""The bots that leave it to chance: one plays anything, the other what its game calls random."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from kibitz_bots.sdk import Bot, Move, Turn, seed_of
from kibitz_protocol.rooms import ProgrammeItem


class RandomBot(Bot):
    """Plays a random legal move, in every game; a seed makes it repeatable."""

    name = "random"
    at_once = 64
    rules: Literal["compiled", "plain"] = "plain"

    def __init__(self, seed: int | None = None) -> None:
        self.seed = seed

    def warm(self, programme: Sequence[ProgrammeItem]) -> None:
        """Ask for a first turn beforehand: where the server lists no moves, the rules do it."""

    def choose(self, turn: Turn) -> Move:
        """Return any legal move."""
        seed = turn.match.id if self.seed is None else self.seed
        return seed_of(turn, seed).choice(turn.legal)


class LikelyBot(RandomBot):
    """Plays a random legal move, each as likely as its game's own random player would play it.

    A game says how likely by the operation `weigh`; where it says nothing, all moves are equally
    likely. The rules are imported when the bot is warmed or plays its first turn.
    """

    rules = "compiled"

    def warm(self, programme: Sequence[ProgrammeItem]) -> None:
        """Compile or load the rules of the bot's games."""
        from kibitz_games import kernels, registry

        for name in self.games:
            kernels.warm(registry.get(name))

    def choose(self, turn: Turn) -> Move:
        """Return a legal move, drawn by weight."""
        from kibitz_games import operations as op

        state = turn.state
        if not op.offers(state.dtype, "weigh"):
            return super().choose(turn)
        actions = turn.match.rules.legal(state)
        weights = [float(op.weigh(state, action)) for action in actions]
        seed = turn.match.id if self.seed is None else self.seed
        return turn.move(seed_of(turn, seed).choices(actions, weights)[0])
