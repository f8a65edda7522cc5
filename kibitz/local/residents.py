"""House bots that play in this process, because starting a process would take longer than they do.

These are the bots that neither search nor run compiled rules, such as ``connect-four/random``.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any, Self

from kibitz.local.player_launch import Place
from kibitz.options.program import Program
from kibitz_bots.running.connection import BotConnection, RunConfig, Shutdown, capabilities
from kibitz_bots.spec import BotFactory
from kibitz_protocol.client.client import Client


def resident_bot(player: str | Program) -> BotFactory | None:
    """Return the factory of a bot that can play in this process, None for any other player."""
    from kibitz_bots.catalog import PERSONALITIES, find
    from kibitz_bots.catalog.personality import random_bot

    if isinstance(player, Program):
        return None
    known = PERSONALITIES.get(player.partition(":")[0])
    return find(player) if known is not None and known.build is random_bot else None


class Residents:
    """The resident bots of a lobby, which play within the block or until the lobby closes."""

    def __init__(self, trouble: list[str]) -> None:
        """`trouble` gets a sentence for each bot that fails."""
        self._trouble = trouble
        self._stop = Shutdown()
        self._tasks = asyncio.TaskGroup()

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        return self

    async def __aexit__(self, *raised: Any) -> None:
        self._stop.immediate()
        await self._tasks.__aexit__(*raised)

    def admit(self, player: str | Program, place: Place, secret: str) -> bool:
        """Let a player play if it can be resident; return whether it can."""
        make = resident_bot(player)
        if make is not None:
            self._tasks.create_task(self._play(make, place, secret))
        return make is not None

    async def _play(self, make: BotFactory, place: Place, secret: str) -> None:
        bot = make()
        client = Client(
            place.url,
            kind="bot",
            resume=secret,
            capabilities=capabilities(bot, place.at_once),
            agent=f"kibitz_bots ({type(bot).__name__})",
        )
        async with client:
            config = RunConfig(lobby=place.lobby)
            stats = await BotConnection(client, make, config, bot, sys.stderr).until(self._stop)
        if stats.failure:
            self._trouble.append(f"{place.name} failed: {stats.failure}")
