"""The seats that house bots are started for: starting and restarting their processes. Pure."""

from __future__ import annotations

from kibitz_protocol.wire.lobbies import HouseSeat
from kibitz_server.lobby import entries
from kibitz_server.lobby.commands import StartBot, StopBot, VacateSeat
from kibitz_server.lobby.transaction import Transaction

_REASON_CHARS = 200
"""Characters that the log keeps of why a house bot failed."""


class HouseSeats:
    """Starts the house bots of one lobby, and opens a seat whose bot fails again and again."""

    __slots__ = ("_lobby",)

    def __init__(self, lobby: Transaction) -> None:
        self._lobby = lobby

    def start(self, seat: int) -> None:
        """Have the process of a seat started, if a house bot belongs there."""
        state = self._lobby.state
        spec = state.seats.spec(seat)
        if isinstance(spec, HouseSeat):
            bot = state.seats.occupant(seat)
            self._lobby.ask(StartBot(seat, spec.personality, bot.player if bot else None))

    def start_missing(self) -> None:
        """Start missing house bots; a new process is not warm, and must get ready again."""
        state = self._lobby.state
        for seat in self.empty():
            bot = state.seats.occupant(seat)
            if bot is not None and bot.ready and state.accepts_ready:
                self._lobby.append(entries.Readied, player=bot.player.player, ready=False)
            self.start(seat)

    def empty(self) -> list[int]:
        """Return the seats that wait for a house bot, or whose house bot is not connected."""
        seats = []
        for seat in self._lobby.state.seats.house():
            bot = self._lobby.state.seats.occupant(seat)
            if bot is None or bot.player.player not in self._lobby.presence.connected:
                seats.append(seat)
        return seats

    def fail(self, seat: int, reason: str, now: int) -> None:
        """The bot of a seat failed: start it again, or open the seat to anybody."""
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
