"""The house bots of a server, and the processes that run them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from kibitz.process.parent_death import child_command
from kibitz_bots.levels import table
from kibitz_protocol.wire.messages import BotLevel, BotParameter, HouseBotLine

if TYPE_CHECKING:
    from kibitz_bots.catalog import Personality

BOT_MEMORY_MIB = 1024
"""The default limit of a house bot's resident memory. Compiling takes 400 MiB, and the largest
tables take 512 MiB."""


class LocalBotLauncher:
    """House bots as processes on this machine, which exit when this process is gone.

    `pace` is the minimum number of seconds per move, so that people can follow; `limits` are passed
    to `parent_death.child_command` for each process.
    """

    def __init__(self, pace: float = 0.0, limits: Sequence[str] = ()) -> None:
        self._pace = pace
        self._limits = limits

    def bots(self) -> Sequence[HouseBotLine]:
        """Return the bots of the catalog."""
        from kibitz_bots.catalog import PERSONALITIES

        return tuple(map(_line, PERSONALITIES.values()))

    def flaw(self, personality: str) -> str | None:
        """Return what is wrong with a name and its parameters, or None."""
        from kibitz_bots.catalog import find
        from kibitz_bots.spec import SpecError

        try:
            find(personality)
        except SpecError as error:
            return str(error)
        return None

    def command(self, personality: str, url: str, lobby: str) -> Sequence[str]:
        """Return the command line that plays `personality` in `lobby`."""
        place = ("--url", url, "--lobby", lobby, "--pace", f"{self._pace:g}")
        return child_command("kibitz_bots", personality, *place, limits=self._limits)


def _line(bot: Personality) -> HouseBotLine:
    return HouseBotLine(
        name=bot.name,
        seats=list(bot.seats),
        summary=bot.summary,
        parameters=[BotParameter(**each.fields()) for each in bot.parameters],
        levels=list(_levels(bot)),
    )


def _levels(bot: Personality) -> Iterator[BotLevel]:
    for seats, ladder in table().games.get(bot.game, {}).items():
        for number, level in enumerate(ladder, 1):
            name, _, parameters = level.bot.partition(":")
            if name == bot.name:
                yield BotLevel(level=number, seats=seats, parameters=parameters)
