"""What personalities are made of: their parameters, and the ways to build a bot from parts.

Nothing is imported before a bot is made, so that a bot without a search starts in no time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kibitz_bots.loading import SpecError
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


def anything(seed: int | None) -> Bot:
    from kibitz_bots.chance import RandomBot

    return RandomBot(seed)


def likely(seed: int | None) -> Bot:
    from kibitz_bots.chance import LikelyBot

    return LikelyBot(seed)


def greedy(evaluation: str) -> Callable[..., Bot]:
    def build(seed: int | None) -> Bot:
        from kibitz_bots.search.one_ply import OnePly
        from kibitz_bots.searcher import Searcher

        return Searcher(OnePly, evaluation, seed=seed, at_once=16)

    return build


def iddfs(evaluation: str) -> Callable[..., Bot]:
    def build(seed: int | None, time: float, depth: int) -> Bot:
        from kibitz_bots.search.iddfs import Iddfs
        from kibitz_bots.searcher import Searcher

        return Searcher(Iddfs, evaluation, seed=seed, seconds=time or None, depth=depth)

    return build


SEED = Parameter("seed", int, None, "makes the play repeatable; without it every match differs")
TIME = Parameter("time", float, 1.0, "most seconds a move; 0 for as long as the clock allows")
DEPTH = Parameter("depth", int, 0, "most own moves ahead; 0 for as many as the time allows")
