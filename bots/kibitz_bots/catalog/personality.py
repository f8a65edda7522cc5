"""House bots as data: a name, and the search, the evaluation and the parameters behind it.

A search or an evaluation is given by a *loader*, a function that imports and returns it. So the
whole catalogue can be listed without loading any rules or a compiler, and a bot without a search
starts in no time, while the names are still checked by the type checker.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from kibitz_bots.catalog.parameters import Parameter
from kibitz_bots.sdk import Bot
from kibitz_protocol.wire.records import Engine

if TYPE_CHECKING:
    from kibitz_search.algorithms.interface import Evaluation, Search

SearchLoader: TypeAlias = "Callable[[], type[Search]]"
EvaluationLoader: TypeAlias = "Callable[[], Evaluation]"


@dataclass(frozen=True)
class EngineSpec:
    """A search and an evaluation; called with values of parameters it makes a bot of them.

    The parameters ``seed``, ``time`` (seconds a move, 0 for no limit) and ``depth`` (0 for no
    limit) are those of every search. All others, and what is `fixed`, are handed to the search.
    """

    search: SearchLoader
    evaluation: EvaluationLoader | None = None
    """None for a search that judges nothing by weights."""
    at_once: int = 4
    """How many matches the bot plays at the same time."""
    fixed: Mapping[str, Any] = field(default_factory=dict)

    def __call__(
        self, seed: int | None, time: float = 0.0, depth: int = 0, **parameters: Any
    ) -> Bot:
        from kibitz_bots.engine_bot import EngineBot

        return EngineBot(
            self.search(),
            None if self.evaluation is None else self.evaluation(),
            seed=seed,
            seconds=time or None,
            depth=depth,
            at_once=self.at_once,
            parameters=dict(self.fixed) | parameters,
        )


@dataclass(frozen=True)
class Personality:
    """A bot that has a name."""

    name: str
    """``game/name``."""
    summary: str
    build: Callable[..., Bot]
    """Makes the bot; takes the values of `parameters` as keywords."""
    parameters: tuple[Parameter, ...] = ()
    algorithm: str = ""
    """The search's name, empty where it does not search."""
    evaluation: str = ""
    """The name of what judges its positions, empty where nothing does."""
    seats: tuple[int, ...] = ()
    """With how many seats it plays; empty for as many as its game has."""
    compiled_ahead: bool = True
    """Whether `kibitz bots --warm` compiles it where no name was given. The rarer pairs of a search
    and an evaluation are compiled when they are first used."""

    weights: tuple[Path, ...] = ()
    """The files of trained weights that it plays by."""

    @property
    def game(self) -> str:
        """The name of its game."""
        return self.name.partition("/")[0]

    @property
    def most_table_mib(self) -> float:
        """The memory, in MiB, that the tables of all its matches take at most."""
        largest = sum(each.most for each in self.parameters if each.is_memory)
        return largest * (self.build.at_once if isinstance(self.build, EngineSpec) else 1)

    @property
    def short(self) -> str:
        """Its name without the game's."""
        return self.name.rpartition("/")[2]

    def make(self, **values: Any) -> Bot:
        """Return a bot with these values of its parameters, and the defaults of the others."""
        defaults = {each.name: each.default for each in self.parameters}
        said = defaults | values
        bot = self.build(**said)
        bot.engine = self.engine(said)
        bot.name = self.short
        bot.games = (self.game,)
        bot.seats = self.seats
        return bot

    def engine(self, values: Mapping[str, Any]) -> Engine:
        """Return what records say of a bot with these values of all parameters."""
        return Engine(
            name=self.name,
            version=f"kibitz {_package_version()}",
            parameters={name: value for name, value in values.items() if value is not None},
            weights={path.name: _weights_hash(path) for path in self.weights},
        )


@functools.cache
def _package_version() -> str:
    return version("kibitz")


@functools.cache
def _weights_hash(path: Path) -> str:
    """Return the hash of a file of weights as it was when it was first asked for."""
    from kibitz_search.training.weights import WeightsFile

    return WeightsFile.model_validate_json(path.read_bytes()).hash


def random_bot(seed: int | None) -> Bot:
    # Any legal move, all being as likely.
    from kibitz_bots.random_bot import RandomBot

    return RandomBot(seed)


def weighted_random_bot(seed: int | None) -> Bot:
    # Each move as likely as the game's own random player takes it.
    from kibitz_bots.random_bot import WeightedRandomBot

    return WeightedRandomBot(seed)
