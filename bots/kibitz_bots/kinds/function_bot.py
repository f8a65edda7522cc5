"""A plain function as a bot: ``agent(observation) -> action``.

::

    def agent(observation):
        return observation["legal"][0]

An observation is a dict: ``view`` (the position), ``legal`` (the legal moves, always a list),
``legal_rule`` (a description of them, or None), ``seat``, ``ply``, ``ms`` (how long to think),
``game`` and ``options``. The answer is a move such as an element of ``legal``, or its index in that
list.

Kaggle's signature ``agent(observation, configuration)`` works too. The configuration contains the
game's options and ``actTimeout``, the thinking time in seconds. As on Kaggle, the fields of both
can be read as attributes: ``observation.legal``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, cast

from kibitz_bots.sdk import Answer, BadAnswer, Bot, Turn
from kibitz_games.core.integers import integer

Function = Callable[..., Any]
CONFIGURATION = ("configuration", "config")
"""Parameter names that receive the configuration even if they have a default."""


class Fields(dict[str, Any]):
    """A dict whose values can also be read as attributes."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"no field {name!r}; known fields: {', '.join(self)}") from None


class FunctionBot(Bot):
    """A bot that plays a function's answers."""

    def __init__(self, function: Function, name: str) -> None:
        self.name = name
        self._function = function
        self._takes_configuration = takes_configuration(function)

    def choose(self, turn: Turn) -> Answer:
        """Call the function and return its move."""
        seen = [observation(turn)]
        if self._takes_configuration:
            seen.append(configuration(turn))
        return move_of(self._function(*seen), turn)


def observation(turn: Turn) -> Fields:
    """Return the function's argument for a turn."""
    return Fields(
        {
            "view": turn.observation,
            "legal": turn.legal,
            "legal_rule": turn.rule,
            "seat": turn.seat,
            "ply": turn.ply,
            "ms": turn.budget.ms,
            "game": turn.game,
            "options": turn.match.options,
        }
    )


def configuration(turn: Turn) -> Fields:
    """Return the second argument of a Kaggle-style function."""
    return Fields({**turn.match.options, "actTimeout": turn.budget.ms / 1000})


def takes_configuration(function: Function) -> bool:
    """Return whether a function takes a configuration as its second argument."""
    try:
        signature = inspect.signature(function)
    except ValueError:  # some C functions have no signature
        return False
    parameters = [
        parameter.name
        for parameter in signature.parameters.values()
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    return not _binds(signature, 1) or parameters[1:2] in ([name] for name in CONFIGURATION)


def move_of(answer: Any, turn: Turn) -> Answer:
    """Return the legal move at the answer's index, or the answer itself if it is not an index."""
    index = integer(answer)
    if index is None:
        return cast("Answer", answer)
    if not 0 <= index < len(turn.legal):
        raise BadAnswer(f"expected an index from 0 to {len(turn.legal) - 1}, not {index}")
    return turn.legal[index]


def flaw(function: object) -> str | None:
    """Return why an object cannot serve as ``agent``, or None."""
    if not callable(function):
        return f"expected agent to be a function, not {function!r:.80}"
    if inspect.iscoroutinefunction(function):
        return "expected agent to be a plain function, not an async one"
    try:
        signature = inspect.signature(function)
    except ValueError:
        return None
    if not _binds(signature, 1) and not _binds(signature, 2):
        expected = "agent(observation) or agent(observation, configuration)"
        return f"expected {expected}, not agent{signature}"
    return None


def _binds(signature: inspect.Signature, number: int) -> bool:
    """Return whether a function accepts this number of positional arguments."""
    try:
        signature.bind(*[None] * number)
    except TypeError:
        return False
    return True
