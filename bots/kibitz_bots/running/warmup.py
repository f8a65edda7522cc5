"""Warm up a bot: its search, and the rules' kernels and models for a first turn.

On its turn, a search bot reads the state from its view, lists the legal moves, and encodes the one
that it chooses. The first turn would also load the machine code for these steps. The warm-up does
so before a clock runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kibitz_bots.sdk import Bot
from kibitz_games.core import registry
from kibitz_protocol.wire.lobbies import ProgrammeItem

if TYPE_CHECKING:
    from kibitz_games.core.game import Game


def warm_up(bot: Bot, programme: Sequence[ProgrammeItem]) -> None:
    """Call the bot's `prepare`; if it defines one, also run the rules' part of a first turn."""
    bot.prepare(programme)
    if type(bot).prepare is not Bot.prepare:
        exercise_rules(programme, bot.games)


def exercise_rules(programme: Sequence[ProgrammeItem], games: Sequence[str]) -> None:
    """Run the steps of a first turn once for every installed game of `programme`.

    `games` are the bot's games; all if empty.
    """
    for item in programme:
        if registry.can_load(item.game) and (not games or item.game in games):
            _exercise(registry.get(item.game), item)


def _exercise(game: Game, item: ProgrammeItem) -> None:
    options = game.Options.model_validate(item.options)
    start = game.start(options, item.seats, game.deal(options, item.seats, 0))
    seat = game.to_act(start)
    if not 0 <= seat < item.seats:
        return
    seen = game.view(start, seat).to_wire()
    state = game.sample(game.View.model_validate(seen), 0)
    for action in game.legal(state)[:1]:
        move = game.encode(state, action)
        game.notation.format(move)
        game.decode(state, move)
