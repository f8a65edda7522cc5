"""What personalities are made of: their parameters, and the ways to build a bot from parts.

Nothing is imported before a bot is made, so that a bot without a search starts in no time.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
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
    example: Any = None
    """A value to show how it is said, where the default is none."""

    @property
    def takes(self) -> str:
        """What may follow the equals sign, in words."""
        kind = "a whole number" if self.type is int else "a number"
        return f"{kind} from {self.least:g}"

    def read(self, text: str) -> Any:
        """Return the value, or raise `SpecError`."""
        try:
            value = self.type(text)
        except ValueError:
            value = None
        if value is None or not self.least <= value < 2**53:
            raise SpecError(f"{self.name}: expected {self.takes}, not {text!r}")
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
    algorithm: str = ""
    """The search's name as in the pages of `docs`, empty where it does not search."""
    evaluation: str = ""
    """The name of what judges its positions, empty where nothing does."""
    seats: tuple[int, ...] = ()
    """With how many seats it plays; empty for as many as its game has."""

    def __post_init__(self) -> None:
        """Take from the recipe what was not said."""
        if isinstance(self.build, Recipe):
            object.__setattr__(self, "algorithm", self.algorithm or self.build.algorithm)
            object.__setattr__(self, "evaluation", self.evaluation or self.build.judge)

    @property
    def game(self) -> str:
        """The name of its game."""
        return self.name.partition("/")[0]

    @property
    def short(self) -> str:
        """Its name without the game's."""
        return self.name.rpartition("/")[2]

    def make(self, **values: Any) -> Bot:
        """Return a bot with these parameters, and the defaults of the others."""
        defaults = {each.name: each.default for each in self.parameters}
        bot = self.build(**(defaults | values))
        bot.name = self.short
        bot.games = (self.game,)
        bot.seats = self.seats
        return bot


def anything(seed: int | None) -> Bot:
    from kibitz_bots.chance import RandomBot

    return RandomBot(seed)


def likely(seed: int | None) -> Bot:
    from kibitz_bots.chance import LikelyBot

    return LikelyBot(seed)


def searching(search: str, evaluation: str, *, at_once: int = 4, **fixed: Any) -> Recipe:
    """Return what builds a bot of a search and an evaluation, each ``package.module:name``.

    The evaluation is empty for a search that needs none.
    The parameters ``seed``, ``time`` and ``depth`` are those of every search; all others, and
    what is `fixed`, are handed to the search itself. The bot plays `at_once` matches at most.
    """
    return Recipe(search, evaluation, at_once, fixed)


@dataclass(frozen=True)
class Recipe:
    """A search and an evaluation, and how they become a bot; see `searching`."""

    search: str
    evaluation: str
    at_once: int = 4
    fixed: Mapping[str, Any] = field(default_factory=dict)

    @property
    def algorithm(self) -> str:
        """The name of the search: that of its module, as a page of `docs` would write it."""
        return self.search.partition(":")[0].rpartition(".")[2].replace("_", "-")

    @property
    def judge(self) -> str:
        """The name of the evaluation: that of its function."""
        return self.evaluation.rpartition(":")[2].replace("_", "-")

    def __call__(
        self, seed: int | None, time: float = 0.0, depth: int = 0, **parameters: Any
    ) -> Bot:
        from kibitz_bots.searcher import Searcher

        module, _, name = self.search.partition(":")
        return Searcher(
            getattr(importlib.import_module(module), name),
            self.evaluation,
            seed=seed,
            seconds=time or None,
            depth=depth,
            at_once=self.at_once,
            parameters=dict(self.fixed) | parameters,
        )


def greedy(evaluation: str) -> Recipe:
    return searching("kibitz_bots.search.one_ply:OnePly", evaluation, at_once=16)


def iddfs(evaluation: str) -> Recipe:
    return searching("kibitz_bots.search.iddfs:Iddfs", evaluation)


def minimax(evaluation: str) -> Recipe:
    return searching("kibitz_bots.search.minimax:Minimax", evaluation)


def alphabeta(evaluation: str) -> Recipe:
    return searching("kibitz_bots.search.alphabeta:AlphaBeta", evaluation)


SEED = Parameter(
    "seed", int, None, "makes the play repeatable; without it every match differs", example=7
)
TIME = Parameter(
    "time", float, 1.0, "most seconds a move; 0 for as long as the clock allows", example=0.2
)
DEPTH = Parameter(
    "depth", int, 0, "most own moves ahead; 0 for as many as the time allows", example=4
)
PLIES = Parameter("depth", int, 0, "most plies ahead; 0 for as many as the time allows", example=4)
TABLE = Parameter(
    "table", int, 16, "MiB for remembering positions, in each match", least=1, example=64
)
