"""The house bots by name: a module for each game, and each bot a few lines in it.

A spec is ``game/name`` with parameters after a colon: ``chinese-checkers/iddfs-hand:time=0.2``.
"""

from __future__ import annotations

import difflib
from importlib import import_module
from typing import Any

from kibitz_bots.loading import Factory, SpecError
from kibitz_bots.personalities.making import Parameter, Personality

__all__ = ["PERSONALITIES", "Parameter", "Personality", "find"]

_GAMES = (
    "chinese_checkers",
    "tanks",
    "five_in_a_row",
    "line_nim",
    "number_merge",
)
"""The modules of this package: one for each game."""


def _of(game: str) -> tuple[Personality, ...]:
    found: tuple[Personality, ...] = import_module(f"{__name__}.{game}").PERSONALITIES
    return found


PERSONALITIES: dict[str, Personality] = {each.name: each for game in _GAMES for each in _of(game)}
"""Every personality by its full name."""


def find(spec: str) -> Factory:
    """Return what makes the bots of a personality with its parameters, or raise `SpecError`."""
    name, _, text = spec.partition(":")
    personality = PERSONALITIES.get(name)
    if personality is None:
        raise SpecError(_unknown(name))
    values = dict(_read(personality, part) for part in text.split(",") if part)
    return lambda: personality.make(**values)


def _unknown(name: str) -> str:
    near = difflib.get_close_matches(name, PERSONALITIES, n=1, cutoff=0.5)
    meant = f"; did you mean {near[0]}?" if near else ""
    game = name.partition("/")[0]
    own = [known for known in PERSONALITIES if known.startswith(f"{game}/")]
    known = ", ".join(own or PERSONALITIES)
    return f"unknown bot {name!r}; expected a path to a .py file, or one of {known}{meant}"


def _read(personality: Personality, part: str) -> tuple[str, Any]:
    name, _, text = part.partition("=")
    for parameter in personality.parameters:
        if parameter.name == name:
            return name, parameter.read(text)
    known = ", ".join(each.name for each in personality.parameters) or "none"
    raise SpecError(f"{personality.name} has no parameter {name!r}; it has {known}")
