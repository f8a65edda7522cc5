"""Starting and restarting the house bots of a lobby. Pure."""

from __future__ import annotations

from kibitz_protocol.wire.lobbies import HouseSeat
from kibitz_server.lobby import entries
from kibitz_server.lobby.commands import StartBot, StopBot, VacateSeat
from kibitz_server.lobby.transaction import Transaction

_REASON_CHARS = 200
"""Maximum length of the logged reason for a failure, in characters."""


class HouseSeats:
    """Starts the house bots of one lobby, and opens the seats of bots that keep failing."""

    def __init__(self, lobby: Transaction) -> None:
        self._lobby = lobby

    def start(self, seat: int) -> None:
        """Request a house bot for a seat, if its specification wants one."""
        state = self._lobby.state
        spec = state.seats.spec(seat)
        if isinstance(spec, HouseSeat):
            bot = state.seats.occupant(seat)
            self._lobby.ask(StartBot(seat, spec.personality, bot.player if bot else None))

    def start_missing(self) -> None:
        """Request the missing house bots. They are not ready until they have warmed up."""
        state = self._lobby.state
        for seat in self.empty():
            bot = state.seats.occupant(seat)
            if bot is not None and bot.ready and state.accepts_ready:
                self._lobby.append(entries.Readied, player=bot.player.player, ready=False)
            self.start(seat)

    def empty(self) -> list[int]:
        """Return the house seats whose bot has not joined or is disconnected."""
        seats = []
        for seat in self._lobby.state.seats.house():
            bot = self._lobby.state.seats.occupant(seat)
            if bot is None or bot.player.player not in self._lobby.presence.connected:
                seats.append(seat)
        return seats

    def fail(self, seat: int, reason: str, now: int) -> None:
        """Restart the bot of a seat after a failure, or open the seat to everybody."""
        state, presence = self._lobby.state, self._lobby.presence
        if state.phase == "closed" or not state.seats.is_house(seat):
            return
        bot = state.seats.occupant(seat)
        if bot is not None:
            presence.depart(bot.player.player, now, member=True)
        matches = [] if bot is None else state.round.matches_of(bot.player.player)
        self._lobby.append(entries.HouseLost, seat=seat, reason=reason[:_REASON_CHARS])
        if state.seats.is_house(seat):
            if state.phase != "finished":
                self.start(seat)
            return
        if bot is not None:
            presence.remove(bot.player.player)
            self._lobby.ask_all(VacateSeat(match, bot.player.player) for match in matches)
        self._lobby.ask(StopBot(seat))
