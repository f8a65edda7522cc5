"""The parts of which the default methods of `Game` are made."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from kibitz_games.core.codec import IntegerCodec

if TYPE_CHECKING:
    from kibitz_games.core.game import Game


class Defaults:
    """The parts for one game, each made when it is first used.

    Those with kernels are imported then too: a program settles the mode of its kernels before that.
    """

    def __init__(self, game: Game, *, plays: bool) -> None:
        self._game = game
        self.plays = plays
        """Whether the game leaves `play` and `to_act` to the operations."""

    @functools.cached_property
    def operations(self) -> Any:
        """The operations on states, `compiled.calls`."""
        from kibitz_games.compiled import calls

        return calls

    @functools.cached_property
    def codec(self) -> IntegerCodec[Any]:
        """The codec of a `Move` that is one integer."""
        return IntegerCodec(self._game.Move, self._game.action_names)

    @functools.cached_property
    def declared(self) -> Any:
        """The views that show fields of the state, a `DeclaredView`."""
        from kibitz_games.core.declared import DeclaredView

        game = self._game
        return DeclaredView(game.View, game.state_type, game.reasons, game.symbols)
