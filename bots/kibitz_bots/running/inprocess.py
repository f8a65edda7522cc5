"""Run bots in this process without a server: single actions or whole matches.

For learning environments, tests and trying out bots. There are no clocks and no records, and a
bot's exceptions propagate to the caller.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

from pydantic import ValidationError

from kibitz_bots.budget import Budget, CountingClock
from kibitz_bots.loading import factory_of
from kibitz_bots.sdk import BadAnswer, Bot, Match, Turn, legal_moves, parse_answer
from kibitz_bots.spec import BotFactory
from kibitz_games.core import registry
from kibitz_games.core.game import TERMINAL, Game, InvalidSetup, Model
from kibitz_games.core.position import Position
from kibitz_protocol.wire.lobbies import ProgrammeItem
from kibitz_protocol.wire.records import Cause, Player, Result, SeatResult

THINK_MS = 1000
"""The default budget per turn in milliseconds."""


def local_match(play: Position, seat: int, name: str = "local") -> Match:
    """Return a match with the id `name` from the perspective of `seat`."""
    assert play.options is not None
    assert play.seats is not None
    players = [Player(player=f"p{i}", name=f"seat {i + 1}", kind="bot") for i in range(play.seats)]
    options = play.options.to_wire()
    game = play.game.info.name
    return Match(id=name, game=game, options=options, players=tuple(players), seat=seat)


def local_turn(play: Position, match: Match, think_ms: int = THINK_MS, *, nodes: int = 0) -> Turn:
    """Return the current turn of `play` as a server would announce it to `match.seat`.

    With `nodes` the budget is a number of positions instead of time, and its clock advances by a
    fixed step at each reading.
    """
    game, state = play.game, play.state
    budget = Budget(think_ms, None, time.monotonic())
    if nodes:
        clock = CountingClock(THINK_MS / 1000 / nodes)
        budget = Budget(THINK_MS, None, clock.now, clock, nodes)
    rule = game.info.legal_rule or None
    return Turn(
        match=match,
        ply=len(play.history),
        observation=game.view(state, match.seat).to_wire(),
        budget=budget,
        listed=None if rule else legal_moves(game, state),
        rule=rule,
    )


def choose_action(bot: Bot, play: Position, match: Match, think_ms: int = THINK_MS) -> int:
    """Return the action that `bot` takes in the current turn of `play`; `play` is unchanged.

    `think_ms` is the turn's budget, which is not enforced. An ``async`` `choose` is run to
    completion here, so no event loop may be running in this thread. Raises `BadAnswer` if the
    answer is not a move, `IllegalAction` if the move is not legal.
    """
    return chosen_action(bot, play, local_turn(play, match, think_ms))


def chosen_action(bot: Bot, play: Position, turn: Turn) -> int:
    """Return the action that `bot` takes in `turn`, the current one of `play`."""
    return action_from(answer_of(bot, turn), play, turn)


def action_from(answer: object, play: Position, turn: Turn) -> int:
    """Convert a bot's answer to the current turn of `play` into an action.

    Raises `BadAnswer` if the answer is not a move, `IllegalAction` if the move is not legal.
    """
    wire, _ = parse_answer(answer, turn)
    try:
        move = play.game.Move.from_wire(wire)
    except ValueError as error:
        raise BadAnswer(f"not a move of {turn.game}: {wire!r}") from error
    return play.game.decode(play.state, move)


def answer_of(bot: Bot, turn: Turn) -> Any:
    """Return a bot's answer; an ``async`` `choose` is run to completion in this thread."""
    answer: Any = bot.choose(turn)
    return asyncio.run(_awaited(answer)) if inspect.isawaitable(answer) else answer


async def _awaited(answer: Awaitable[Any]) -> Any:
    """Await an answer; a coroutine is required by `asyncio.run`."""
    return cast("Any", await answer)


def play_locally(
    game: str,
    *bots: str | Bot | BotFactory | Callable[..., Any],
    options: Mapping[str, Any] | None = None,
    seed: int = 0,
    think_ms: int = THINK_MS,
    on_move: Callable[[Position], object] | None = None,
) -> Position:
    """Play one match in this process, without a server, and return the final position.

    `bots` has one entry per seat, in seat order: a bot class, a function that creates a bot, a bot,
    a function ``agent(observation)``, or a spec such as ``"tanks/random"`` or ``"mybot.py"``.
    `options` override the game's defaults; `seed` determines a random start, such as a deal.
    `think_ms` is the budget of every turn, which is not enforced. `on_move` is called with the
    position after every move and must not change it.

    The returned position has the result as ``.outcome`` and the moves as ``.history``. Raises
    `GameError` for an unknown game, unsupported options or a wrong number of bots, `SpecError` for
    an unknown bot, `BadAnswer` or `IllegalAction` for a bot's answer that is not a legal move, and
    any exception of a bot. ::

        end = kibitz.play_locally("number-merge", First, "number-merge/random", seed=7)
        print(end.outcome.scores)
    """
    rules = registry.get(game)
    chosen = _options(rules, options)
    position = Position(rules, chosen, len(bots), seed)
    seated = [_made(bot) for bot in bots]
    matches = [local_match(position, seat) for seat in range(len(bots))]
    item = ProgrammeItem(game=game, options=chosen.to_wire(), seats=len(bots))
    for bot, match in zip(seated, matches, strict=True):
        bot.prepare([item])
        bot.on_match_start(match)
    while (seat := position.to_act) != TERMINAL:
        position.push(choose_action(seated[seat], position, matches[seat], think_ms))
        if on_move is not None:
            on_move(position)
    result = result_of(position)
    for bot, match in zip(seated, matches, strict=True):
        bot.on_match_end(match, result)
    return position


def _options(rules: Game, options: Mapping[str, Any] | None) -> Model:
    try:
        chosen: Model = rules.Options.model_validate(dict(options or {}))
        return chosen
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        path = ".".join(["options", *map(str, first["loc"])])
        raise InvalidSetup(path, first["msg"]) from None


def _made(bot: str | Bot | BotFactory | Callable[..., Any]) -> Bot:
    return bot if isinstance(bot, Bot) else factory_of(bot)()


def result_of(position: Position) -> Result:
    """Return the result of a finished game as a server would send it."""
    outcome = position.outcome
    assert outcome is not None, "if no seat is to act, the game must be over"
    seats = [
        SeatResult(rank=rank, score=score)
        for rank, score in zip(outcome.ranks, outcome.scores, strict=True)
    ]
    plies = len(position.history)
    return Result(seats=seats, cause=Cause.RULES, reason=outcome.reason, plies=plies)
