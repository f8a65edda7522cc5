"""The random bots: one plays any move, the other draws moves as its game's random player does."""

from __future__ import annotations

from collections.abc import Sequence

from kibitz_bots.sdk import Bot, Move, Turn, rng_for
from kibitz_protocol.wire.lobbies import ProgrammeItem


class RandomBot(Bot):
    """Plays a random legal move, in every game; a seed makes it repeatable."""

    name = "random"
    at_once = 64
    jit = False

    def __init__(self, seed: int | None = None) -> None:
        self.seed = seed

    def prepare(self, programme: Sequence[ProgrammeItem]) -> None:
        """Build a first turn in advance: if the server lists no moves, the rules do it."""

    def choose(self, turn: Turn) -> Move:
        """Return any legal move."""
        seed = turn.match.id if self.seed is None else self.seed
        return rng_for(turn, seed).choice(turn.legal)


class WeightedRandomBot(RandomBot):
    """Plays a random legal move, each as likely as its game's own random player would play it.

    The operation `policy_weight` of a game returns these weights; without it, all moves are equally
    likely. The rules are imported when the bot is warmed or plays its first turn.
    """

    jit = True

    def prepare(self, programme: Sequence[ProgrammeItem]) -> None:
        """Compile or load the rules of the bot's games."""
        from kibitz_games.core import registry
        from kibitz_games.core.warmup import warm_up

        for name in self.games:
            warm_up(registry.get(name))

    def choose(self, turn: Turn) -> Move:
        """Return a legal move, drawn by weight."""
        from kibitz_games.compiled import operations as op

        state = turn.state
        if not op.offers(state.dtype, "policy_weight"):
            return super().choose(turn)
        actions = turn.match.game_rules.legal(state)
        weights = [float(op.policy_weight(state, action)) for action in actions]
        seed = turn.match.id if self.seed is None else self.seed
        return turn.move(rng_for(turn, seed).choices(actions, weights)[0])
