"""The processes of the house bots that have seats in a lobby."""

from __future__ import annotations

import logging
from asyncio import AbstractEventLoop
from collections.abc import Callable
from functools import partial

from kibitz_protocol.wire.records import Player
from kibitz_server.housebots.process import HouseBotProcess
from kibitz_server.housebots.starter import BotStarter
from kibitz_server.lobby.commands import BotFailed, StartBot
from kibitz_server.lobby.state import LobbyState
from kibitz_server.net.connections import Connections
from kibitz_server.net.loop_clock import Deadline

LOG = logging.getLogger("kibitz.lobby")
BOT_START_TIMEOUT_S = 30.0
"""The time that a house bot may take to join and warm up."""


class SeatBots:
    """Starts and stops the processes, and reports each that fails."""

    __slots__ = (
        "_bot_starter",
        "_clock",
        "_connections",
        "_loop",
        "_processes",
        "_report",
        "_state",
    )

    def __init__(
        self,
        loop: AbstractEventLoop,
        clock: Callable[[], int],
        bot_starter: BotStarter,
        connections: Connections,
        state: LobbyState,
        report: Callable[[BotFailed], object],
    ) -> None:
        """`report` is called for a process that ended by itself, or whose bot did not join."""
        self._loop = loop
        self._clock = clock
        self._bot_starter = bot_starter
        self._connections = connections
        self._state = state
        self._report = report
        self._processes: dict[int, tuple[HouseBotProcess, Player]] = {}
        """The process of each house seat, and its player."""

    def start(self, order: StartBot) -> None:
        """Start the process of a seat, in place of the one that it had."""
        seat = order.seat
        self.stop(seat)
        try:
            self._processes[seat] = process, _ = self._bot_starter.start(
                order.personality, self._state.id, order.player, partial(self._ended, seat)
            )
        except Exception:
            LOG.exception("house bot %s cannot be started", order.personality)
            self._report(BotFailed(seat, "its process could not be started"))
            return
        due = self._clock() + round(BOT_START_TIMEOUT_S * 1000)
        Deadline(self._loop, self._clock, due, partial(self._check_arrived, seat, process))

    def stop(self, seat: int) -> None:
        """End the process of a seat, if there is one. It is not reported."""
        seated = self._processes.pop(seat, None)
        if seated is not None:
            seated[0].stop()

    def stop_all(self) -> None:
        """End all processes and report nothing more: the lobby is closed, or taken over."""
        for seat in list(self._processes):
            self.stop(seat)
        # Else the lobby and this would keep each other until a collection.
        self._report = _ignore

    def seat_of(self, player: str) -> int | None:
        """Return the house seat that this player's process was started for."""
        for seat, (_, bot) in self._processes.items():
            if bot.player == player:
                return seat
        return None

    def _ended(self, seat: int, process: HouseBotProcess, player: Player) -> None:
        """Handle a process that has ended by itself."""
        self._fail(seat, process, process.end_reason)

    def _check_arrived(self, seat: int, process: HouseBotProcess) -> None:
        """Report a house bot that has not joined in time."""
        occupant = self._state.seats.occupant(seat)
        if occupant is None or self._connections.peer_of(occupant.player.player) is None:
            reason = f"the bot did not come within {BOT_START_TIMEOUT_S:.0f} s"
            self._fail(seat, process, reason)

    def _fail(self, seat: int, process: HouseBotProcess, reason: str) -> None:
        seated = self._processes.get(seat)
        if seated is not None and seated[0] is process:  # and not one that was stopped since
            self.stop(seat)
            self._report(BotFailed(seat, reason))


def _ignore(failure: BotFailed) -> None:
    """Ignore a failure: no lobby is left to restart the bot."""
