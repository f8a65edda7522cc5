"""Generate the reference page of the house bots, and a table for each game, from their catalog."""

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

This page lists the bots that come with kibitz, like `kibitz bot list`. A bot's full name is
`GAME/BOT`. Parameters follow the name after a colon, separated by commas:

```sh
kibitz play line-nim line-nim/solver:time=0.5 line-nim/mcts:time=0.5,seed=7
kibitz play chinese-checkers chinese-checkers/alphabeta:evaluation=race chinese-checkers/phases
```

A bot named after its algorithm, such as `chinese-checkers/alphabeta`, can use any evaluation of its
game. The table shows its default; `evaluation=` selects another. A bot whose name includes an
evaluation, such as `greedy-hand`, always uses that one.

The score is the bot's share of all points; a draw counts as half. It was measured against the named
bot, the strongest of its game, or otherwise in the named event. [Strength](../strength.md) has the
tables of these events, with intervals. [How the bots search](../explanation/search.md) explains the
algorithms, and [How the expert bots work](../explanation/experts.md) explains the bots that play
only one game."""
LEVELS = """## Levels

The web pages offer these levels for playing against the computer. `python -m benchmarks.levels
--write` plays 200 games of each level against the level below, in pairs with swapped seats, and
stores the scores; `--missing` plays only those that are missing. A level should score 60% to 80%.
Levels are limited by iterations, depth and a share of random moves, not by time, so they are
equally strong on every machine.
"""
NOTHING = "–"


def page(games: Mapping[str, Game], results: Mapping[str, CaseResult]) -> str:
    """Return the reference page, with each game's bots, their strength and their parameters."""
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

    The terminal shows this page too, so the table is narrow.
    """
    own = [bot for bot in PERSONALITIES.values() if bot.game == game]
    rows = [[f"`{bot.name}`", bot.summary, bot.algorithm or NOTHING] for bot in own]
    return between(text, BEGIN, END, table(("bot", "description", "algorithm"), rows))


def _bots(bots: Sequence[Personality], game: Game, scores: Mapping[str, str]) -> str:
    """Return the table of one game's bots."""
    return table(
        ("bot", "description", "algorithm", "evaluation", "seats", "score"),
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
    """Return the score of every bot from the event with the most opponents."""
    found: dict[str, str] = {}
    for kind in ("cross", "gauntlet"):  # scores from gauntlets replace those from cross-tables
        events = [each for each in results.items() if kind_of(each[1]) == kind]
        for name, result in sorted(events, key=lambda each: (len(each[1].players), each[0])):
            found.update(_scores_in(name, result, kind))
    return found


def _scores_in(name: str, result: CaseResult, kind: str) -> Iterator[tuple[str, str]]:
    """Yield the bots of an event with their scores; in a gauntlet, only the opponents."""
    first = challenger(result)
    where = f"against {first.name}" if kind == "gauntlet" else f"in `{name}`"
    for player in result.players:
        bot = _bot_of(player.what)
        if bot is not None and not (kind == "gauntlet" and player is first):
            yield bot, f"{formatting.percent(player.score, 1)} {where}"


def _bot_of(what: str) -> str | None:
    """Return the house bot that an entrant plays as, or None if its evaluation is not the bot's."""
    name, _, text = what.removeprefix("bot ").partition(":")
    if name not in PERSONALITIES:
        return None
    given = dict(part.split("=") for part in text.split(",") if part)
    evaluation = given.get("evaluation", PERSONALITIES[name].evaluation)
    if evaluation == PERSONALITIES[name].evaluation:
        return name
    return f"{name}-{evaluation}" if f"{name}-{evaluation}" in PERSONALITIES else None


def _evaluations(bots: Sequence[Personality]) -> Iterator[str]:
    """Yield the table of the selectable evaluations, if there are any."""
    choices = {
        name: choice.summary
        for bot in bots
        if isinstance(bot.build, EngineSpec)
        for name, choice in bot.build.choices.items()
    }
    if choices:
        rows = [[f"`{name}`", summary] for name, summary in choices.items()]
        yield table(("`evaluation=`", "description"), rows)


def _parameters(bots: Sequence[Personality]) -> Iterator[str]:
    """Yield the table of the parameters; identical parameters of several bots share a row."""
    users: dict[tuple[str, ...], list[str]] = {}
    for bot in bots:
        for parameter in bot.parameters:
            users.setdefault(_described(parameter), []).append(bot.short)
    if users:
        rows = [[*facts, _named(names, bots)] for facts, names in sorted(users.items())]
        yield table(("parameter", "value", "default", "meaning", "bots"), rows)


def _named(names: Sequence[str], bots: Sequence[Personality]) -> str:
    """Describe a set of bots briefly: "all", all bots with an algorithm, or one by one."""
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
