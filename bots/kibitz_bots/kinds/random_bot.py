"""The random bots: one plays uniformly, the other with the weights of its game's random player."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kibitz_bots.sdk import Bot, Move, Turn, rng_for
from kibitz_protocol.wire.lobbies import ProgrammeItem

if TYPE_CHECKING:
    import numpy as np

    from kibitz_games.core.game import Game


class RandomBot(Bot):
    """Plays uniformly random legal moves in any game; a seed makes it repeatable."""

    name = "random"
    at_once = 64
    jit = False

    def __init__(self, seed: int | None = None) -> None:
        self.seed = seed

    def prepare(self, programme: Sequence[ProgrammeItem]) -> None:
        """Do nothing.

        Bots that define `prepare` are warmed up with the rules of a first turn. This bot needs them
        when the server does not list the moves.
        """

    def choose(self, turn: Turn) -> Move:
        """Return a random legal move."""
        seed = turn.match.id if self.seed is None else self.seed
        return rng_for(turn, seed).choice(turn.legal)


class WeightedRandomBot(RandomBot):
    """Plays random legal moves with the probabilities of the game's own random player.

    The game's operation `policy_weight` returns the weights; without it, all moves are equally
    likely. The rules are imported when the bot is warmed up or plays its first turn.
    """

    jit = True

    def prepare(self, programme: Sequence[ProgrammeItem]) -> None:
        """Compile or load the rules of the bot's games, including the weights of moves."""
        from kibitz_games.core import registry
        from kibitz_games.core.position import Position
        from kibitz_games.core.warmup import warm_up

        for name in self.games:
            game = registry.get(name)
            warm_up(game)
            _weighted_actions(game, Position(game).state)

    def choose(self, turn: Turn) -> Move:
        """Return a weighted random legal move."""
        weighted = _weighted_actions(turn.match.game_rules, turn.state)
        if weighted is None:
            return super().choose(turn)
        seed = turn.match.id if self.seed is None else self.seed
        return turn.move(rng_for(turn, seed).choices(*weighted)[0])


def _weighted_actions(game: Game, state: np.record) -> tuple[list[int], list[float]] | None:
    """Return the legal actions with their weights; None if the game has no weights."""
    from kibitz_games.compiled import operations as op

    if not op.offers(state.dtype, "policy_weight"):
        return None
    actions = game.legal(state)
    return actions, [float(op.policy_weight(state, action)) for action in actions]
