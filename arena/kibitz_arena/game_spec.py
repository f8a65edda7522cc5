"""A game and its options as users type them: ``NAME`` or ``NAME:KEY=VALUE,KEY=VALUE``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TypeAlias

from pydantic import BaseModel, ValidationError

from kibitz_protocol.wire.values import Options, Scalar

if TYPE_CHECKING:
    from kibitz_games.core.game import Game

Value: TypeAlias = Scalar | list[int | str]
"""The value of an option as sent on the wire."""
_BOOLEANS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def split_spec(text: str) -> tuple[str, dict[str, str]]:
    """Split a spec into the game's name and untyped options; raise `ValueError` if malformed."""
    name, colon, rest = text.partition(":")
    if not name or (colon and not rest):
        raise ValueError(f"expected a game like NAME or NAME:size=3, not {text!r}")
    return name, parse_pairs(rest.split(",") if rest else ())


def parse_options(game: Game, typed: dict[str, str]) -> Options:
    """Parse options with the types that the game expects, without the game's own checks.

    ``2`` is a number for one option, and a word or a one-element list for another. A value that
    fits no type is parsed in the likeliest way, so that the game's own check reports what was
    expected.
    """
    return {key: parse_value(game.Options, key, text) for key, text in typed.items()}


def parse_pairs(pairs: Iterable[str]) -> dict[str, str]:
    """Split ``KEY=VALUE`` pairs; raise `ValueError` for malformed or duplicate ones."""
    values: dict[str, str] = {}
    for pair in pairs:
        key, _, value = pair.partition("=")
        if not (key and value):
            raise ValueError(f"expected an option like size=3, not {pair!r}")
        if key in values:
            raise ValueError(f"option {key!r} is given twice")
        values[key] = value
    return values


def parse_value(model: type[BaseModel] | None, key: str, text: str) -> Value:
    """Return the likeliest reading of a value that the option accepts.

    If the option accepts none, or if there is no model because the game is unknown, return the
    likeliest reading.
    """
    candidates = [*_candidates(text)]
    taken = (
        candidate
        for candidate in candidates
        if model is not None and _accepts(model, key, candidate)
    )
    return next(taken, candidates[0])


def _candidates(text: str) -> Iterator[Value]:
    """Yield possible readings of a value, likeliest first; a plus separates list elements."""
    parts = text.split("+")
    if len(parts) == 1:
        yield _BOOLEANS.get(text, _scalar(text))
        yield text
    if all(parts):
        yield [_scalar(part) for part in parts]
        yield [*parts]
    yield text


def _scalar(text: str) -> int | str:
    return int(text) if re.fullmatch(r"-?\d+", text) else text


def _accepts(model: type[BaseModel], key: str, value: object) -> bool:
    """Return whether the option accepts a value, ignoring constraints between options."""
    try:
        model.model_validate({key: value})
    except ValidationError as error:
        return not any(problem["loc"] for problem in error.errors(include_url=False))
    except ValueError:
        pass
    return True
