"""Substitutes: house bots that take the seats of absent players.

wanted --start--> process starts --hello--> seated
                    |                 \\--the player returned--> stopped
                    \\--ended, or did not arrive in time--> the seat is forfeited
"""

from __future__ import annotations

from asyncio import AbstractEventLoop
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from kibitz_protocol.wire.records import Player
from kibitz_server.directory.registry import Registry
from kibitz_server.housebots.house_bots import HouseBots
from kibitz_server.housebots.process import HouseBotProcess
from kibitz_server.lobby.seat_bots import BOT_START_TIMEOUT_S
from kibitz_server.match import lifecycle
from kibitz_server.match.commands import Forfeit, WantSubstitute
from kibitz_server.match.runner import MatchRunner
from kibitz_server.net.connections import Connections
from kibitz_server.net.loop_clock import Deadline
from kibitz_server.net.peer import Peer


@dataclass(slots=True)
class Substitution:
    """A seat that has a substitute or is waiting for one."""

    match: MatchRunner
    want: WantSubstitute
    process: HouseBotProcess
    player: Player
    seated: bool = False


class Substitutes:
    """Starts and seats the substitutes of a server."""

    def __init__(
        self,
        loop: AbstractEventLoop,
        clock: Callable[[], int],
        house_bots: HouseBots,
        registry: Registry,
        connections: Connections,
    ) -> None:
        self._loop = loop
        self._clock = clock
        self._house_bots = house_bots
        self._registry = registry
        self._connections = connections
        self._substitutions: dict[str, Substitution] = {}

    def want(self, match: MatchRunner, want: WantSubstitute) -> None:
        """Start a substitute for a seat, or forfeit the seat if no more house bots are allowed."""
        if self._house_bots.count < self._connections.quotas.house_bots_in_all:
            self._start(match, want)
        else:  # not now: the match is still inside the call that requests this
            full = "the server has reached its limit of house bots"
            self._loop.call_soon(match.command, Forfeit(want.seat, want.cause, full))

    def _start(self, match: MatchRunner, want: WantSubstitute) -> None:
        state = match.engine.state
        coming = (each.player for each in self._substitutions.values() if each.match is match)
        process, player = self._house_bots.start(
            want.personality,
            state.setup.lobby or "",
            None,
            self._bot_ended,
            seats=len(state.players) if state.setup.tag is None else None,
            taken={player.name for player in (*state.players, *coming)},
        )
        self._substitutions[player.player] = Substitution(match, want, process, player)
        due = self._clock() + round(BOT_START_TIMEOUT_S * 1000)
        Deadline(self._loop, self._clock, due, partial(self._check_seated, player.player))

    def expects(self, player: str) -> bool:
        """Return whether a player is or will be a substitute; substitutes do not join a lobby."""
        return player in self._substitutions

    def seat_arrived(self, player: str, peer: Peer) -> None:
        """Seat a player who said hello, if it is a substitute."""
        substitution = self._substitutions.get(player)
        if substitution is None or substitution.seated:
            return
        substitution.seated = self._seat(substitution, peer)
        if not substitution.seated:
            self._stop_bot(player)

    def _seat(self, substitution: Substitution, peer: Peer) -> bool:
        """Give a seat to its substitute; return whether that succeeded."""
        match, player, want = substitution.match, substitution.player, substitution.want
        self._registry.add_seat(player.player, match)
        peer.subscriptions[match.key] = match
        if lifecycle.replace(match, want.seat, player, want.cause, peer):
            return True
        peer.subscriptions.pop(match.key, None)
        self._registry.remove_seat(player.player, match)
        return False

    def match_over(self, match: MatchRunner) -> None:
        """Stop the substitutes of a match that is over."""
        for player, substitution in list(self._substitutions.items()):
            if substitution.match is match:
                self._stop_bot(player)

    def match_reloaded(self, former: MatchRunner, match: MatchRunner) -> None:
        """Continue with `match`, which has replaced `former` after a reload."""
        for substitution in self._substitutions.values():
            if substitution.match is former:
                substitution.match = match

    def _stop_bot(self, player: str) -> None:
        self._substitutions.pop(player).process.stop()

    def _bot_ended(self, process: HouseBotProcess, player: Player) -> None:
        substitution = self._substitutions.pop(player.player, None)
        if substitution is not None and not substitution.seated:
            self._give_up(substitution, f"the substitute ended with status {process.status}")

    def _check_seated(self, player: str) -> None:
        substitution = self._substitutions.get(player)
        if substitution is not None and not substitution.seated:
            self._stop_bot(player)
            self._give_up(substitution, "the substitute did not connect in time")

    def _give_up(self, substitution: Substitution, detail: str) -> None:
        want = substitution.want
        substitution.match.command(Forfeit(want.seat, want.cause, detail))
