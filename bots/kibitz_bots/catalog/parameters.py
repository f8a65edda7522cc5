"""The parameters of house bots, which follow the colon of a bot's name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from kibitz_bots.spec import SpecError

LARGEST = 2**53 - 1
"""The largest safe integer in JSON, since many parsers read numbers as doubles."""
MOST_TABLE_MIB = 128
"""The maximum table size per match in MiB, for bots that play four matches at once."""


@dataclass(frozen=True)
class Parameter:
    """A numeric parameter after a bot's name, such as ``time=0.2``."""

    name: str
    type: Callable[[str], Any]
    """Parses the value: ``int`` or ``float``."""
    default: Any
    summary: str
    """A description of the parameter with its unit, as a sentence fragment."""
    most: float
    """The largest accepted value."""
    least: float = 0
    """The smallest accepted value."""
    is_memory: bool = False
    """Whether the value is the memory per match, in MiB."""
    example: Any = None
    """An example for the documentation if the default is None or uninformative."""

    @property
    def expected(self) -> str:
        """A description of the accepted values."""
        kind = "a whole number" if self.type is int else "a number"
        return f"{kind} from {_plain(self.least)} to {_plain(self.most)}"

    def fields(self) -> dict[str, Any]:
        """Return the fields of the parameter's `BotParameter`."""
        return {
            "name": self.name,
            "type": self.type.__name__,
            "least": self.least,
            "most": self.most,
            "default": self.default,
            "summary": self.summary,
        }

    def read(self, text: str) -> Any:
        """Parse a value; raise `SpecError` if it is not a number or out of range."""
        try:
            value = self.type(text)
        except ValueError:
            value = None
        if value is None or not self.least <= value <= self.most:
            raise SpecError(f"{self.name}: expected {self.expected}, not {text!r}")
        return value


@dataclass(frozen=True)
class Choice:
    """A parameter with a fixed set of values, such as ``evaluation=race``."""

    name: str
    words: tuple[str, ...]
    """The accepted values."""
    default: str
    summary: str
    """A description of the parameter, as a sentence fragment."""

    @property
    def example(self) -> str:
        """The example for the documentation: the first value that is not the default."""
        return next((word for word in self.words if word != self.default), self.default)

    @property
    def expected(self) -> str:
        """A description of the accepted values."""
        return f"one of {', '.join(self.words)}"

    def fields(self) -> dict[str, Any]:
        """Return the fields of the parameter's `BotParameter`."""
        return {
            "name": self.name,
            "type": "word",
            "words": list(self.words),
            "default": self.default,
            "summary": self.summary,
        }

    def read(self, text: str) -> str:
        """Return `text`; raise `SpecError` if it is not an accepted value."""
        if text not in self.words:
            raise SpecError(f"{self.name}: expected {self.expected}, not {text!r}")
        return text


AnyParameter: TypeAlias = Parameter | Choice
"""A parameter after the colon in a bot spec."""


def read_parameter(
    known: Sequence[AnyParameter], bot: str, name: str, text: str, *, also: Sequence[str] = ()
) -> Any:
    """Parse the value of the parameter `name` of `bot` from `text`.

    The error for an unknown name lists `also` before the names in `known`. Raises `SpecError`.
    """
    for parameter in known:
        if parameter.name == name:
            return parameter.read(text)
    names = ", ".join([*also, *(parameter.name for parameter in known)]) or "none"
    raise SpecError(f"{bot} has no parameter {name!r}; it has {names}")


def _plain(number: float) -> str:
    """Format a number, without an exponent if it is whole."""
    return f"{int(number)}" if number == int(number) else f"{number:g}"


SEED = Parameter(
    "seed",
    int,
    None,
    "the random seed for repeatable play; by default every match differs",
    most=LARGEST,
    example=7,
)
BLUNDER = Parameter(
    "blunder",
    float,
    0.0,
    "the share of moves that it picks at random, 0 to 1",
    most=1,
    example=0.1,
)
TIME = Parameter(
    "time",
    float,
    1.0,
    "the time limit in seconds per move; 0 for as long as the clock allows",
    most=3600,
    example=0.2,
)
DEPTH = Parameter(
    "depth",
    int,
    0,
    "the maximum number of own moves to look ahead; 0 for as many as time allows",
    most=1000,
    example=4,
)
PLIES = Parameter(
    "depth",
    int,
    0,
    "the maximum search depth in plies; 0 for as deep as time allows",
    most=1000,
    example=4,
)
TABLE = Parameter(
    "table",
    int,
    16,
    "the size of the transposition table in MiB per match",
    least=1,
    most=MOST_TABLE_MIB,
    is_memory=True,
    example=64,
)
DEFEND = Parameter("defend", float, 10.0, "the own lead from which it plays paranoid", most=1e9)
ATTACK = Parameter(
    "attack",
    float,
    10.0,
    "the lead from which an opponent becomes the target of its moves",
    most=1e9,
)
NEAR = Parameter(
    "near", float, 0.0, "the largest difference in chances that players treat as a tie", most=1
)


def width(usual: int | None = None) -> Parameter:
    """Return the parameter ``width``; if `usual` is None, the number of seats sets the default."""
    return Parameter(
        "width",
        int,
        usual,
        "the maximum number of replies to search per position; 0 for all"
        + ("; 3 by default, 2 with five or six seats" if usual is None else ""),
        most=1_000_000,
        example=4,
    )


def scale(usual: float) -> Parameter:
    """Return the parameter ``scale``, which converts a lead of the evaluation into a chance."""
    return Parameter(
        "scale",
        float,
        usual,
        "the lead that corresponds to a 75% chance of winning",
        least=1e-9,
        most=1e9,
    )


TREE_DEPTH = Parameter(
    "depth", int, 0, "the maximum depth of the tree in plies; 0 for the technical limit", most=1000
)
ITERATIONS = Parameter(
    "iterations",
    int,
    0,
    "the maximum number of iterations per move; 0 for as many as time allows",
    most=1e9,
)
TREE = Parameter(
    "table",
    float,
    64.0,
    "the most memory for the tree in MiB per match; a short search takes less",
    most=MOST_TABLE_MIB,
    is_memory=True,
)
HISTORY = Parameter(
    "history", float, 1.0, "the bonus for actions with good results elsewhere in the tree", most=1e6
)
IMPLICIT = Parameter(
    "implicit", float, 0.0, "the weight of minimax values in every node's mean, 0 to 1", most=1
)


def by_seats(
    usual: float | None,
    parameter: Parameter,
    otherwise: str = "depends on the number of seats",
) -> Parameter:
    """Return a parameter with the default `usual`; None if the number of seats sets it.

    In that case the documentation shows the default of `parameter` as an example.
    """
    if usual is not None:
        return replace(parameter, default=usual)
    summary = f"{parameter.summary}; the default {otherwise}"
    return replace(parameter, default=None, summary=summary, example=parameter.default)


EXPLORE = Parameter(
    "explore",
    float,
    0.2,
    "the exploration constant; higher values try rarely visited moves more often",
    most=1e6,
)
WIDEN = Parameter(
    "widen",
    float,
    1.0,
    "how fast it considers more actions (progressive widening); 0 for all at once",
    most=1e6,
)
PLAYOUT_PLIES = Parameter(
    "plies", int, 6, "the length of a playout in plies before it is evaluated", most=1024
)
EPSILON = Parameter(
    "epsilon", float, 0.1, "the share of random actions in playouts, 0 to 1", most=1
)


def mcts_options(
    lead: float,
    *,
    plies: int | None = 6,
    epsilon: float | None = 0.2,
    widen: float | None = 1.0,
    explore: float | None = 0.3,
) -> tuple[Parameter, ...]:
    """Return the parameters of Monte Carlo tree search; `lead` is the default of ``scale``.

    If `explore` is None, it is 0.3, or 0.15 with five or six seats. The search derives any other
    parameter that is None from the number of seats.
    """
    return (
        SEED,
        BLUNDER,
        TIME,
        TREE_DEPTH,
        ITERATIONS,
        TREE,
        by_seats(explore, EXPLORE, "is 0.3, or 0.15 for five or six seats"),
        HISTORY,
        by_seats(widen, WIDEN),
        by_seats(plies, PLAYOUT_PLIES),
        by_seats(epsilon, EPSILON),
        IMPLICIT,
        scale(lead),
    )
