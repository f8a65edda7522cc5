"""A bot of this process at a seat of a match, asked without a server and without a clock."""

from __future__ import annotations

import asyncio
import inspect
import time
from dataclasses import replace
from typing import Any

from kibitz_bots.budget import Budget
from kibitz_bots.inprocess import awaited
from kibitz_bots.sdk import Bot, Match, Move, Turn, parse_answer
from kibitz_protocol.wire.clocks import TimeControl
from kibitz_protocol.wire.lobbies import ProgrammeItem
from kibitz_protocol.wire.records import Comment
from kibitz_server.match.state import MatchState
from kibitz_server.match.visibility import MatchViews


def prepare(bot: Bot, match: MatchState) -> None:
    """Let a bot compile or load what it needs for matches like this one; it plays none itself."""
    setup = match.setup
    item = ProgrammeItem(game=setup.game, options=setup.options, seats=len(setup.seats))
    bot.prepare([item])


class SeatedBot:
    """A bot that sits down at a match as after a restart: it hears of the match and then of turns.

    It is told what its seat sees, as a server would. `match_id` is the id that it is given: bots
    that draw by chance draw by that, so that the same id brings the same moves.
    """

    def __init__(self, bot: Bot, match: MatchState, seat: int, ms: int, match_id: str) -> None:
        told = Match.of(MatchViews(match).snapshot(seat, "rejoined", seat))
        self._match = replace(told, id=match_id, time_control=TimeControl())
        self._bot = bot
        self._ms = ms
        bot.on_match_start(self._match)

    def answer(self, match: MatchState) -> tuple[Move, Comment | None]:
        """Return the move of the bot in a match in which its seat is to act, and its comment.

        Whether the move is legal is left to the caller. Raises `BadAnswer` for what is no move,
        and whatever the bot raises.
        """
        turn = self._turn(match)
        answer: Any = self._bot.choose(turn)
        if inspect.isawaitable(answer):
            answer = asyncio.run(awaited(answer))
        return parse_answer(answer, turn)

    def _turn(self, match: MatchState) -> Turn:
        told = MatchViews(match).your_turn().model_copy(update={"clocks": None})
        return Turn.of(told, self._match, Budget(self._ms, None, time.monotonic()))
