"""Loads the rules of games, which are compiled to machine code, before matches begin.

The event loop never compiles or loads rules itself. A thread loads a game's rules when the game is
first needed, which takes a fraction of a second. The thread releases the GIL repeatedly, so the
event loop continues meanwhile. If the rules are not compiled yet, a separate process first compiles
them into the cache, which takes up to a minute. Meanwhile only requests that need these rules wait,
and no clocks run for them.

    load(games) --> compiled? --no--> a process compiles --> a thread loads --> loaded
                        └-----------------yes-----------------^

While no request waits, a background process compiles the missing games one after the other at the
lowest priority, so that a server prepares itself after an upgrade. It is stopped when a request
waits, because it may hold a lock that the other process needs. Rules that run as plain Python need
no loading.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeAlias

from kibitz_games.compiled import cache, kernels
from kibitz_games.core import warmup
from kibitz_games.core.game import Game
from kibitz_server.housebots.process import HouseBotProcess, inherited_environment

LOG = logging.getLogger("kibitz.directory")

CompileCommand: TypeAlias = Callable[[str, bool], Sequence[str]]
"""Returns the command line of a process that compiles the named game. The flag is true if a request
waits for the game.
"""
LOADING_SWITCH_S = 0.005
"""The interpreter's thread switch interval, in seconds, while rules are loading."""
Spawn: TypeAlias = Callable[[Callable[[], Awaitable[None]]], None]


def _nothing() -> None:
    """Do nothing."""


class Rules:
    """Tracks which games' rules are loaded, and loads the others."""

    def __init__(
        self,
        games: Mapping[str, Game],
        spawn: Spawn,
        compile_command: CompileCommand | None = None,
        on_loaded: Callable[[], object] = _nothing,
    ) -> None:
        """Without a `compile_command` the thread also compiles. Each load ends with `on_loaded`."""
        self._games = games
        self._spawn = spawn
        self._compile_command = compile_command
        self._on_loaded = on_loaded
        self._missing = set(games) if kernels.compiled() else set[str]()
        self._loading: dict[str, asyncio.Future[None]] = {}
        self._one_thread = asyncio.Lock()
        self._one_compiler = asyncio.Lock()
        self.waiting: Counter[str] = Counter()
        """The number of each player's requests that wait for rules."""
        self.turns = asyncio.Lock()
        """A lock, so that requests that have waited for rules are carried out one at a time."""
        self._background: HouseBotProcess | None = None
        """The process that compiles games in the background."""

    @classmethod
    def all_loaded(cls) -> Rules:
        """Return an instance for callers that have loaded all rules themselves."""
        return cls({}, lambda work: None)

    def are_loaded(self, games: Iterable[str]) -> bool:
        """Return whether the rules of these games are loaded; unknown games count as loaded."""
        return self._missing.isdisjoint(games)

    async def load(self, games: Iterable[str]) -> None:
        """Load the rules of these games.

        Rules that fail to load count as loaded: a match that needs them fails and reports why.
        """
        for game in self._missing.intersection(games):
            await asyncio.shield(self._request(game))

    def _request(self, game: str) -> asyncio.Future[None]:
        loading = self._loading.get(game)
        if loading is None:
            loading = self._loading[game] = asyncio.get_running_loop().create_future()
            self._spawn(partial(self._bring, game, loading))
        return loading

    async def _bring(self, game: str, done: asyncio.Future[None]) -> None:
        try:
            if not self._is_compiled(game):
                await self._compile(game)
            async with self._one_thread:
                await asyncio.to_thread(self._load_now, game)
                self._on_loaded()
        except Exception:
            LOG.exception("cannot prepare the rules of %s", game)
        except asyncio.CancelledError:
            done.cancel()
            raise
        self._missing.discard(game)
        done.set_result(None)

    def _load_now(self, game: str) -> None:
        try:
            with _switching_less_often():
                warmup.warm_up_for_server(self._games[game])
        except Exception:
            LOG.exception("cannot load the rules of %s", game)

    def _is_compiled(self, game: str) -> bool:
        return self._compile_command is None or warmup.is_compiled(self._games[game])

    async def _compile(self, game: str) -> None:
        """Compile a game that a request waits for, in a separate process."""
        if self._background is not None:
            self._background.stop()
        async with self._one_compiler:
            if not self._is_compiled(game):
                await self._run_compiler(game, _compiler_process(), awaited=True)

    async def _run_compiler(self, game: str, process: HouseBotProcess, *, awaited: bool) -> None:
        if self._compile_command is None:
            raise AssertionError("compiling requires a command")
        environment = inherited_environment(os.environ)
        environment["KIBITZ_CACHE"] = str(cache.writable_directory())
        await process.run(self._compile_command(game, awaited), environment)
        if process.status and not process.stopping:
            LOG.warning("cannot compile the rules of %s ahead of time: %s", game, process.log_tail)

    async def compile_all(self) -> None:
        """Compile all missing games, as long as no request waits for one."""
        for game in self._games:
            stopped = True
            while stopped and game in self._missing and not self._is_compiled(game):
                async with self._one_compiler:
                    self._background = _compiler_process()
                    await self._run_compiler(game, self._background, awaited=False)
                    stopped, self._background = self._background.stopping, None
                # Waiting requests go first.
                await asyncio.sleep(0)


def _compiler_process() -> HouseBotProcess:
    return HouseBotProcess(name="the compiler's process")


@contextlib.contextmanager
def _switching_less_often() -> Iterator[None]:
    """Let threads keep the GIL longer within the block.

    At each switch between the event loop and a busy thread, one waits for the system to schedule
    the other. On a busy machine that takes much longer than a server's usual switch interval.
    """
    usual = sys.getswitchinterval()
    sys.setswitchinterval(max(usual, LOADING_SWITCH_S))
    try:
        yield
    finally:
        sys.setswitchinterval(usual)
