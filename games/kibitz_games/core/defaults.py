"""The components behind the default methods of `Game`."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from kibitz_games.core.codec import IntegerCodec

if TYPE_CHECKING:
    from kibitz_games.core.game import Game


class Defaults:
    """The components for one game, each created on first use.

    Modules with kernels are also imported only then, so that a program can choose its kernel mode
    first.
    """

    def __init__(self, game: Game) -> None:
        self._game = game

    @functools.cached_property
    def operations(self) -> Any:
        """The operations on states (`compiled.calls`)."""
        from kibitz_games.compiled import calls

        return calls

    @functools.cached_property
    def codec(self) -> IntegerCodec[Any]:
        """The codec for a `Move` that is one integer."""
        return IntegerCodec(self._game.Move, self._game.action_names)

    @functools.cached_property
    def declared(self) -> Any:
        """The converter between states and views that copy their fields."""
        from kibitz_games.core.declared import DeclaredView

        game = self._game
        return DeclaredView(game.View, game.state_type, game.reasons, game.symbols)
