"""Parsing of games, seats, spectators and delays from the command line.

Every function raises `ValueError` with the input and the expected form. The server validates game
options and answers with the path of a wrong one.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import click
from pydantic import BaseModel, ValidationError

from kibitz_arena.game_spec import Value, parse_pairs, parse_value
from kibitz_protocol.wire.clocks import TimeControl
from kibitz_protocol.wire.lobbies import HouseSeat, OpenSeat, ReservedSeat, SeatSpec
from kibitz_protocol.wire.records import Branch, Spectating

_SEAT_PATTERN = re.compile(r",(?=(?:\d+x)?(?:open(?:,|$)|house=)|name=)")

MAX_SEATS = 64
"""The maximum number of seats of a lobby in the protocol."""
MAX_MATCH_SEATS = 16
"""The maximum number of seats of a match."""


@dataclass(frozen=True)
class GameChoice:
    """A game and its options."""

    name: str
    options: dict[str, Value] = field(default_factory=dict)


def parse_game(text: str) -> GameChoice:
    """Parse ``NAME`` or ``NAME:KEY=VALUE,KEY=VALUE``."""
    name, _, rest = text.partition(":")
    if not name:
        raise ValueError(f"expected a game like NAME or NAME:size=3, not {text!r}")
    return choose_game(name, parse_options(rest.split(","), name) if rest else {})


def choose_game(name: str, options: dict[str, Value]) -> GameChoice:
    """Return a game with options, which are checked if the game is known here."""
    _require_options(name, options)
    return GameChoice(name, options)


def parse_options(pairs: Sequence[str], game: str) -> dict[str, Value]:
    """Parse ``KEY=VALUE`` pairs. Values are numbers, yes, no, words, or lists with plus signs.

    If `game` is known here, each value is parsed by the type of its option: ``2`` becomes a
    one-element list for a list option and a string for a string option. A value of the wrong type
    is sent to the server, whose error says what it expected.
    """
    model = _options_of(game)
    return {key: parse_value(model, key, text) for key, text in parse_pairs(pairs).items()}


def _require_options(game: str, options: Mapping[str, Value]) -> None:
    """Refuse unknown options and wrong values for a game known here."""
    model = _options_of(game)
    if model is None:
        return
    names = [field.alias or name for name, field in model.model_fields.items()]
    for key in options:
        if key not in names:
            known = ", ".join(names) or "none"
            raise ValueError(f"{game} has no option {key!r}; its options: {known}")
    try:
        model.model_validate(options)
    except ValidationError as error:
        raise ValueError(f"{game}: {error_message(error)}") from None


def _options_of(game: str) -> type[BaseModel] | None:
    """Return the model of a game's options, None if the game is unknown here."""
    from kibitz_games.compiled import mode
    from kibitz_games.core import registry

    mode.set_mode("plain")
    return registry.get(game).Options if registry.can_load(game) else None


def parse_seats(text: str) -> list[SeatSpec]:
    """Parse ``open,house=PERSONALITY,name=ada``; ``3xopen`` repeats a seat."""
    return [seat for part in _SEAT_PATTERN.split(text) for seat in _repeated(part, text)]


def _repeated(part: str, text: str) -> list[SeatSpec]:
    form = re.fullmatch(r"(\d+)x(open|house=.*)", part)
    if form is None:
        return [_parse_seat(part, text)]
    if not 1 <= int(form[1]) <= MAX_SEATS:
        raise ValueError(
            f"expected a seat repeated 1 to {MAX_SEATS} times, not {part!r} in {text!r}"
        )
    return [_parse_seat(form[2], text)] * int(form[1])


def _parse_seat(part: str, text: str) -> SeatSpec:
    kind, _, value = part.partition("=")
    if part == "open":
        return OpenSeat()
    if kind == "house" and value:
        return HouseSeat(personality=value)
    if kind == "name" and value:
        return ReservedSeat(name=value)
    raise ValueError(f"expected seats like open,house=GAME/BOT,name=ada, not {part!r} in {text!r}")


def parse_spectating(mode: str, delay: str | None, comments: str = "after") -> Spectating:
    """Parse ``off``, ``public``, ``referee`` or ``shoulder=SEAT``, and a delay: ``3`` or ``10s``.

    SEAT counts from 1. `comments` sets who sees comments on a running match, as in `Spectating`.
    """
    late: dict[str, Any] = _parse_delay(delay) if delay else {}
    late["comments"] = comments
    kind, _, seat = mode.partition("=")
    if kind == "shoulder" and seat.isdecimal() and 1 <= int(seat) <= MAX_MATCH_SEATS:
        return Spectating(mode="shoulder", seat=int(seat) - 1, **late)
    if mode not in {"off", "public", "referee"}:
        expected = f"off, public, referee or shoulder=SEAT with a seat from 1 to {MAX_MATCH_SEATS}"
        raise ValueError(f"expected spectators {expected}, not {mode!r}")
    return Spectating.model_validate({"mode": mode, **late})


def parse_branch(text: str) -> Branch:
    """Parse ``MATCH@PLY``."""
    match, _, ply = text.rpartition("@")
    if not match or not ply.isdecimal():
        raise ValueError(f"expected a match and a ply like abc-1-1@12, not {text!r}")
    return Branch(match=match, ply=int(ply))


def _parse_delay(text: str) -> dict[str, int]:
    form = re.fullmatch(r"(\d+(?:\.\d+)?)(s?)", text)
    if form is None or (not form[2] and "." in form[1]):
        raise ValueError(f"expected a delay in plies or seconds, like 3 or 10s, not {text!r}")
    if form[2]:
        return {"delay_ms": int(float(form[1]) * 1000)}
    return {"delay_plies": int(form[1])}


def param_type(read: Callable[[str], Any], name: str) -> Callable[[Any], Any]:
    """Return a click parameter type that parses with `read`; the help shows `name`."""

    def convert(value: Any) -> Any:
        if not isinstance(value, str):  # a default, already parsed
            return value
        try:
            return read(value)
        except ValueError as error:
            raise click.BadParameter(error_message(error)) from None

    convert.__name__ = name
    return convert


def error_message(error: ValueError, *, path: bool = False) -> str:
    """Return the message of an error, or of the first problem that a model found.

    With `path` it begins with the full path, for users who wrote the structure by hand. Otherwise
    it begins with the last name only, since the rest of the path is message structure.
    """
    details = getattr(error, "errors", None)
    if details is None:
        return str(error)
    first = details()[0]
    if path:
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}, not {first['input']!r}"
    names = [part for part in first["loc"] if isinstance(part, str)]
    what = names[-1].removesuffix("_ms").replace("_", " ") if names else "the value"
    if first["type"] == "extra_forbidden":
        return f"unknown option {what!r}"
    message = first["msg"].removeprefix("Value error, ").removeprefix("Input ")
    return f"{what}: {message}, not {reprlib.repr(first['input'])}"


GAME = param_type(parse_game, "game")
BRANCH = param_type(parse_branch, "match@ply")
SEATS = param_type(parse_seats, "seats")
TIME_CONTROL = param_type(TimeControl.parse, "tc")
