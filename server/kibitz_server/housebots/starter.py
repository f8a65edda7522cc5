"""Starts the processes of house bots, each with the identity of a player."""

from __future__ import annotations

from collections.abc import Callable, Collection

from kibitz_protocol.wire.records import Player
from kibitz_server.accounts.names import house_name
from kibitz_server.accounts.sign_in import Accounts
from kibitz_server.housebots.process import HouseBotProcess, HouseBots


class BotStarter:
    """Gives house bots their identities, starts them, and notifies their matches when they end."""

    def __init__(
        self, accounts: Accounts, house_bots: HouseBots, tell_matches: Callable[[str, str], None]
    ) -> None:
        """`tell_matches` is called with a player whose process has ended, and its last output."""
        self._accounts = accounts
        self._house_bots = house_bots
        self._tell_matches = tell_matches

    def start(
        self,
        personality: str,
        lobby: str,
        former: Player | None,
        ended: Callable[[HouseBotProcess, Player], None],
        *,
        seats: int | None,
        taken: Collection[str],
    ) -> tuple[HouseBotProcess, Player]:
        """Start a process once its secret is on disk, so that the server can check its hello.

        `former` is the identity with which the bot reconnects, None for a new one. `ended` is
        called after the process has ended on its own and its matches were notified. `seats` is the
        number of seats in all its matches; None if it varies, or if no people play. The new bot
        gets none of the names in `taken`.
        """
        level = None if seats is None else self._house_bots.catalog.level(personality, seats)
        process = HouseBotProcess()

        def gone(process: HouseBotProcess) -> None:
            self._tell_matches(player.player, process.log_tail)
            ended(process, player)

        def start(saved: bool) -> None:
            if saved:
                self._house_bots.start(process, personality, lobby, admission.resume, gone)
            else:
                process.mark_failed("its identity could not be written")
                gone(process)

        admission = self._accounts.house_bot(
            house_name(personality, level, taken), former, lambda saved: start(saved)
        )
        player = admission.identity.player
        return process, player
