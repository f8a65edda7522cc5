"""A game and its options as people type them: ``NAME`` or ``NAME:KEY=VALUE,KEY=VALUE``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pydantic import BaseModel, ValidationError

from kibitz_games.api import Game
from kibitz_protocol.values import Options, Scalar

_WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def split(text: str) -> tuple[str, dict[str, str]]:
    """Return the name of a game and its options as they look; `ValueError` tells the form."""
    name, colon, rest = text.partition(":")
    if not name or (colon and not rest):
        raise ValueError(f"expected a game like NAME or NAME:size=3, not {text!r}")
    found: dict[str, str] = {}
    for pair in rest.split(",") if rest else ():
        key, _, value = pair.partition("=")
        if not (key and value):
            raise ValueError(f"expected an option like size=3, not {pair!r}")
        if key in found:
            raise ValueError(f"option {key!r} is given twice")
        found[key] = value
    return name, found


def read(game: Game, typed: dict[str, str]) -> Options:
    """Return typed options as what the game takes them for; its own check is still to come.

    ``2`` is a number for one option, a word or a list of one for another. What the game takes
    in no reading stays as it looks first, so that the check says what was expected.
    """
    return {key: _reading(game.Options, key, text) for key, text in typed.items()}


def _reading(model: type[BaseModel], key: str, text: str) -> Scalar | list[int | str]:
    readings = [*_readings(text)]
    return next((each for each in readings if _takes(model, key, each)), readings[0])


def _readings(text: str) -> Iterator[Scalar | list[int | str]]:
    """Yield what a value may be, the likeliest first; a plus makes a list."""
    parts = text.split("+")
    if len(parts) == 1:
        yield _WORDS.get(text, _scalar(text))
        yield text
    if all(parts):
        yield [_scalar(part) for part in parts]
        yield [*parts]
    yield text


def _scalar(text: str) -> int | str:
    return int(text) if re.fullmatch(r"-?\d+", text) else text


def _takes(model: type[BaseModel], key: str, value: object) -> bool:
    """Return whether the option itself takes a value; how options fit together is not asked."""
    try:
        model.model_validate({key: value})
    except ValidationError as error:
        return not any(each["loc"] for each in error.errors(include_url=False))
    return True
