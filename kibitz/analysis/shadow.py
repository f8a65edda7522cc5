"""Asks a bot for its move at every turn of one seat of a running match, without playing it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from kibitz.analysis.seated_bot import begin
from kibitz.analysis.watched_match import WatchedMatch
from kibitz_bots.running.inprocess import answer_of
from kibitz_bots.sdk import Bot, Turn, parse_answer
from kibitz_protocol.client.events import MatchLost
from kibitz_protocol.wire.messages import Event, Finished, Snapshot
from kibitz_protocol.wire.records import Comment, Moved
from kibitz_protocol.wire.values import Fields


@dataclass
class ShadowAnswer:
    """The bot's move at one turn, and the one that was played."""

    ply: int
    answer: str
    """The bot's move in the game's notation, or why there is none."""
    comment: Comment
    legal: bool
    """Whether the bot's move was legal."""
    played: str | None = None
    """The move of the match, None if the turn ended without one."""

    @property
    def agrees(self) -> bool:
        """Whether both moves are the same."""
        return self.legal and self.answer == self.played


class Shadow:
    """Asks the bot at every turn and collects its `answers`."""

    def __init__(self, watched: WatchedMatch, bot: Bot, ms: int) -> None:
        self.answers: list[ShadowAnswer] = []
        """Every answer so far."""
        self._watched = watched
        self._bot = bot
        self._ms = ms
        begin(bot, watched.match)

    async def follow(
        self, snapshot: Snapshot, news: AsyncIterator[Any]
    ) -> AsyncIterator[ShadowAnswer]:
        """Yield each answer when its turn is over, until the match ends.

        `news` are the messages after the snapshot, which queue up while the bot thinks.
        """
        turn = await self._ask(snapshot.ply, snapshot.view, snapshot.to_act)
        if snapshot.result is not None:
            return
        async for message in news:
            if getattr(message, "match", None) != snapshot.match:
                continue
            if isinstance(message, Event):
                if turn is not None and message.entry.kind in ("move", "flag"):
                    yield self._ended(turn, message)
                    turn = None
                if message.view is not None:
                    turn = await self._ask(message.ply, message.view, message.to_act) or turn
            elif isinstance(message, Snapshot):
                turn = await self._ask(message.ply, message.view, message.to_act)
            elif isinstance(message, Finished | MatchLost):
                return

    async def _ask(self, ply: int, view: Fields, to_act: int) -> ShadowAnswer | None:
        if to_act != self._watched.seat:
            return None
        if self.answers and self.answers[-1].ply == ply:
            return self.answers[-1]
        turn = self._watched.turn(ply, view, self._ms)
        self.answers.append(await asyncio.to_thread(self._answer, turn))
        return self.answers[-1]

    def _answer(self, turn: Turn) -> ShadowAnswer:
        try:
            wire, comment = parse_answer(answer_of(self._bot, turn), turn)
            return ShadowAnswer(turn.ply, self._notation(turn, wire), comment or Comment(), True)
        except Exception as error:  # noqa: BLE001 - a bot may raise anything; the match continues
            reason = f"{type(error).__name__}: {error}"
            return ShadowAnswer(turn.ply, reason, Comment(), legal=False)

    def _notation(self, turn: Turn, wire: dict[str, Any]) -> str:
        game = self._watched.game
        action = game.decode(turn.state, game.Move.from_wire(wire))
        return turn.text(action)

    def _ended(self, turn: ShadowAnswer, message: Event) -> ShadowAnswer:
        entry = message.entry
        if isinstance(entry, Moved):
            game = self._watched.game
            turn.played = game.notation.format(game.Move.from_wire(entry.action))
        return turn
