"""A table without a server: bots of this process, asked for one action after the other.

For learning environments and for tests. No clock runs here, nothing is written down, and a bot
that raises raises here.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable
from typing import Any, cast

from kibitz_bots.budget import Budget
from kibitz_bots.sdk import BadAnswer, Bot, Match, Turn, read
from kibitz_games.play import Play
from kibitz_protocol.records import Player

THINK_MS = 1000
"""How long a bot that looks at its budget may think when nothing is said."""


def match_of(play: Play, seat: int, name: str = "parlour") -> Match:
    """Return a match as the player in `seat` knows it, for a play of one's own."""
    assert play.options is not None
    assert play.seats is not None
    players = [Player(player=f"p{i}", name=f"seat {i}", kind="bot") for i in range(play.seats)]
    options = play.game.dump(play.options)
    game = play.game.info.name
    return Match(id=name, game=game, options=options, players=tuple(players), seat=seat)


def turn_of(play: Play, match: Match, think_ms: int = THINK_MS) -> Turn:
    """Return the present turn of a play as a server would announce it to `match.seat`."""
    game, state = play.game, play.state
    rule = game.info.legal_rule or None
    return Turn(
        match=match,
        ply=len(play.entries),
        view=game.dump(game.view(state, match.seat)),
        budget=Budget(think_ms, None, time.monotonic()),
        listed=None if rule else game.moves(state, game.legal(state)),
        rule=rule,
    )


def decide(bot: Bot, play: Play, match: Match, think_ms: int = THINK_MS) -> int:
    """Return the action that `bot` takes in the present turn of `play`, which is unchanged.

    Raises `BadAnswer` for what is no move, `IllegalAction` for a move that is not legal.
    """
    turn = turn_of(play, match, think_ms)
    answer: Any = bot.choose(turn)
    if inspect.isawaitable(answer):
        answer = asyncio.run(awaited(answer))
    return action_of(answer, play, turn)


def action_of(answer: object, play: Play, turn: Turn) -> int:
    """Return the action of an answer to the present turn of `play`; raises as `decide` does."""
    wire, _ = read(answer, turn)
    try:
        move = play.game.Move.read(wire)
    except ValueError as error:
        raise BadAnswer(f"not a move of {turn.game}: {wire!r}") from error
    return play.game.decode(play.state, move)


async def awaited(answer: Awaitable[Any]) -> Any:
    """Wait for an answer, as a coroutine of its own."""
    return cast("Any", await answer)
