"""House bots as data: a name with its search, evaluation and parameters.

The catalog names searches and evaluations by *loaders*: functions that import and return them.
`imported` makes a loader from a module and an attribute. Listing the catalog therefore imports
neither rules nor the compiler, and a bot without a search starts instantly.
"""

from __future__ import annotations

import functools
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from kibitz_bots.catalog.parameters import AnyParameter
from kibitz_bots.sdk import Bot
from kibitz_protocol.wire.records import Engine

if TYPE_CHECKING:
    from kibitz_search.algorithms.interface import Evaluation, Search

SearchLoader: TypeAlias = "Callable[[], type[Search]]"
EvaluationLoader: TypeAlias = "Callable[[], Evaluation]"


def imported(reference: str) -> Callable[[], Any]:
    """Return a loader that imports ``module:attribute`` when it is called."""
    return functools.partial(pkgutil.resolve_name, reference)


@dataclass(frozen=True)
class NamedEvaluation:
    """An evaluation that the parameter ``evaluation`` can select."""

    load: EvaluationLoader
    summary: str
    """A description that starts with "by"."""
    weights: tuple[Path, ...] = ()
    """Its files of trained weights, if any."""


@dataclass(frozen=True)
class EngineSpec:
    """A search and an evaluation; calling it with parameter values returns a bot.

    Every search has the parameters ``seed``, ``time`` (seconds per move, 0 for no limit), ``depth``
    (0 for no limit) and ``blunder`` (the share of random moves); ``evaluation`` is one of
    `choices`. All other parameters, and those in `fixed`, are passed to the search.
    """

    search: SearchLoader
    evaluation: EvaluationLoader | None = None
    """None for a search without an evaluation."""
    at_once: int = 4
    """The maximum number of concurrent matches."""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    choices: Mapping[str, NamedEvaluation] = field(default_factory=dict)
    """The evaluations that can replace `evaluation`, by name."""
    bot: str = "kibitz_bots.kinds.engine_bot:EngineBot"
    """The module and the class of the bot."""

    def __call__(
        self,
        seed: int | None,
        time: float = 0.0,
        depth: int = 0,
        *,
        blunder: float = 0.0,
        evaluation: str | None = None,
        **parameters: Any,
    ) -> Bot:
        load = self.evaluation if evaluation is None else self.choices[evaluation].load
        made: Bot = imported(self.bot)()(
            self.search(),
            None if load is None else load(),
            seed=seed,
            blunder=blunder,
            seconds=time or None,
            depth=depth,
            at_once=self.at_once,
            parameters=dict(self.fixed) | parameters,
        )
        return made


@dataclass(frozen=True)
class Personality:
    """A named bot."""

    name: str
    """``game/name``."""
    summary: str
    build: Callable[..., Bot]
    """Creates the bot; takes the values of `parameters` as keyword arguments."""
    parameters: tuple[AnyParameter, ...] = ()
    algorithm: str = ""
    """The search's name, empty if it does not search."""
    evaluation: str = ""
    """The name of its default evaluation, empty if it has none."""
    seats: tuple[int, ...] = ()
    """The numbers of seats it supports; empty if it supports all that its game does."""
    weights: tuple[Path, ...] = ()
    """The trained-weight files of its default evaluation."""

    @property
    def game(self) -> str:
        """The name of its game."""
        return self.name.partition("/")[0]

    @property
    def short(self) -> str:
        """Its name without the game's."""
        return self.name.rpartition("/")[2]

    def make(self, **values: Any) -> Bot:
        """Return a bot with these parameter values; all other parameters have their defaults."""
        defaults = {parameter.name: parameter.default for parameter in self.parameters}
        given = defaults | values
        bot = self.build(**given)
        bot.engine = self.engine(given)
        bot.name = self.short
        bot.games = (self.game,)
        bot.seats = self.seats
        return bot

    def engine(self, values: Mapping[str, Any]) -> Engine:
        """Return the engine description that records show for a bot with these parameter values."""
        return Engine(
            name=self.name,
            version=f"kibitz {_package_version()}",
            parameters={name: value for name, value in values.items() if value is not None},
            weights={path.name: _weights_hash(path) for path in self._weights_by(values)},
        )

    def _weights_by(self, values: Mapping[str, Any]) -> tuple[Path, ...]:
        """Return the weight files of the selected evaluation."""
        if isinstance(self.build, EngineSpec) and "evaluation" in values:
            return self.build.choices[values["evaluation"]].weights
        return self.weights


@functools.cache
def _package_version() -> str:
    return version("kibitz")


@functools.cache
def _weights_hash(path: Path) -> str:
    """Return the hash of a weights file; it is computed once, at the first call."""
    from kibitz_search.weights import WeightsFile

    return WeightsFile.model_validate_json(path.read_bytes()).hash


def random_bot(seed: int | None) -> Bot:
    # Plays legal moves with equal probability.
    from kibitz_bots.kinds.random_bot import RandomBot

    return RandomBot(seed)


def weighted_random_bot(seed: int | None) -> Bot:
    # Plays legal moves with the probabilities of the game's own random player.
    from kibitz_bots.kinds.random_bot import WeightedRandomBot

    return WeightedRandomBot(seed)
