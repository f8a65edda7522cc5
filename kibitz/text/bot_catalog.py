"""Texts about the house bots: a table of all bots, and an explanation of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

from kibitz.text import game_guide
from kibitz.text.layout import two_columns, wrap
from kibitz_bots.catalog import AnyParameter, Personality

if TYPE_CHECKING:
    from kibitz_games.core.game import Game

NONE = "-"
"""The text for a missing name."""
INDENT = "  "


def table(bots: Sequence[Personality], games: Mapping[str, Game], width: int) -> Iterator[str]:
    """Yield a line of at most `width` columns for each bot, grouped by game."""
    edge = max((len(bot.short) for bot in bots), default=0)
    for number, (game, group) in enumerate(groupby(bots, lambda bot: bot.game)):
        yield from [""] if number else []
        players = spans(games[game].info.seats)
        yield f"{game}, for {players}"
        for bot in group:
            only = f" (for {spans(bot.seats)})" if bot.seats else ""
            yield _clipped(f"{INDENT}{bot.short.ljust(edge)}  {bot.summary}{only}", width)


def _clipped(line: str, width: int) -> str:
    return line if len(line) <= width else f"{line[: width - 1].rstrip()}…"


def seats(bot: Personality, game: Game) -> tuple[int, ...]:
    """Return the numbers of seats that a bot supports."""
    return bot.seats or game.info.seats


def spans(numbers: Sequence[int]) -> str:
    """Format consecutive numbers as spans: ``2-4, 6``."""
    starts = [numbers[0], *(b for a, b in pairwise(numbers) if b != a + 1)]
    ends = [*(a for a, b in pairwise(numbers) if b != a + 1), numbers[-1]]
    both = zip(starts, ends, strict=True)
    return ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in both)


def lines(bot: Personality, game: Game, width: int) -> Iterator[str]:
    """Yield the explanation of one bot, wrapped at `width` columns."""
    yield from wrap(f"{bot.name}: {bot.summary}", width)
    yield ""
    yield from two_columns(_facts(bot, game), width)
    yield ""
    yield "Parameters" if bot.parameters else "No parameters"
    for parameter in bot.parameters:
        yield from wrap(
            f"{parameter.name}: {parameter.expected}; {default(parameter)}.", width, INDENT
        )
        yield from wrap(f"{parameter.summary}.", width, 2 * INDENT)
    yield ""
    yield "Example"
    yield INDENT + example(bot, game)


def _facts(bot: Personality, game: Game) -> list[tuple[str, str]]:
    return [
        ("seats", spans(seats(bot, game))),
        ("algorithm", bot.algorithm or NONE),
        ("evaluation", bot.evaluation or NONE),
    ]


def default(parameter: AnyParameter) -> str:
    """Describe the default of a parameter."""
    return "none by default" if parameter.default is None else f"{parameter.default} by default"


def example(bot: Personality, game: Game) -> str:
    """Return a command that plays the bot, with a parameter, against random players."""
    number = game_guide.seats_for(game, {}, seats(bot, game)) or game.info.seats[0]
    others = [f"{bot.game}/random"] * (number - 1)
    return " ".join(["kibitz play", bot.game, spec(bot), *others])


def spec(bot: Personality) -> str:
    """Return the bot's name as typed, with a parameter if it has one."""
    if not bot.parameters:
        return bot.name
    knob = (
        [parameter for parameter in bot.parameters if parameter.example is not None]
        or bot.parameters
    )[-1]
    value = knob.default if knob.example is None else knob.example
    return f"{bot.name}:{knob.name}={value}"


def summary_json(bot: Personality, game: Game) -> dict[str, Any]:
    """Return the JSON summary of a bot."""
    return {
        "name": bot.name,
        "game": bot.game,
        "seats": list(seats(bot, game)),
        "algorithm": bot.algorithm or None,
        "evaluation": bot.evaluation or None,
        "summary": bot.summary,
        "parameters": [parameter.fields() for parameter in bot.parameters],
    }


def details_json(bot: Personality, game: Game) -> dict[str, Any]:
    """Return the full JSON description of a bot."""
    return summary_json(bot, game) | {"example": example(bot, game)}
