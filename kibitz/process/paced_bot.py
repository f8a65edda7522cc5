"""A bot with a minimum time per move, so that people can follow.

``python -m kibitz.process.paced_bot SECONDS SPEC ...`` is ``python -m kibitz_bots SPEC ...`` with
moves that take at least that many seconds.
"""

from __future__ import annotations

import inspect
import sys
import time
from collections.abc import Sequence

from kibitz_bots.process import main
from kibitz_bots.sdk import Answer, Bot, Match, Turn
from kibitz_protocol.wire.lobbies import ProgrammeItem
from kibitz_protocol.wire.records import Result


class PacedBot(Bot):
    """Plays the moves of `bot`, but not before `seconds` after the start of the turn."""

    def __init__(self, bot: Bot, seconds: float) -> None:
        self.name, self.games, self.seats = bot.name or type(bot).__name__, bot.games, bot.seats
        self.at_once, self.engine, self.version = bot.at_once, bot.engine, bot.version
        self._bot = bot
        self._seconds = seconds

    def choose(self, turn: Turn) -> Answer:
        """Return the wrapped bot's choice, delayed to the minimum time unless canceled."""
        begun = time.monotonic()
        answer = self._bot.choose(turn)
        if inspect.isawaitable(answer):
            raise TypeError(
                f"{self.name} has an async `choose`; only synchronous bots can be paced"
            )
        turn.cancelled.wait(max(0.0, begun + self._seconds - time.monotonic()))
        return answer

    def prepare(self, programme: Sequence[ProgrammeItem]) -> None:
        """Prepare the wrapped bot."""
        self._bot.prepare(programme)

    def on_match_start(self, match: Match) -> None:
        """Notify the wrapped bot."""
        self._bot.on_match_start(match)

    def on_match_end(self, match: Match, result: Result) -> None:
        """Notify the wrapped bot."""
        self._bot.on_match_end(match, result)


def run(argv: Sequence[str]) -> int:
    """Run the bot of a command line with a minimum time per move; return the exit status."""
    seconds = float(argv[0])
    return main(argv[1:], around=lambda bot: PacedBot(bot, seconds))


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
