"""Lists of the house bots, from their catalogue: a reference page, and a table for each game."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from docs.generate.markdown import between, table
from kibitz import bot_catalog
from kibitz_bots.catalog import PERSONALITIES, Parameter, Personality
from kibitz_games.core.game import Game

BEGIN = "<!-- bots: `python -m docs.generate` writes what is between the marks -->"
END = "<!-- bots end -->"
HEAD = """# House bots

Every bot that comes with kibitz, from the catalogue that `kibitz bots` prints. Its full name is
`GAME/BOT`. [How the bots search](../explanation/search.md) explains the algorithms, [What the
experts know](../explanation/experts.md) the bots that know one game, and [Use the house
bots](../how-to/house-bots.md) how parameters are given."""
NOTHING = "–"


def page(games: Mapping[str, Game]) -> str:
    """Return the reference page: for each game its bots, and their parameters."""
    parts = [f"{HEAD}\n"]
    for game, group in groupby(PERSONALITIES.values(), lambda bot: bot.game):
        bots = [*group]
        parts += [f"## {games[game].info.title}\n", _bots(bots, games[game])]
        parts += [*_parameters(bots)]
    return "\n".join(parts)


def game_page(text: str, game: str) -> str:
    """Return the page of a game with the table of its bots; raises `NoMarkersError`.

    The page is also shown in the terminal, so the table is a narrow one.
    """
    own = [bot for bot in PERSONALITIES.values() if bot.game == game]
    rows = [[f"`{bot.name}`", bot.summary, bot.algorithm or NOTHING] for bot in own]
    return between(text, BEGIN, END, table(("bot", "what it does", "algorithm"), rows))


def _bots(bots: Sequence[Personality], game: Game) -> str:
    """Return the table of one game's bots."""
    return table(
        ("bot", "what it does", "algorithm", "evaluation", "seats"),
        [
            [
                f"`{bot.name}`",
                bot.summary,
                bot.algorithm or NOTHING,
                bot.evaluation or NOTHING,
                bot_catalog.spans(bot_catalog.seats(bot, game)),
            ]
            for bot in bots
        ],
    )


def _parameters(bots: Sequence[Personality]) -> Iterator[str]:
    """Yield the table of the parameters, equal ones of several bots in one row."""
    users: dict[tuple[str, ...], list[str]] = {}
    for bot in bots:
        for parameter in bot.parameters:
            users.setdefault(_described(parameter), []).append(bot.short)
    if users:
        rows = [[*facts, _named(names, bots)] for facts, names in sorted(users.items())]
        yield table(("parameter", "value", "default", "what it sets", "bots"), rows)


def _named(names: Sequence[str], bots: Sequence[Personality]) -> str:
    """Name bots in few words: all, all of an algorithm, or one by one."""
    if len(names) == len(bots):
        return "all"
    words: dict[str, None] = {}
    for bot in bots:
        alike = [each.short for each in bots if each.algorithm == bot.algorithm]
        whole = len(alike) > 1 and bot.algorithm and set(alike) <= set(names)
        if bot.short in names:
            words[f"every {bot.algorithm}" if whole else bot.short] = None
    return ", ".join(words)


def _described(parameter: Parameter) -> tuple[str, ...]:
    default = "none" if parameter.default is None else str(parameter.default)
    return (f"`{parameter.name}`", parameter.expected, default, parameter.summary)
