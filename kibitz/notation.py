"""What people type for games, seats, spectators and delays, read into the protocol's models.

Every function raises `ValueError` with what was typed and what was expected. What a game's
options may be is the server's to check: it answers with the option's path.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import click

from kibitz_protocol.clocks import TimeControl
from kibitz_protocol.records import Spectating
from kibitz_protocol.rooms import HouseSeat, OpenSeat, ReservedSeat, SeatSpec

_SEAT = re.compile(r",(?=open(?:,|$)|house=|name=)")
_WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


@dataclass(frozen=True)
class GameChoice:
    """A game and its options."""

    name: str
    options: dict[str, Any] = field(default_factory=dict)


def game(text: str) -> GameChoice:
    """Read ``NAME`` or ``NAME:KEY=VALUE,KEY=VALUE``."""
    name, _, rest = text.partition(":")
    if not name:
        raise ValueError(f"expected a game like NAME or NAME:size=3, not {text!r}")
    return GameChoice(name, options(rest.split(",")) if rest else {})


def options(pairs: list[str] | tuple[str, ...]) -> dict[str, Any]:
    """Read ``KEY=VALUE`` pairs. Values are numbers, yes and no, words, or numbers with a plus."""
    found: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not (key and equals and value):
            raise ValueError(f"expected an option like size=3, not {pair!r}")
        if key in found:
            raise ValueError(f"option {key!r} is given twice")
        found[key] = _value(value)
    return found


def _value(text: str) -> bool | int | str | list[int]:
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    if re.fullmatch(r"\d+(\+\d+)+", text):
        return [int(part) for part in text.split("+")]
    return _WORDS.get(text, text)


def seats(text: str) -> list[SeatSpec]:
    """Read ``open,house=PERSONALITY,name=ada``; a number and an x repeat, as in ``3xopen``."""
    parts = re.sub(r"(\d+)xopen", lambda found: _repeat("open", int(found[1])), text)
    return [_seat(part, text) for part in _SEAT.split(parts)]


def _repeat(word: str, times: int) -> str:
    return ",".join([word] * min(times, 65))


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
