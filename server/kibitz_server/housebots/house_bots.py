"""The house bots of a server: processes, each with the identity of a player."""

from __future__ import annotations

import logging
import os
from collections.abc import Awaitable, Callable, Collection, Sequence
from functools import partial

from kibitz_protocol import printable
from kibitz_protocol.wire.records import Player
from kibitz_server.accounts.names import house_name
from kibitz_server.accounts.sign_in import Accounts
from kibitz_server.housebots.catalog import BotCatalog, BotLauncher
from kibitz_server.housebots.process import HouseBotProcess, inherited_environment

LOG = logging.getLogger("kibitz.process.house_bots")


class HouseBots:
    """All house bots of a server."""

    def __init__(
        self,
        launcher: BotLauncher | None,
        spawn: Callable[[Callable[[], Awaitable[None]]], None],
        url: str,
        accounts: Accounts,
        tell_matches: Callable[[str, str], None],
    ) -> None:
        """`url` is the server's own address.

        `tell_matches` is called with a player whose process has ended, and its last output.
        """
        self.catalog = BotCatalog(launcher)
        self._launcher = launcher
        self._spawn = spawn
        self._url = url
        self._accounts = accounts
        self._tell_matches = tell_matches
        self._running: set[HouseBotProcess] = set()
        self._closed = False

    @property
    def count(self) -> int:
        return len(self._running)

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
        level = None if seats is None else self.catalog.level(personality, seats)
        process = HouseBotProcess()

        def gone(process: HouseBotProcess) -> None:
            self._tell_matches(player.player, process.log_tail)
            ended(process, player)

        def start(saved: bool) -> None:
            if saved:
                self._launch(process, personality, lobby, admission.resume, gone)
            else:
                process.mark_failed("its identity could not be written")
                gone(process)

        admission = self._accounts.house_bot(
            house_name(personality, level, taken), former, lambda saved: start(saved)
        )
        player = admission.identity.player
        return process, player

    def _launch(
        self,
        process: HouseBotProcess,
        personality: str,
        lobby: str,
        resume: str,
        ended: Callable[[HouseBotProcess], None],
    ) -> None:
        """Launch a process; `ended` is called once if it ends without having been stopped."""
        if self._launcher is None or self._closed or process.stopping:
            return
        try:
            command = list(self._launcher.command(personality, self._url, lobby))
        except Exception:
            LOG.exception("cannot start house bot %s", personality)
            process.mark_failed("it could not be started")
            ended(process)
            return
        environment = inherited_environment(os.environ)
        self._running.add(process)
        self._spawn(partial(self._run, process, personality, command, environment, resume, ended))

    def close(self) -> None:
        """Stop all processes and refuse to start more."""
        self._closed = True
        for process in self._running:
            process.stop()

    async def _run(
        self,
        process: HouseBotProcess,
        personality: str,
        command: Sequence[str],
        environment: dict[str, str],
        secret: str,
        ended: Callable[[HouseBotProcess], None],
    ) -> None:
        try:
            await process.run(command, environment, secret)
        finally:
            self._running.discard(process)
        if not process.stopping:
            LOG.warning("house bot %s: %s", printable.line(personality), process.end_reason)
            ended(process)
