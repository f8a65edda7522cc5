"""The parameters of house bots: what may follow the colon of a bot's name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kibitz_bots.spec import SpecError

LARGEST = 2.0**53
"""Numbers below it are exact, in whatever language they are read."""


@dataclass(frozen=True)
class Parameter:
    """A number that a bot's name may be followed by, such as ``time=0.2``."""

    name: str
    type: Callable[[str], Any]
    """Reads the text that follows the equals sign: ``int`` or ``float``."""
    default: Any
    summary: str
    """What the parameter does, with its unit; the end of a sentence."""
    least: float = 0
    """The smallest value that is accepted."""
    example: Any = None
    """A value that documents show, where the default is None or says little."""

    @property
    def expected(self) -> str:
        """What may follow the equals sign, in words."""
        kind = "a whole number" if self.type is int else "a number"
        return f"{kind} from {self.least:g}"

    def read(self, text: str) -> Any:
        """Return the value that `text` stands for.

        Raises `SpecError` for what is no number, or is too small or too large.
        """
        try:
            value = self.type(text)
        except ValueError:
            value = None
        if value is None or not self.least <= value < LARGEST:
            raise SpecError(f"{self.name}: expected {self.expected}, not {text!r}")
        return value


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
DEFEND = Parameter("defend", float, 10.0, "with such a lead of its own it expects all against it")
ATTACK = Parameter("attack", float, 10.0, "with such a lead of another it plays against that one")
NEAR = Parameter("near", float, 0.0, "chances that differ by no more are equally good to anybody")


def width(usual: int | None = None) -> Parameter:
    """Return the parameter for the number of replies; without `usual` it follows from the seats."""
    return Parameter(
        "width",
        int,
        usual,
        "most replies that are looked at in a position, 0 for all of them"
        + ("; without it 3, with five seats or six 2" if usual is None else ""),
        example=4,
    )


def scale(usual: float) -> Parameter:
    """Return the parameter that turns a lead into a chance, in the evaluation's units."""
    return Parameter(
        "scale", float, usual, "the lead with which a seat is ahead in 3 of 4 matches", least=1e-9
    )


def mcts_options(
    lead: float,
    *,
    plies: int | None = 6,
    epsilon: float | None = 0.2,
    widen: float | None = 1.0,
    explore: float | None = 0.3,
) -> tuple[Parameter, ...]:
    """Return the parameters of Monte Carlo tree search, `lead` being the usual `scale`.

    With `explore` None it is 0.3, and 0.15 with five seats or six. The others that are None follow
    from the number of seats as well, as the search says.
    """
    seats = "; without it as fits the number of seats"
    return (
        SEED,
        TIME,
        Parameter("depth", int, 0, "most plies of the tree; 0 for as many as it can hold"),
        Parameter("iterations", int, 0, "most iterations a move; 0 for as many as time allows"),
        Parameter("table", float, 16.0, "MiB of memory for the tree of each match"),
        Parameter(
            "explore",
            float,
            explore,
            "how much it tries what it knows little of"
            + ("; without it 0.3, with five seats or six 0.15" if explore is None else ""),
            example=0.2 if explore is None else None,
        ),
        Parameter("history", float, 1.0, "how much it trusts what did well elsewhere"),
        Parameter(
            "widen",
            float,
            widen,
            "how soon it considers more actions; 0 for all at once"
            + (seats if widen is None else ""),
            example=1.0 if widen is None else None,
        ),
        Parameter(
            "plies",
            int,
            plies,
            "plies of a playout before it is judged" + (seats if plies is None else ""),
            example=6 if plies is None else None,
        ),
        Parameter(
            "epsilon",
            float,
            epsilon,
            "the part of random actions in playouts, 0 to 1" + (seats if epsilon is None else ""),
            example=0.1 if epsilon is None else None,
        ),
        Parameter("implicit", float, 0.0, "the part of the evaluation in every mean, 0 to 1"),
        scale(lead),
    )
