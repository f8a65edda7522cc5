"""Lists of the house bots, from their catalogue: a reference page, and a table for each game."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from benchmarks.strength.results import CaseResult
from docs.generate.markdown import between, table
from docs.generate.strength import challenger, kind_of
from kibitz.text import bot_catalog
from kibitz_arena.report import formatting
from kibitz_bots import levels
from kibitz_bots.catalog import PERSONALITIES, AnyParameter, Personality
from kibitz_bots.catalog.personality import EngineSpec
from kibitz_games.core.game import Game

BEGIN = "<!-- bots: `python -m docs.generate` writes what is between the marks -->"
END = "<!-- bots end -->"
HEAD = """# House bots

Every bot that comes with kibitz, from the catalogue that `kibitz bot list` prints. Its full name is
`GAME/BOT`. Parameters follow the name after a colon, separated by commas:

```sh
kibitz play line-nim line-nim/solver:time=0.5 line-nim/mcts:time=0.5,seed=7
kibitz play chinese-checkers chinese-checkers/alphabeta:evaluation=race chinese-checkers/phases
```

A bot that is called like its algorithm, such as `chinese-checkers/alphabeta`, judges positions by
any evaluation of its game: the table shows the one that it uses unless `evaluation=` chooses
another. A name with an evaluation, such as `greedy-hand`, is such a bot that always uses that one.

The score is the bot's share of all points, with a draw counting as half: against the strongest
bot of its game where each was measured against that one, or else in the event that is named.
[Strength](../strength.md) has the tables of these events, with intervals. [How the bots
search](../explanation/search.md) explains the algorithms, and [What the experts
know](../explanation/experts.md) the bots that know one game."""
LEVELS = """## Levels

The pages offer these levels to a person who plays against the computer. `python -m
benchmarks.levels --write` plays 200 games of each level against the one below, in pairs with the
seats swapped, and stores the scores. A level should score 60% to 80%. Where fewer games are named,
the score is a first measurement that may be far off.
"""
NOTHING = "–"


def page(games: Mapping[str, Game], results: Mapping[str, CaseResult]) -> str:
    """Return the reference page: for each game its bots, their strength and their parameters."""
    parts = [f"{HEAD}\n"]
    scores = _scores(results)
    for game, group in groupby(PERSONALITIES.values(), lambda bot: bot.game):
        bots = [*group]
        parts += [f"## {games[game].info.title}\n", _bots(bots, games[game], scores)]
        parts += [*_evaluations(bots), *_parameters(bots)]
    return "\n".join([*parts, LEVELS, _levels(games)])


def _levels(games: Mapping[str, Game]) -> str:
    """Return the table of the levels against people."""
    rows = [
        [
            games[game].info.title,
            str(seats),
            str(number),
            f"`{level.bot}`",
            NOTHING if level.score is None else formatting.percent(level.score, 1),
            str(level.games) if level.games else NOTHING,
            f"{level.commit} {level.date}".strip() or NOTHING,
        ]
        for game, by_seats in levels.table().games.items()
        for seats, ladder in by_seats.items()
        for number, level in enumerate(ladder, 1)
    ]
    head = ("game", "seats", "level", "bot", "score against the level below", "games", "measured")
    return table(head, rows)


def game_page(text: str, game: str) -> str:
    """Return the page of a game with the table of its bots; raises `NoMarkersError`.

    The page is also shown in the terminal, so the table is a narrow one.
    """
    own = [bot for bot in PERSONALITIES.values() if bot.game == game]
    rows = [[f"`{bot.name}`", bot.summary, bot.algorithm or NOTHING] for bot in own]
    return between(text, BEGIN, END, table(("bot", "what it does", "algorithm"), rows))


def _bots(bots: Sequence[Personality], game: Game, scores: Mapping[str, str]) -> str:
    """Return the table of one game's bots."""
    return table(
        ("bot", "what it does", "algorithm", "evaluation", "seats", "score"),
        [
            [
                f"`{bot.name}`",
                bot.summary,
                bot.algorithm or NOTHING,
                bot.evaluation or NOTHING,
                bot_catalog.spans(bot_catalog.seats(bot, game)),
                scores.get(bot.name, NOTHING),
            ]
            for bot in bots
        ],
    )


def _scores(results: Mapping[str, CaseResult]) -> dict[str, str]:
    """Return the score of every bot in the event that compares it with most others."""
    found: dict[str, str] = {}
    for kind in ("cross", "gauntlet"):  # a gauntlet's score takes the place of the other
        events = [each for each in results.items() if kind_of(each[1]) == kind]
        for name, result in sorted(events, key=lambda each: (len(each[1].players), each[0])):
            found.update(_scores_in(name, result, kind))
    return found


def _scores_in(name: str, result: CaseResult, kind: str) -> Iterator[tuple[str, str]]:
    """Yield the bots of an event with their scores; in a gauntlet, those of the opponents."""
    first = challenger(result)
    where = f"against {first.name}" if kind == "gauntlet" else f"in `{name}`"
    for player in result.players:
        bot = _bot_of(player.what)
        if bot is not None and not (kind == "gauntlet" and player is first):
            yield bot, f"{formatting.percent(player.score, 1)} {where}"


def _bot_of(what: str) -> str | None:
    """Return the name of the house bot that an entrant is, None for another evaluation."""
    name, _, text = what.removeprefix("bot ").partition(":")
    if name not in PERSONALITIES:
        return None
    given = dict(part.split("=") for part in text.split(",") if part)
    evaluation = given.get("evaluation", PERSONALITIES[name].evaluation)
    if evaluation == PERSONALITIES[name].evaluation:
        return name
    return f"{name}-{evaluation}" if f"{name}-{evaluation}" in PERSONALITIES else None


def _evaluations(bots: Sequence[Personality]) -> Iterator[str]:
    """Yield the table of the evaluations that can be chosen, if there are any."""
    choices = {
        name: choice.summary
        for bot in bots
        if isinstance(bot.build, EngineSpec)
        for name, choice in bot.build.choices.items()
    }
    if choices:
        rows = [[f"`{name}`", summary] for name, summary in choices.items()]
        yield table(("`evaluation=`", "how it judges"), rows)


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


def _described(parameter: AnyParameter) -> tuple[str, ...]:
    default = "none" if parameter.default is None else str(parameter.default)
    return (f"`{parameter.name}`", parameter.expected, default, parameter.summary)
