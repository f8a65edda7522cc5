"""How bots are built of the searches for two seats and more, and their parameters."""

from __future__ import annotations

from kibitz_bots.personalities.making import SEED, TIME, Parameter, Recipe, searching

_SEARCH = "kibitz_bots.search"


def maxn(evaluation: str) -> Recipe:
    return searching(f"{_SEARCH}.maxn:Maxn", evaluation)


def paranoid(evaluation: str) -> Recipe:
    return searching(f"{_SEARCH}.paranoid:Paranoid", evaluation)


def brs(evaluation: str) -> Recipe:
    return searching(f"{_SEARCH}.brs:Brs", evaluation)


def mpmix(evaluation: str) -> Recipe:
    return searching(f"{_SEARCH}.mpmix:MpMix", evaluation)


def maxprob(evaluation: str) -> Recipe:
    return searching(f"{_SEARCH}.maxprob:MaxProb", evaluation)


def mcts(evaluation: str) -> Recipe:
    return searching(f"{_SEARCH}.mcts:Mcts", evaluation)


def width(usual: int | None = None) -> Parameter:
    return Parameter(
        "width",
        int,
        usual,
        "most replies that are looked at in a position, 0 for all of them"
        + ("; without it 3, with five seats or six 2" if usual is None else ""),
        example=4,
    )


def scale(usual: float) -> Parameter:
    return Parameter(
        "scale", float, usual, "the lead with which a seat is ahead in 3 of 4 matches", least=1e-9
    )


DEFEND = Parameter("defend", float, 10.0, "with such a lead of its own it expects all against it")
ATTACK = Parameter("attack", float, 10.0, "with such a lead of another it plays against that one")
NEAR = Parameter("near", float, 0.0, "chances that differ by no more are equally good to anybody")


def growing(
    leads: float,
    *,
    plies: int = 6,
    epsilon: float = 0.2,
    widen: float = 1.0,
    explore: float | None = 0.3,
) -> tuple[Parameter, ...]:
    """Return the parameters of Monte Carlo tree search, `leads` being the usual scale.

    With `explore` None it is 0.3, and 0.15 with five seats or six.
    """
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
        Parameter("widen", float, widen, "how soon it considers more actions; 0 for all at once"),
        Parameter("plies", int, plies, "plies of a playout before it is judged"),
        Parameter("epsilon", float, epsilon, "the part of random actions in playouts, 0 to 1"),
        Parameter("implicit", float, 0.0, "the part of the evaluation in every mean, 0 to 1"),
        scale(leads),
    )
