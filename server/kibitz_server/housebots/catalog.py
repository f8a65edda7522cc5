"""Which house bots there are. Pure, but for the launcher, which may import the bots' code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kibitz_protocol.wire.messages import HouseBotLine


class BotLauncher(Protocol):
    """Which house bots there are, and how their processes are started.

    The server imports no bot, so this is the one class of the house bots that it is handed
    (`kibitz.process.house_bots.LocalBotLauncher`).
    """

    def bots(self) -> Sequence[HouseBotLine]:
        """Return all that there are, always the same."""

    def flaw(self, personality: str) -> str | None:
        """Return why no bot can be made of a known name with these parameters; None if one can."""

    def command(self, personality: str, url: str, lobby: str) -> Sequence[str]:
        """Return the command line of a process that plays `personality` in a lobby.

        KIBITZ_RESUME_FD in its environment is the number of the descriptor from which the process
        reads its resume secret, once and to the end.
        """


class BotCatalog:
    """The house bots that may be asked for; none without a launcher."""

    def __init__(self, launcher: BotLauncher | None) -> None:
        """Import the bots' catalogue, which takes a moment, before the first request needs it."""
        self._launcher = launcher
        self.lines: list[HouseBotLine] = [] if launcher is None else [*launcher.bots()]
        self._by_name = {bot.name: bot for bot in self.lines}

    def knows(self, personality: str) -> bool:
        """Whether there is such a bot, whatever parameters follow its name."""
        return personality.partition(":")[0] in self._by_name

    def flaw(self, personality: str) -> str | None:
        """Return why no bot can be made of a known name with these parameters; None if one can."""
        return None if self._launcher is None else self._launcher.flaw(personality)

    def seats(self, personality: str) -> Sequence[int]:
        """Return with how many seats a bot plays; empty for as many as its game has."""
        bot = self._by_name.get(personality.partition(":")[0])
        return () if bot is None else bot.seats
