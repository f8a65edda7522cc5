"""The house bots by name: a module for each game, and each bot a few lines in it.

A spec is ``game/name`` with parameters after a colon: ``chinese-checkers/iddfs-hand:time=0.2``.
"""

from __future__ import annotations

import difflib
from importlib import import_module
from typing import Any

from kibitz_bots.loading import Factory, SpecError
from kibitz_bots.personalities.making import Parameter, Personality

__all__ = ["PERSONALITIES", "Parameter", "Personality", "find", "named"]

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


def named(name: str) -> Personality:
    """Return the personality of a full name, or raise `SpecError` with what may be meant."""
    if name not in PERSONALITIES:
        raise SpecError(_unknown(name))
    return PERSONALITIES[name]


def find(spec: str) -> Factory:
    """Return what makes the bots of a personality with its parameters, or raise `SpecError`."""
    name, _, text = spec.partition(":")
    personality = named(name)
    values = dict(_read(personality, part) for part in text.split(",") if part)
    return lambda: personality.make(**values)


def _unknown(name: str) -> str:
    game = name.partition("/")[0]
    own = [known for known in PERSONALITIES if known.startswith(f"{game}/")]
    near = difflib.get_close_matches(name, own or PERSONALITIES, n=3, cutoff=0.5)
    meant = f"; did you mean {' or '.join(near)}?" if near else ""
    listed = f"kibitz bots --game {game}" if own else "kibitz bots"
    expected = f"a path to a .py file, or game/name as `{listed}` lists them"
    return f"unknown bot {name!r}; expected {expected}{meant}"


def _read(personality: Personality, part: str) -> tuple[str, Any]:
    name, _, text = part.partition("=")
    for parameter in personality.parameters:
        if parameter.name == name:
            return name, parameter.read(text)
    known = ", ".join(each.name for each in personality.parameters) or "none"
    raise SpecError(f"{personality.name} has no parameter {name!r}; it has {known}")
