"""The parameters of house bots, which follow the colon of a bot's name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from kibitz_bots.spec import SpecError

LARGEST = 2**53 - 1
"""The largest whole number that is exact in whatever language it is read."""
MOST_TABLE_MIB = 128
"""The largest table of a match for bots that play four matches at once, in MiB."""


@dataclass(frozen=True)
class Parameter:
    """A number that a bot's name may be followed by, such as ``time=0.2``."""

    name: str
    type: Callable[[str], Any]
    """Reads the text that follows the equals sign: ``int`` or ``float``."""
    default: Any
    summary: str
    """A description of the parameter, with its unit; the end of a sentence."""
    most: float
    """The largest value that is accepted."""
    least: float = 0
    """The smallest value that is accepted."""
    is_memory: bool = False
    """Whether the value is an amount of memory, in MiB, that each match takes."""
    example: Any = None
    """A value for documents, if the default is None or says little."""

    @property
    def expected(self) -> str:
        """The values that may follow the equals sign, in words."""
        kind = "a whole number" if self.type is int else "a number"
        return f"{kind} from {_plain(self.least)} to {_plain(self.most)}"

    def read(self, text: str) -> Any:
        """Parse a value from `text`.

        Raises `SpecError` if it is not a number, or is too small or too large.
        """
        try:
            value = self.type(text)
        except ValueError:
            value = None
        if value is None or not self.least <= value <= self.most:
            raise SpecError(f"{self.name}: expected {self.expected}, not {text!r}")
        return value


@dataclass(frozen=True)
class Choice:
    """A word that a bot's name may be followed by, such as ``evaluation=race``."""

    name: str
    words: tuple[str, ...]
    """The words that are accepted."""
    default: str
    summary: str
    """The effect of the parameter, as the end of a sentence."""

    @property
    def example(self) -> str:
        """A word that documents show: the first that is not the default."""
        return next((word for word in self.words if word != self.default), self.default)

    @property
    def expected(self) -> str:
        """The values that may follow the equals sign, in words."""
        return f"one of {', '.join(self.words)}"

    def read(self, text: str) -> str:
        """Return `text`; raise `SpecError` if it is none of the words."""
        if text not in self.words:
            raise SpecError(f"{self.name}: expected {self.expected}, not {text!r}")
        return text


AnyParameter: TypeAlias = Parameter | Choice
"""A parameter that may follow the colon of a bot's name."""


def read_parameter(
    known: Sequence[AnyParameter], bot: str, name: str, text: str, *, also: Sequence[str] = ()
) -> Any:
    """Parse the value of the parameter `name` of `bot` from `text`.

    `also` are names that the error lists before those of `known`. Raises `SpecError`.
    """
    for parameter in known:
        if parameter.name == name:
            return parameter.read(text)
    names = ", ".join([*also, *(parameter.name for parameter in known)]) or "none"
    raise SpecError(f"{bot} has no parameter {name!r}; it has {names}")


def _plain(number: float) -> str:
    """Write a number in full, without an exponent if it is whole."""
    return f"{int(number)}" if number == int(number) else f"{number:g}"


SEED = Parameter(
    "seed",
    int,
    None,
    "makes the play repeatable; without it every match differs",
    most=LARGEST,
    example=7,
)
TIME = Parameter(
    "time",
    float,
    1.0,
    "most seconds a move; 0 for as long as the clock allows",
    most=3600,
    example=0.2,
)
DEPTH = Parameter(
    "depth", int, 0, "most own moves ahead; 0 for as many as the time allows", most=1000, example=4
)
PLIES = Parameter(
    "depth", int, 0, "most plies ahead; 0 for as many as the time allows", most=1000, example=4
)
TABLE = Parameter(
    "table",
    int,
    16,
    "MiB for remembering positions, in each match",
    least=1,
    most=MOST_TABLE_MIB,
    is_memory=True,
    example=64,
)
DEFEND = Parameter(
    "defend", float, 10.0, "with such a lead of its own it expects all against it", most=1e9
)
ATTACK = Parameter(
    "attack", float, 10.0, "with such a lead of another it plays against that one", most=1e9
)
NEAR = Parameter(
    "near", float, 0.0, "chances that differ by no more are equally good to anybody", most=1
)


def width(usual: int | None = None) -> Parameter:
    """Return the parameter for the number of replies; without `usual` it follows from the seats."""
    return Parameter(
        "width",
        int,
        usual,
        "most replies that are looked at in a position, 0 for all of them"
        + ("; without it 3, with five seats or six 2" if usual is None else ""),
        most=1_000_000,
        example=4,
    )


def scale(usual: float) -> Parameter:
    """Return the parameter that turns a lead into a chance, in the evaluation's units."""
    return Parameter(
        "scale",
        float,
        usual,
        "the lead with which a seat is ahead in 3 of 4 matches",
        least=1e-9,
        most=1e9,
    )


TREE_DEPTH = Parameter(
    "depth", int, 0, "most plies of the tree; 0 for as many as it can hold", most=1000
)
ITERATIONS = Parameter(
    "iterations", int, 0, "most iterations a move; 0 for as many as time allows", most=1e9
)
TREE = Parameter(
    "table",
    float,
    16.0,
    "MiB of memory for the tree of each match",
    most=MOST_TABLE_MIB,
    is_memory=True,
)
HISTORY = Parameter("history", float, 1.0, "how much it trusts what did well elsewhere", most=1e6)
IMPLICIT = Parameter(
    "implicit", float, 0.0, "the part of the evaluation in every mean, 0 to 1", most=1
)


def by_seats(
    usual: float | None,
    parameter: Parameter,
    otherwise: str = "as fits the number of seats",
) -> Parameter:
    """Return a parameter with the default `usual`; None means that it depends on the seats.

    The default of `parameter` is then the example for documents.
    """
    if usual is not None:
        return replace(parameter, default=usual)
    summary = f"{parameter.summary}; without it {otherwise}"
    return replace(parameter, default=None, summary=summary, example=parameter.default)


EXPLORE = Parameter("explore", float, 0.2, "how much it tries what it knows little of", most=1e6)
WIDEN = Parameter(
    "widen", float, 1.0, "how soon it considers more actions; 0 for all at once", most=1e6
)
PLAYOUT_PLIES = Parameter("plies", int, 6, "plies of a playout before it is judged", most=1024)
EPSILON = Parameter("epsilon", float, 0.1, "the part of random actions in playouts, 0 to 1", most=1)


def mcts_options(
    lead: float,
    *,
    plies: int | None = 6,
    epsilon: float | None = 0.2,
    widen: float | None = 1.0,
    explore: float | None = 0.3,
) -> tuple[Parameter, ...]:
    """Return the parameters of Monte Carlo tree search, `lead` being the usual `scale`.

    With `explore` None it is 0.3, and 0.15 with five seats or six. The others that are None depend
    on the number of seats as well, as the search defines.
    """
    return (
        SEED,
        TIME,
        TREE_DEPTH,
        ITERATIONS,
        TREE,
        by_seats(explore, EXPLORE, "0.3, with five seats or six 0.15"),
        HISTORY,
        by_seats(widen, WIDEN),
        by_seats(plies, PLAYOUT_PLIES),
        by_seats(epsilon, EPSILON),
        IMPLICIT,
        scale(lead),
    )
