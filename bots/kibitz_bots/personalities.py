"""The house bots by name: a search, an evaluation, and the parameters that a spec may set.

A spec is ``game/name`` with parameters after a colon: ``chinese-checkers/iddfs-hand:time=0.2``.
Nothing is imported before a bot is made, so that a bot without a search starts in no time.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kibitz_bots.loading import Factory, SpecError
from kibitz_bots.sdk import Bot


@dataclass(frozen=True)
class Parameter:
    """A knob of a personality; `type` reads the text that follows the equals sign."""

    name: str
    type: Callable[[str], Any]
    default: Any
    summary: str
    least: float = 0

    def read(self, text: str) -> Any:
        """Return the value, or raise `SpecError`."""
        try:
            value = self.type(text)
        except ValueError:
            value = None
        if value is None or not self.least <= value < 2**53:
            kind = "a whole number" if self.type is int else "a number"
            raise SpecError(f"{self.name}: expected {kind} from {self.least:g}, not {text!r}")
        return value


@dataclass(frozen=True)
class Personality:
    """A bot that has a name."""

    name: str
    """``game/name``."""
    summary: str
    build: Callable[..., Bot]
    """Makes the bot; takes the name and the parameters as keywords."""
    parameters: tuple[Parameter, ...] = ()

    def make(self, **values: Any) -> Bot:
        """Return a bot with these parameters, and the defaults of the others."""
        defaults = {each.name: each.default for each in self.parameters}
        bot = self.build(**(defaults | values))
        bot.name = self.name.rpartition("/")[2]
        bot.games = (self.name.partition("/")[0],)
        return bot


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
    meant = f"; did you mean {near[0]}?" if near else ";"
    known = ", ".join(PERSONALITIES)
    return f"unknown bot {name!r}{meant} expected a path to a .py file, or one of {known}"


def _read(personality: Personality, part: str) -> tuple[str, Any]:
    name, _, text = part.partition("=")
    for parameter in personality.parameters:
        if parameter.name == name:
            return name, parameter.read(text)
    known = ", ".join(each.name for each in personality.parameters) or "none"
    raise SpecError(f"{personality.name} has no parameter {name!r}; it has {known}")


# --- building blocks ------------------------------------------------------------------------


def _random(seed: int | None) -> Bot:
    from kibitz_bots.chance import RandomBot

    return RandomBot(seed)


def _greedy(evaluation: str) -> Callable[..., Bot]:
    def build(seed: int | None) -> Bot:
        from kibitz_bots.search.one_ply import OnePly
        from kibitz_bots.searcher import Searcher

        return Searcher(OnePly, evaluation, seed=seed, at_once=16)

    return build


def _iddfs(evaluation: str) -> Callable[..., Bot]:
    def build(seed: int | None, time: float, depth: int) -> Bot:
        from kibitz_bots.search.iddfs import Iddfs
        from kibitz_bots.searcher import Searcher

        return Searcher(Iddfs, evaluation, seed=seed, seconds=time or None, depth=depth)

    return build


SEED = Parameter("seed", int, None, "makes the play repeatable; without it every match differs")
TIME = Parameter("time", float, 1.0, "most seconds a move; 0 for as long as the clock allows")
DEPTH = Parameter("depth", int, 0, "most own moves ahead; 0 for as many as the time allows")

_CHECKERS = "chinese-checkers"
_EVALUATIONS = "kibitz_bots.evaluate.chinese_checkers"

_ALL = (
    Personality(f"{_CHECKERS}/random", "plays any legal move", _random, (SEED,)),
    Personality(
        f"{_CHECKERS}/greedy-euclid",
        "the move that shortens the straight way to the goal the most",
        _greedy(f"{_EVALUATIONS}:euclid"),
        (SEED,),
    ),
    Personality(
        f"{_CHECKERS}/greedy-hand",
        "the best move by hand-tuned weights of the holes",
        _greedy(f"{_EVALUATIONS}:hand"),
        (SEED,),
    ),
    Personality(
        f"{_CHECKERS}/iddfs-euclid",
        "plans its own moves ahead, towards the shortest straight way",
        _iddfs(f"{_EVALUATIONS}:euclid"),
        (SEED, TIME, DEPTH),
    ),
    Personality(
        f"{_CHECKERS}/iddfs-hand",
        "plans its own moves ahead, by hand-tuned weights of the holes",
        _iddfs(f"{_EVALUATIONS}:hand"),
        (SEED, TIME, DEPTH),
    ),
)

PERSONALITIES: dict[str, Personality] = {each.name: each for each in _ALL}
"""Every personality by its full name."""
