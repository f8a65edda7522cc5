"""The processes of a lobby's house bots."""

from __future__ import annotations

import logging
from asyncio import AbstractEventLoop
from collections.abc import Callable
from functools import partial

from kibitz_protocol.wire.records import Player
from kibitz_server.housebots.house_bots import HouseBots
from kibitz_server.housebots.process import HouseBotProcess
from kibitz_server.lobby.commands import BotFailed, StartBot
from kibitz_server.lobby.state import LobbyState
from kibitz_server.net.connections import Connections
from kibitz_server.net.loop_clock import Deadline

LOG = logging.getLogger("kibitz.lobby")
BOT_START_TIMEOUT_S = 30.0
"""How long a house bot may take to join."""


class SeatBots:
    """Starts and stops the processes, and reports failures."""

    def __init__(
        self,
        loop: AbstractEventLoop,
        clock: Callable[[], int],
        house_bots: HouseBots,
        connections: Connections,
        state: LobbyState,
        report: Callable[[BotFailed], object],
    ) -> None:
        """`report` is called if a process exits or its bot does not join in time."""
        self._loop = loop
        self._clock = clock
        self._house_bots = house_bots
        self._connections = connections
        self._state = state
        self._report = report
        self._processes: dict[int, tuple[HouseBotProcess, Player]] = {}
        """The process of each house seat, and its player."""

    def start(self, order: StartBot) -> None:
        """Start a process for a seat, and stop its former one."""
        seat = order.seat
        self.stop(seat)
        started = (bot.name for _, bot in self._processes.values())
        members = (member.player.name for member in self._state.seats.members.values())
        try:
            self._processes[seat] = process, _ = self._house_bots.start(
                order.personality,
                self._state.id,
                order.player,
                partial(self._ended, seat),
                seats=self._match_seats(order.personality),
                taken={*started, *members},
            )
        except Exception:
            LOG.exception("house bot %s cannot be started", order.personality)
            self._report(BotFailed(seat, "its process could not be started"))
            return
        due = self._clock() + round(BOT_START_TIMEOUT_S * 1000)
        Deadline(self._loop, self._clock, due, partial(self._check_arrived, seat, process))

    def stop(self, seat: int) -> None:
        """Stop the process of a seat, if there is one, without a report."""
        seated = self._processes.pop(seat, None)
        if seated is not None:
            seated[0].stop()

    def stop_all(self) -> None:
        """Stop all processes without reports, because the lobby is closed or was taken over."""
        for seat in list(self._processes):
            self.stop(seat)
        # This breaks a reference cycle with the lobby.
        self._report = _ignore

    def seat_of(self, player: str) -> int | None:
        """Return the seat that this house bot was started for, or None."""
        for seat, (_, bot) in self._processes.items():
            if bot.player == player:
                return seat
        return None

    def _match_seats(self, personality: str) -> int | None:
        """Return the number of seats of all the bot's matches; None if it varies or is unknown."""
        settings, game = self._state.settings, personality.partition("/")[0]
        numbers = {item.seats for item in settings.programme if item.game == game}
        return numbers.pop() if len(numbers) == 1 and not settings.arranged else None

    def _ended(self, seat: int, process: HouseBotProcess, player: Player) -> None:
        """Report a process that has exited."""
        self._fail(seat, process, process.end_reason)

    def _check_arrived(self, seat: int, process: HouseBotProcess) -> None:
        """Report a house bot that has not joined in time."""
        occupant = self._state.seats.occupant(seat)
        if occupant is None or self._connections.peer_of(occupant.player.player) is None:
            reason = f"the bot did not join within {BOT_START_TIMEOUT_S:.0f} s"
            self._fail(seat, process, reason)

    def _fail(self, seat: int, process: HouseBotProcess, reason: str) -> None:
        seated = self._processes.get(seat)
        if seated is not None and seated[0] is process:  # the process may have been stopped since
            self.stop(seat)
            self._report(BotFailed(seat, reason))


def _ignore(failure: BotFailed) -> None:
    """Ignore a failure: no lobby is left to restart the bot."""
