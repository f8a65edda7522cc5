"""The bot that asks a language model for its moves."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import Callable
from importlib.metadata import version

from kibitz_bots.llm import prompts
from kibitz_bots.llm.endpoint import (
    ChatEndpoint,
    EndpointError,
    EndpointRefusedError,
    Message,
    Reply,
)
from kibitz_bots.llm.reading import NoMoveError, find_move
from kibitz_bots.llm.settings import KEY_VARIABLE, Settings
from kibitz_bots.sdk import Answer, Bot, Match, Move, Turn, rng_for
from kibitz_protocol import printable
from kibitz_protocol.wire.records import Engine

LOG = logging.getLogger("kibitz.bots")
MOST_WORDS = 200
"""The maximum length of a comment in characters (`records.Comment.text`)."""
RESERVE = 0.1
"""The share of a move's time reserved for the fallback and network latency."""


class GaveUpError(Exception):
    """The model gave no move, and the fallback is to resign."""


class LanguageModelBot(Bot):
    """Plays a language model's answers, or the fallback's move if no legal one arrives in time.

    `endpoint` defaults to the one in the settings with the key from the environment; `house`
    creates the house bot for a spec.
    """

    def __init__(
        self,
        game: str,
        settings: Settings,
        house: Callable[[str], Bot],
        endpoint: ChatEndpoint | None = None,
    ) -> None:
        self.name = "llm"
        self.games = (game,)
        self.at_once = 16
        self.engine = _engine(game, settings)
        self._settings = settings
        self._endpoint = endpoint or ChatEndpoint(
            settings.url, settings.model, os.environ.get(KEY_VARIABLE) or None
        )
        wanted = settings.fallback
        self._house = None if wanted in {"random", "resign"} else house(f"{game}/{wanted}")
        self._system = ""
        self._tokens = 0
        """The tokens used in this match."""
        self._silent: str | None = None
        """Why the model is no longer used in this match; None while it is."""

    def on_match_start(self, match: Match) -> None:
        """Prepare the system message with the rules."""
        self._system = prompts.system_text(match)

    async def choose(self, turn: Turn) -> Answer:
        """Return the model's move, or the fallback's."""
        legal = _by_notation(turn)
        try:
            return await self._ask(turn, legal)
        except (EndpointError, NoMoveError) as error:
            if isinstance(error, EndpointRefusedError):
                self._silent = str(error)
                LOG.warning("match %s: no longer using the model: %s", turn.match.id, error)
            turn.comment(text=_comment(f"{self._settings.fallback} plays: {error}"))
            return await self._fall_back(turn, str(error))

    async def _ask(self, turn: Turn, legal: dict[str, Move]) -> Move:
        if self._silent is not None:
            raise EndpointError(self._silent)
        messages = [_message("system", self._system or prompts.system_text(turn.match))]
        question = prompts.turn_text(self._settings.prompt, turn, [*legal])
        messages.append(_message("user", question))
        game = turn.match.game_rules if turn.has_rules else None
        refused: NoMoveError | None = None
        for _ in range(self._settings.tries):
            try:
                reply = await self._reply(turn, messages)
            except EndpointError:
                if refused is not None:  # more informative than a timeout
                    raise refused from None
                raise
            try:
                move = find_move(reply.text, legal, game)
            except NoMoveError as error:
                refused = error
                messages.append(_message("assistant", reply.text))
                messages.append(_message("user", prompts.AGAIN.format(reason=error)))
                continue
            text = f"{reply.text.strip()} ({self._tokens} tokens so far, {reply.seconds:.1f} s)"
            turn.comment(text=_comment(text))
            return move
        assert refused is not None, "each attempt must return a move or a reason"
        raise refused

    async def _reply(self, turn: Turn, messages: list[Message]) -> Reply:
        most = self._settings.tokens
        if most and self._tokens >= most:
            raise EndpointRefusedError(f"the match has used up its limit of {most} tokens")
        seconds = self._seconds(turn)
        if seconds <= 0:
            raise EndpointError("no time is left for another request")
        reply = await self._endpoint.ask(messages, answer=self._settings.answer, seconds=seconds)
        self._tokens += reply.tokens
        return reply

    def _seconds(self, turn: Turn) -> float:
        """Return how many seconds the model may take for the next answer."""
        budget = turn.budget
        spent = budget.clock() - budget.arrived
        planned = self._settings.time if budget.flag_ms is None else budget.ms / 1000
        return min(self._settings.time, planned) * (1 - RESERVE) - spent

    async def _fall_back(self, turn: Turn, reason: str) -> Answer:
        if self._settings.fallback == "resign":
            raise GaveUpError(f"the model gave no move: {reason}")
        if self._house is None:
            return rng_for(turn, self._settings.seed).choice(turn.legal)
        move = await asyncio.to_thread(self._house.choose, turn)
        assert not hasattr(move, "__await__"), "house bots must choose synchronously"
        return move


def _engine(game: str, settings: Settings) -> Engine:
    """Return the engine description for records: model, prompt and limits, without secrets."""
    parameters = settings.model_dump(exclude={"url"})
    parameters["prompt_hash"] = prompts.prompt_hash(settings.prompt)
    return Engine(name=f"{game}/llm", version=f"kibitz {version('kibitz')}", parameters=parameters)


def _by_notation(turn: Turn) -> dict[str, Move]:
    """Return the legal moves by notation, or by their JSON if the rules are not installed."""

    if not turn.has_rules:
        return {json.dumps(move): move for move in turn.legal}
    game = turn.match.game_rules
    return {game.notation.format(game.Move.model_validate(move)): move for move in turn.legal}


def _message(role: str, content: str) -> Message:
    return {"role": role, "content": content}


def _comment(text: str) -> str:
    """Return a text as one line that fits a comment; cut the middle, since the end matters most."""
    line = printable.line(" ".join(text.split()))
    if len(line) <= MOST_WORDS:
        return line
    half = (MOST_WORDS - 1) // 2
    return f"{line[:half]}…{line[-half:]}"
