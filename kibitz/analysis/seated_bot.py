"""A bot in a seat of a match, called in this process without a server or a clock."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from kibitz_bots.budget import Budget, Overhead, plan
from kibitz_bots.running.inprocess import answer_of
from kibitz_bots.sdk import Bot, Match, Move, Turn, parse_answer
from kibitz_protocol.wire.clocks import TimeControl
from kibitz_protocol.wire.lobbies import ProgrammeItem
from kibitz_protocol.wire.records import Comment
from kibitz_server.match.state import MatchState
from kibitz_server.match.visibility import MatchViews


class BotFailedError(ValueError):
    """A bot crashed or did not answer with a legal move; the message is a sentence."""

    @classmethod
    def of(cls, when: str, error: Exception) -> BotFailedError:
        """Return the error for an exception of a bot."""
        return cls(f"the bot failed {when}: {type(error).__name__}: {error}")


def prepare(bot: Bot, match: MatchState) -> None:
    """Let a bot compile or load what it needs for matches like this one.

    Raises `BotFailedError`.
    """
    setup = match.setup
    prepare_for(bot, ProgrammeItem(game=setup.game, options=setup.options, seats=len(setup.seats)))


def prepare_for(bot: Bot, item: ProgrammeItem) -> None:
    """Let a bot prepare for matches of a programme item. Raises `BotFailedError`."""
    try:
        bot.prepare([item])
    except Exception as error:
        raise BotFailedError.of("during preparation", error) from error


def begin(bot: Bot, match: Match) -> None:
    """Notify a bot of the start of a match. Raises `BotFailedError`."""
    try:
        bot.on_match_start(match)
    except Exception as error:
        raise BotFailedError.of("at the start of the match", error) from error


class SeatedBot:
    """A bot that joins a match in progress: it gets the match first, then its turns.

    It sees only what its seat sees, as on a server. Random bots use `match_id` as their seed, so
    the same id gives the same moves. Each turn has `ms` milliseconds; with None, a budget from the
    match's clock. Raises `BotFailedError`.
    """

    def __init__(
        self, bot: Bot, match: MatchState, seat: int, ms: int | None, match_id: str
    ) -> None:
        seen = Match.of(MatchViews(match).snapshot(seat, "rejoined", seat))
        control = seen.time_control if ms is None else TimeControl()
        self._match = replace(seen, id=match_id, time_control=control)
        self._bot = bot
        self._ms = ms
        begin(bot, self._match)

    def answer(self, match: MatchState) -> tuple[Move, Comment | None]:
        """Return the bot's move and comment in a match where its seat is to act.

        The caller must check that the move is legal. Raises `BadAnswer` if the answer is not a
        move, and any error of the bot.
        """
        return parse_answer(*self.choose(match))

    def choose(self, match: MatchState) -> tuple[Any, Turn]:
        """Return the bot's answer and the turn that it was given."""
        turn = self._turn(match)
        return answer_of(self._bot, turn), turn

    def _turn(self, match: MatchState) -> Turn:
        request = MatchViews(match).your_turn()
        if self._ms is not None:
            budget = Budget(self._ms, None, time.monotonic())
            return Turn.of(request.model_copy(update={"clocks": None}), self._match, budget)
        own = request.clocks[request.seat] if request.clocks else None
        control, reading = self._match.time_control, time.monotonic
        budget = plan(control, own, request.left_ms, overhead=Overhead(), clock=reading)
        return Turn.of(request, self._match, budget)
