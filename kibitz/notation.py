"""What people type for games, seats, spectators and delays, read into the protocol's models.

Every function raises `ValueError` with what was typed and what was expected. What a game's
options may be is the server's to check: it answers with the option's path.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import click
from pydantic import BaseModel, ValidationError

from kibitz_protocol.clocks import TimeControl
from kibitz_protocol.records import Spectating
from kibitz_protocol.rooms import HouseSeat, OpenSeat, ReservedSeat, SeatSpec

_SEAT = re.compile(r",(?=(?:\d+x)?(?:open(?:,|$)|house=)|name=)")
_WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}

Reading: TypeAlias = bool | int | str | list[int | str]
"""A value of an option, as it travels."""
MOST_SEATS = 64
"""A lobby has no more, as the protocol has it."""


@dataclass(frozen=True)
class GameChoice:
    """A game and its options."""

    name: str
    options: dict[str, Reading] = field(default_factory=dict)


def game(text: str) -> GameChoice:
    """Read ``NAME`` or ``NAME:KEY=VALUE,KEY=VALUE``."""
    name, _, rest = text.partition(":")
    if not name:
        raise ValueError(f"expected a game like NAME or NAME:size=3, not {text!r}")
    return GameChoice(name, options(rest.split(","), name) if rest else {})


def options(pairs: Sequence[str], game: str) -> dict[str, Reading]:
    """Read ``KEY=VALUE`` pairs. Values are numbers, yes and no, words, or lists with a plus.

    Where `game` is known here a value is what the game takes: ``2`` is a list of one for an
    option that is a list, and a word for one that is a word. What it takes in no reading goes
    to the server as it looks, which says what it expected.
    """
    found: dict[str, Reading] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not (key and equals and value):
            raise ValueError(f"expected an option like size=3, not {pair!r}")
        if key in found:
            raise ValueError(f"option {key!r} is given twice")
        found[key] = _value(value, key, _options_of(game))
    return found


def _value(text: str, key: str, model: type[BaseModel] | None) -> Reading:
    """Return the first reading of a value that the option takes, else the likeliest."""
    readings = list(_readings(text))
    taken = (each for each in readings if model is not None and _takes(model, key, each))
    return next(taken, readings[0])


def _readings(text: str) -> Iterator[Reading]:
    """Yield what a value may be, the likeliest first."""
    parts = text.split("+")
    scalars = [_scalar(part) for part in parts]
    if len(parts) == 1:
        yield _WORDS.get(text, scalars[0])
        yield text
    if all(parts):
        yield scalars
        yield [*parts]
    yield text


def written(value: Any) -> str:
    """Write the value of an option as a person types it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return "+".join(map(str, value))
    return str(value)


def _scalar(text: str) -> int | str:
    return int(text) if re.fullmatch(r"-?\d+", text) else text


def _takes(model: type[BaseModel], key: str, value: Reading) -> bool:
    """Return whether the option itself takes a value; how options fit together is not asked."""
    try:
        model.model_validate({key: value})
    except ValidationError as error:
        return not any(each["loc"] for each in error.errors(include_url=False))
    except ValueError:
        pass
    return True


def _options_of(game: str) -> type[BaseModel] | None:
    """Return the model of a game's options, None where the game is not known here."""
    from kibitz_games import kernels, registry

    kernels.choose("plain")
    return registry.get(game).Options if game in registry.names() else None


def seats(text: str) -> list[SeatSpec]:
    """Read ``open,house=PERSONALITY,name=ada``; a number and an x repeat, as in ``3xopen``."""
    return [seat for part in _SEAT.split(text) for seat in _repeated(part, text)]


def _repeated(part: str, text: str) -> list[SeatSpec]:
    found = re.fullmatch(r"(\d+)x(open|house=.*)", part)
    if found is None:
        return [_seat(part, text)]
    if not 1 <= int(found[1]) <= MOST_SEATS:
        raise ValueError(f"expected 1 to {MOST_SEATS} times a seat, not {part!r} in {text!r}")
    return [_seat(found[2], text)] * int(found[1])


def _seat(part: str, text: str) -> SeatSpec:
    kind, _, value = part.partition("=")
    if part == "open":
        return OpenSeat()
    if kind == "house" and value:
        return HouseSeat(personality=value)
    if kind == "name" and value:
        return ReservedSeat(name=value)
    raise ValueError(f"expected seats like open,house=GAME/BOT,name=ada, not {part!r} in {text!r}")


def spectating(mode: str, delay: str | None) -> Spectating:
    """Read ``off``, ``public``, ``referee`` or ``shoulder=SEAT``, and a delay: ``3`` or ``10s``."""
    late = _delay(delay) if delay else {}
    kind, _, seat = mode.partition("=")
    if kind == "shoulder" and seat.isdecimal():
        return Spectating(mode="shoulder", seat=int(seat), **late)
    if mode not in {"off", "public", "referee"}:
        expected = "off, public, referee or shoulder=SEAT"
        raise ValueError(f"expected spectators {expected}, not {mode!r}")
    return Spectating.model_validate({"mode": mode, **late})


def _delay(text: str) -> dict[str, int]:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(s?)", text)
    if found is None or (not found[2] and "." in found[1]):
        raise ValueError(f"expected a delay in plies or seconds, like 3 or 10s, not {text!r}")
    if found[2]:
        return {"delay_ms": int(float(found[1]) * 1000)}
    return {"delay_plies": int(found[1])}


def typed(read: Callable[[str], Any]) -> Callable[[Any], Any]:
    """Return a type of a command line's parameter that `read` reads."""

    @functools.wraps(read)
    def convert(value: Any) -> Any:
        if not isinstance(value, str):  # a default that is read already
            return value
        try:
            return read(value)
        except ValueError as error:
            raise click.BadParameter(sentence(error)) from None

    return convert


def sentence(error: ValueError) -> str:
    """Return the sentence of an error, or the first complaint of a model."""
    details = getattr(error, "errors", None)
    if details is None:
        return str(error)
    first = details()[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}, not {first['input']!r}"


GAME = typed(game)
SEATS = typed(seats)
TIME_CONTROL = typed(TimeControl.parse)
