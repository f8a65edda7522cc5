"""Bots of kibitz: the SDK, the client connection to a server, and the house bots.

    sdk            Bot, Turn, Decision, Match: the interface for bot authors
    budget         time budgets for thinking
    spec, loading  turning a command-line argument into a bot
    catalog        the house bots by name
    kinds          the types of house bots: engine (search and evaluation), random
    llm            bots backed by a language model
    running        connections and matches, on a server or in this process
    process        ``python -m kibitz_bots``: a bot as a process
    adapters       programs in any language, Gomocup, PettingZoo and Gymnasium

`sdk` and `process` must not import each other, so this module links `Bot.main` to `process.main`.
"""

from __future__ import annotations

from collections.abc import Sequence

from kibitz_bots.budget import Budget
from kibitz_bots.loading import load
from kibitz_bots.sdk import Bot, Decision, Match, Turn
from kibitz_bots.spec import SpecError

__all__ = ["Bot", "Budget", "Decision", "Match", "SpecError", "Turn", "load"]


def _run_process(argv: Sequence[str] | None, bot: type[Bot]) -> int:
    from kibitz_bots.process import main

    return main(argv, bot=bot)


Bot.run_process = staticmethod(_run_process)
