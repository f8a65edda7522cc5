"""An explanation of one game with everything needed to host it.

Everything is derived from the game's own metadata and models; the example commands are validated by
the game.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kibitz.options import notation
from kibitz.text.layout import two_columns, wrap
from kibitz.text.schema_text import Schema, describe, either
from kibitz.text.schema_text import kinds as alternatives
from kibitz_arena.report.formatting import option_value
from kibitz_games.core import rulebook
from kibitz_games.core.game import Game, GameError, GameInfo, TimeoutPolicy
from kibitz_games.core.position import Position

if TYPE_CHECKING:
    from kibitz_bots.catalog import Personality

INDENT = "  "

TIME_OUT: dict[TimeoutPolicy, str] = {
    "forfeit": "A player who runs out of time drops out of the match.",
    "random": "If a player runs out of time, the server plays a legal move drawn from the seed, and"
    " the match continues.",
    "skip": "A player who runs out of time loses that turn, and the match continues.",
}
HIDDEN = {
    True: "Hidden information: every player has their own view, and spectators of a live"
    " match see what the host allows. After the match everything is revealed.",
    False: "Nothing is hidden: everybody sees the same.",
}
BLOCK_NOTES = {
    True: "In blocks: the same players play from the same start until each has had every seat."
    " Without --games a programme plays one block.",
    False: "In single matches with rotating seats. Without --games a programme plays one.",
}


@dataclass(frozen=True)
class Option:
    """An option as users read and type it."""

    name: str
    takes: str
    """``a whole number from 1 to 9``."""
    default: str
    """``4 by default``."""
    summary: str
    example: str | None
    """``size=3``; None if no value was found that the game accepts."""


def describe_game(game: Game, bots: Sequence[Personality], width: int) -> Iterator[str]:
    """Yield the explanation, wrapped at `width` columns."""
    info, own = game.info, [bot for bot in bots if bot.name.startswith(f"{game.info.name}/")]
    chosen = list(options(game))
    yield from wrap(f"{info.title} ({info.name})", width)
    yield from wrap(info.summary, width)
    yield ""
    yield from two_columns(_facts(info), width)
    yield ""
    yield "Options follow the name, for example"
    yield INDENT + _host_line(game, chosen, own)
    for option in chosen:
        yield ""
        yield from wrap(f"{option.name}: {option.takes}; {option.default}.", width, INDENT)
        yield from wrap(option.summary, width, 2 * INDENT)
        if option.example is not None:
            yield f"{2 * INDENT}{info.name}:{option.example}"
    yield ""
    yield from _move(game, width)
    yield ""
    yield "House bots"
    yield from two_columns([(bot.name, _introduced(bot)) for bot in own], width, INDENT)


def options(game: Game) -> Iterator[Option]:
    """Yield the options of a game."""
    schema = game.Options.model_json_schema(by_alias=True)
    for name, field in schema["properties"].items():
        kinds = alternatives(field, schema.get("$defs", {}))
        yield Option(
            name=name,
            takes=describe(kinds),
            default=_default(field.get("default")),
            summary=field.get("description", ""),
            example=_example(game, name, field, kinds),
        )


def seats_for(
    game: Game, chosen: Mapping[str, Any], offered: Sequence[int] | None = None
) -> int | None:
    """Return the smallest number of players for these options, None if there is none.

    `offered` lists the numbers to consider; by default all that the game supports.
    """
    try:
        model = game.Options.from_wire(chosen)
    except ValueError:
        return None
    for seats in offered or game.info.seats:
        try:
            game.start(model, seats, game.deal(model, seats, 0))
        except GameError:
            continue
        return seats
    return None


# -------------------------------------------------------------------------------------- options


def _default(value: Any) -> str:
    if value is None:
        return "the game chooses by default"
    if isinstance(value, list) and not value:
        return "none by default"
    return f"{option_value(value)} by default"


def _example(game: Game, name: str, field: Schema, kinds: Sequence[Schema]) -> str | None:
    """Return an option as typed, with a value that the game accepts."""
    default = field.get("default")
    tried = [*field.get("examples", ()), *(v for kind in kinds for v in _values(kind))]
    for value in [*(value for value in tried if value != default), default]:
        if value in (None, []):
            continue
        typed = f"{name}={option_value(value)}"
        if seats_for(game, notation.parse_options([typed], game.info.name)) is not None:
            return typed
    return None


def _values(schema: Schema) -> Iterable[Any]:
    """Return values to try, for options without examples in their model."""
    if schema.get("type") == "boolean":
        return (False, True)
    values: Iterable[Any] = schema.get("enum", (schema.get("minimum"), schema.get("maximum")))
    return values


# ---------------------------------------------------------------------------------------- lines


def _facts(info: GameInfo) -> list[tuple[str, str]]:
    facts = [
        ("players", either([str(number) for number in info.seats])),
        ("visible", HIDDEN[info.hidden]),
        ("time-out", TIME_OUT[info.on_flag]),
        ("played", BLOCK_NOTES[info.balanced]),
        ("length", f"At most {info.max_plies} plies."),
    ]
    if (page := rulebook.path(info.name)) is not None:
        facts.append(("rules", _shortest(page)))
    if info.legal_rule:
        facts.insert(
            4,
            (
                "legal",
                f"{info.legal_rule}. Turns state this rule and the number of legal actions,"
                " not the list.",
            ),
        )
    return facts


def _shortest(path: Path) -> str:
    """Return the path of a file, relative if it is below the current directory."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def _host_line(game: Game, chosen: Sequence[Option], bots: Sequence[Personality]) -> str:
    """Return a working command with up to two options, an open seat, and house bots."""
    picked: list[str] = []
    for option in chosen:
        trial = [*picked, option.example] if option.example else picked
        if (
            len(trial) <= 2
            and seats_for(game, notation.parse_options(trial, game.info.name)) is not None
        ):
            picked = trial
    seats = seats_for(game, notation.parse_options(picked, game.info.name)) or game.info.seats[0]
    typed = f"{game.info.name}:{','.join(picked)}" if picked else game.info.name
    others = "" if seats == 2 else f"{seats - 1}x"
    filled = f"open,{others}house={bots[-1].name}" if bots else f"{seats}xopen"
    return f"kibitz host {typed} --seats {filled}"


def _move(game: Game, width: int) -> Iterator[str]:
    play = Position(game)
    count, first = game.count_legal(play.state), next(islice(play.legal, 1))
    move = game.encode(play.state, first)
    yield f"A move (the first of {count} at the start)"
    rows = [("on the wire", json.dumps(move.to_wire())), ("as text", game.notation.format(move))]
    yield from two_columns(rows, width, INDENT)


def _introduced(bot: Personality) -> str:
    knobs = ", ".join(parameter.name for parameter in bot.parameters)
    return f"{bot.summary} ({knobs})" if knobs else bot.summary
