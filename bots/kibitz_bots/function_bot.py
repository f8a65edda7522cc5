"""A plain function as a bot: ``agent(observation) -> action``.

::

    def agent(observation):
        return observation["legal"][0]

An observation is a dict: ``view`` (the position), ``legal`` (the legal moves, always a list),
``legal_rule`` (which they are, in words, or None), ``seat``, ``ply``, ``ms`` (how long to think),
``game`` and ``options``. The answer is a move such as an element of ``legal``, or its index there.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from typing import Any

from kibitz_bots.sdk import Answer, BadAnswer, Bot, Turn

Function = Callable[[dict[str, Any]], Any]


class FunctionBot(Bot):
    """Plays what a function answers."""

    def __init__(self, function: Function, name: str) -> None:
        self.name = name
        self._function = function

    def choose(self, turn: Turn) -> Answer:
        """Return the function's move."""
        return move_of(self._function(observation(turn)), turn)


def observation(turn: Turn) -> dict[str, Any]:
    """Return what the function is given."""
    return {
        "view": turn.observation,
        "legal": turn.legal,
        "legal_rule": turn.rule,
        "seat": turn.seat,
        "ply": turn.ply,
        "ms": turn.budget.ms,
        "game": turn.game,
        "options": turn.match.options,
    }


def move_of(answer: Any, turn: Turn) -> Answer:
    """Return the move of an answer: what an index points at, else the answer itself."""
    if isinstance(answer, bool) or not hasattr(answer, "__index__"):
        return answer  # type: ignore[no-any-return]
    index = operator.index(answer)
    if not 0 <= index < len(turn.legal):
        raise BadAnswer(f"expected an index from 0 to {len(turn.legal) - 1}, not {index}")
    return turn.legal[index]


def flaw(function: object) -> str | None:
    """Return why an object cannot be asked for moves, or None."""
    if not callable(function):
        return f"expected agent to be a function, not {function!r:.80}"
    if inspect.iscoroutinefunction(function):
        return "expected agent to be a plain function, not an async one"
    try:
        inspect.signature(function).bind({})
    except TypeError:
        return f"expected agent(observation), not agent{inspect.signature(function)}"
    return None
