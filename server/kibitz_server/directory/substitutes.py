"""Substitutes: house bots that take the seat of a player who went away.

wanted --start--> process starts --hello--> seated
                    |                 \\--the player is back--> stopped
                    \\--ended, or not here in time--> the seat is forfeited
"""

from __future__ import annotations

from asyncio import AbstractEventLoop
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from kibitz_protocol.wire.records import Cause, Player
from kibitz_server.housebots.process import BotStarter, HouseBotProcess
from kibitz_server.lobby.seat_bots import BOT_START_TIMEOUT_S
from kibitz_server.match.commands import WantSubstitute
from kibitz_server.match.runner import MatchRunner
from kibitz_server.net.loop_clock import Deadline
from kibitz_server.net.peer import Peer


class SubstituteContext(Protocol):
    """What substitutes need around them."""

    loop: AbstractEventLoop
    clock: Callable[[], int]
    bot_starter: BotStarter

    def seat_substitute(
        self, match: MatchRunner, seat: int, player: Player, cause: Cause
    ) -> bool: ...


@dataclass(slots=True)
class Substitution:
    """A seat that waits for its substitute, or has it."""

    match: MatchRunner
    want: WantSubstitute
    process: HouseBotProcess
    player: Player
    seated: bool = False


class Substitutes:
    """The substitutes of a server, by player."""

    def __init__(self, context: SubstituteContext) -> None:
        self._context = context
        self._substitutions: dict[str, Substitution] = {}

    def start(self, match: MatchRunner, want: WantSubstitute) -> None:
        """Start a house bot for a seat."""
        lobby = match.engine.state.setup.lobby or ""
        process, player = self._context.bot_starter.start(
            want.personality, lobby, None, self._bot_ended
        )
        self._substitutions[player.player] = Substitution(match, want, process, player)
        clock = self._context.clock
        due = clock() + round(BOT_START_TIMEOUT_S * 1000)
        Deadline(self._context.loop, clock, due, partial(self._check_seated, player.player))

    def expects(self, player: str) -> bool:
        """Whether somebody is, or will be, a substitute, who is a member of no lobby."""
        return player in self._substitutions

    def seat_arrived(self, player: str, peer: Peer) -> None:
        """Somebody said hello: seat it if it is a substitute."""
        substitution = self._substitutions.get(player)
        if substitution is None or substitution.seated:
            return
        want = substitution.want
        substitution.seated = self._context.seat_substitute(
            substitution.match, want.seat, substitution.player, want.cause
        )
        if not substitution.seated:
            self._stop_bot(player)

    def match_over(self, match: MatchRunner) -> None:
        """A match is over: its substitutes are stopped."""
        for player in [key for key, each in self._substitutions.items() if each.match is match]:
            self._stop_bot(player)

    def match_reloaded(self, former: MatchRunner, match: MatchRunner) -> None:
        """A match was loaded again."""
        for substitution in self._substitutions.values():
            if substitution.match is former:
                substitution.match = match

    def _stop_bot(self, player: str) -> None:
        self._substitutions.pop(player).process.stop()

    def _bot_ended(self, process: HouseBotProcess, player: Player) -> None:
        substitution = self._substitutions.pop(player.player, None)
        if substitution is not None and not substitution.seated:
            self._give_up(substitution, f"the stand-in ended with status {process.status}")

    def _check_seated(self, player: str) -> None:
        substitution = self._substitutions.get(player)
        if substitution is not None and not substitution.seated:
            self._stop_bot(player)
            self._give_up(substitution, "the stand-in did not come in time")

    def _give_up(self, substitution: Substitution, detail: str) -> None:
        substitution.match.forfeit(substitution.want.seat, substitution.want.cause, detail)
