"""A server in a thread of the test process, on a loopback port.

It is a complete server with real sockets, for tests of its responses; tests of its process (kills,
memory, descriptors) need `server_process`.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kibitz.commands.serve import make_config
from kibitz_games.core.game import Game
from kibitz_server.app import running
from tests.tools.mnk import GAME
from tests.tools.server_process import START_TIMEOUT_S, ServerPages

MNK_ONLY: Mapping[str, Game] = {GAME.info.name: GAME}
"""The m,n,k game, which needs no compiler."""


class ServerThread(ServerPages):
    """A running server; created only by `server_thread`."""

    def __init__(self, directory: Path, games: Mapping[str, Game], options: dict[str, Any]) -> None:
        values = {"unlimited": False, "db": str(directory / "server.db"), "port": 0, **options}
        self.database = Path(values["db"])
        self.errors: list[str] = []
        """Errors logged since the start."""
        self._games = games
        self._config = make_config(values, None)
        self._listening = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="server")

    def start(self) -> None:
        """Start the server and wait until it listens; raise any startup error."""
        self._thread.start()
        self._listening.wait(START_TIMEOUT_S)
        if self._failure is not None:
            raise self._failure

    def stop(self) -> None:
        """Drain the server and wait for its end."""
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:  # noqa: BLE001
            self._failure = error
        finally:
            self._listening.set()

    async def _serve(self) -> None:
        self._loop, self._stopping = asyncio.get_running_loop(), asyncio.Event()
        async with running(self._config, self._games) as server:
            self.port = server.port
            self._listening.set()
            await self._stopping.wait()


class _ErrorLog(logging.Handler):
    """Collects logged errors in a list."""

    def __init__(self, messages: list[str]) -> None:
        super().__init__(logging.ERROR)
        self._messages = messages

    def emit(self, record: logging.LogRecord) -> None:
        self._messages.append(self.format(record))


@contextlib.contextmanager
def server_thread(
    directory: Path, games: Mapping[str, Game] = MNK_ONLY, **options: Any
) -> Iterator[ServerThread]:
    """Run a server during the block; then drain it and require an error-free log.

    `options` are those in a configuration file of `kibitz serve`.
    """
    server = ServerThread(directory, games, options)
    handler, log = _ErrorLog(server.errors), logging.getLogger()
    log.addHandler(handler)
    try:
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        log.removeHandler(handler)
    assert server.errors == []
