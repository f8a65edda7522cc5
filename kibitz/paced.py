"""A bot that takes its time, so that people can follow: any bot, slowed down.

``python -m kibitz.paced SECONDS SPEC ...`` is ``python -m kibitz_bots SPEC ...`` with moves that
take at least so long.
"""

from __future__ import annotations

import inspect
import sys
import time
from collections.abc import Sequence

from kibitz_bots.process import main
from kibitz_bots.sdk import Answer, Bot, Match, Turn
from kibitz_protocol.records import Result
from kibitz_protocol.rooms import ProgrammeItem


class Paced(Bot):
    """Plays what `bot` plays, `seconds` after its turn began or later."""

    def __init__(self, bot: Bot, seconds: float) -> None:
        self.name, self.games, self.seats = bot.name or type(bot).__name__, bot.games, bot.seats
        self.at_once = bot.at_once
        self._bot = bot
        self._seconds = seconds

    def choose(self, turn: Turn) -> Answer:
        """Return the choice of the bot behind, not too soon; nobody waits once it is called off."""
        begun = time.monotonic()
        answer = self._bot.choose(turn)
        if inspect.isawaitable(answer):
            raise TypeError(f"{self.name} answers with a coroutine; only plain bots can be paced")
        turn.called_off.wait(max(0.0, begun + self._seconds - time.monotonic()))
        return answer

    def warm(self, programme: Sequence[ProgrammeItem]) -> None:
        """Warm the bot behind."""
        self._bot.warm(programme)

    def started(self, match: Match) -> None:
        """Tell the bot behind."""
        self._bot.started(match)

    def finished(self, match: Match, result: Result) -> None:
        """Tell the bot behind."""
        self._bot.finished(match, result)


def run(argv: Sequence[str]) -> int:
    """Run the slowed-down bot that a command line names; return the exit status."""
    seconds = float(argv[0])
    return main(argv[1:], around=lambda bot: Paced(bot, seconds))


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
