"""A ladder's keeper on a simulated lobby in virtual time, which can be killed and restarted."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar, cast

import async_solipsism

from kibitz_arena.ladder.config import Ladder
from kibitz_arena.ladder.entries import Kept
from kibitz_arena.ladder.hosting import moving_entries, settings
from kibitz_arena.ladder.journal_file import LadderJournal
from kibitz_arena.ladder.keeper import LadderKeeper
from kibitz_arena.ladder.state import LadderState, PlayedGame
from kibitz_arena.ratings import rate_entrants
from kibitz_protocol.client.client import Client
from tests.arena.ladder.simulated_lobby import LOBBY, Behaviour, SimulatedLobby

Answer = TypeVar("Answer")
GAME = "line-nim"
EPOCH_MS = 1_700_000_000_000


def virtually(work: Coroutine[Any, Any, Answer]) -> Answer:
    """Run on a loop with virtual time; unwrap an exception that is alone in its group."""
    with asyncio.Runner(loop_factory=async_solipsism.EventLoop) as runner:
        try:
            return runner.run(work)
        except BaseExceptionGroup as group:
            raise group.exceptions[0] from None


def ladder(**fields: Any) -> Ladder:
    return Ladder.model_validate({"name": "evening", "game": GAME, **fields})


def now_ms() -> int:
    return EPOCH_MS + round(asyncio.get_running_loop().time() * 1000)


class KeeperRun:
    """A ladder, its lobby, and successive keepers; create it on the loop."""

    def __init__(
        self, path: Path, of: Ladder, how: Behaviour | None = None, *, seed: int = 0
    ) -> None:
        self.path = path
        self.ladder = of
        self.rng = random.Random(seed)
        self.lobby = SimulatedLobby(settings(of), self.rng, how or Behaviour())
        self.told: list[str] = []
        self.ended: list[PlayedGame] = []
        self.lossy = 0.0
        self.keepers = 0
        self._task: asyncio.Task[None] | None = None
        self._writing: asyncio.Task[Any] | None = None
        self._dying = False
        self.hung = asyncio.Event()
        """Set when a keeper that is to be killed reaches its last write."""

    @property
    def state(self) -> LadderState:
        return self.journal.state

    def begin(self) -> None:
        """Start a keeper with the journal on disk."""
        self.journal = LadderJournal(self.path, self.ladder)
        self.journal.append(Kept(at_ms=now_ms(), ladder=self.ladder.dump()))
        self.journal.append(*moving_entries(self.state, LOBBY, now_ms()))
        self.host = self.lobby.connect(lossy=self.lossy)
        self.keeper = LadderKeeper(
            cast(Client, self.host),
            LOBBY,
            self.journal,
            now=now_ms,
            rating=self.rating,
            on_ended=self.ended.append,
            tell=self.told.append,
            in_thread=self._write,
            draw=lambda: self.rng.getrandbits(53),
        )
        self.keepers += 1
        self._dying = False
        self.hung.clear()
        self._task = asyncio.create_task(self.keeper.keep())

    def rating(self, name: str) -> float:
        state = self.state
        if state.played and state.played % 50 == 0:
            self._ratings = rate_entrants(
                [*state.entrants], state.rated, self.ladder.anchors, self.ladder.mean
            )
        known = getattr(self, "_ratings", {}).get(name)
        return self.ladder.mean if known is None else known.rating

    async def _write(self, work: Callable[[bytes], None], lines: bytes) -> None:
        """Write like a thread; a writer that is about to be killed writes only a part."""
        self._writing = asyncio.current_task()
        await asyncio.sleep(0.001)
        if self._dying:
            work(lines[: self.rng.randrange(len(lines) + 1)])
            self.hung.set()
            await asyncio.get_running_loop().create_future()
        work(lines)

    async def kill(self) -> None:
        """Kill the keeper during its next write, at any byte, or while idle."""
        self._dying = True
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.hung.wait(), 5)
        assert self._task is not None
        # As if the process were killed: no `finally` block writes anything.
        self._task.cancel()
        self.journal.write = _nothing  # type: ignore[method-assign]
        if self._writing is not None:
            self._writing.cancel()
        await asyncio.wait({self._task}, timeout=1)
        self.lobby.connection = None
        self.journal.close()

    async def end(self) -> None:
        """Stop the keeper and wait for it."""
        self.keeper.stop()
        assert self._task is not None
        await self._task
        self.journal.close()

    def check_runs(self) -> None:
        """Raise if the keeper has ended."""
        assert self._task is not None
        assert not self._task.done()

    def check(self) -> None:
        """Raise the exception that ended the keeper, and close its journal."""
        assert self._task is not None
        if self._task.done():
            self.journal.close()
            try:
                self._task.result()
            except BaseExceptionGroup as group:
                raise group.exceptions[0] from None
            raise AssertionError("the keeper has ended")


def _nothing(lines: bytes) -> None:
    raise AssertionError("a process that was killed writes nothing")


class IdleMonitor:
    """Measures how long two possible opponents were both free."""

    def __init__(self, run: KeeperRun, *, house: set[str], paused: Callable[[str], bool]) -> None:
        self._run = run
        self._house = house
        self._paused = paused
        self._since: dict[str, float] = {}
        self.longest = 0.0
        self.samples = 0

    def forget(self) -> None:
        """Reset the measurement, because the keeper or the server was down."""
        self._since = {}

    def sample(self) -> None:
        now = asyncio.get_running_loop().time()
        free = {name for name in self._run.lobby.could_play() if not self._paused(name)}
        self._since = {name: self._since.get(name, now) for name in free}
        waited = sorted(((now - since, name) for name, since in self._since.items()), reverse=True)
        self.samples += 1
        players = [each for each in waited if each[1] not in self._house]
        company = [each for each in waited if each[1] in self._house]
        if len(players) > 1:
            self.longest = max(self.longest, players[1][0])
        if players and company:
            self.longest = max(self.longest, min(players[0][0], company[0][0]))
