"""The available house bots. Pure, except that the launcher may import the bots' code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kibitz_protocol.wire.messages import HouseBotLine


class BotLauncher(Protocol):
    """The available house bots, and the commands that start them.

    The server does not import bots; its caller passes an implementation
    (`kibitz.process.house_bots.LocalBotLauncher`).
    """

    def bots(self) -> Sequence[HouseBotLine]:
        """Return all house bots; the result never changes."""

    def flaw(self, personality: str) -> str | None:
        """Return why a known bot does not accept these parameters; None if it does."""

    def command(self, personality: str, url: str, lobby: str) -> Sequence[str]:
        """Return the command line of a process that plays `personality` in a lobby.

        `KIBITZ_RESUME_FD` in its environment is the number of the file descriptor from which the
        process reads its resume secret, once and to the end.
        """


class BotCatalog:
    """The house bots that lobbies may use; empty without a launcher."""

    def __init__(self, launcher: BotLauncher | None) -> None:
        """Load the catalog now, because importing the bots would delay the first request."""
        self._launcher = launcher
        self.lines: list[HouseBotLine] = [] if launcher is None else [*launcher.bots()]
        self._by_name = {bot.name: bot for bot in self.lines}

    def knows(self, personality: str) -> bool:
        """Return whether the bot exists, ignoring parameters after its name."""
        return personality.partition(":")[0] in self._by_name

    def flaw(self, personality: str) -> str | None:
        """Return why a known bot does not accept these parameters; None if it does."""
        return None if self._launcher is None else self._launcher.flaw(personality)

    def seats(self, personality: str) -> Sequence[int]:
        """Return the numbers of seats that a bot supports; empty if it has no restriction."""
        bot = self._by_name.get(personality.partition(":")[0])
        return () if bot is None else bot.seats

    def level(self, personality: str, seats: int) -> int | None:
        """Return the level of its game that a bot is at this number of seats, or None."""
        name, _, parameters = personality.partition(":")
        bot = self._by_name.get(name)
        for line in () if bot is None else bot.levels:
            if (line.seats, line.parameters) == (seats, parameters):
                return line.level
        return None
