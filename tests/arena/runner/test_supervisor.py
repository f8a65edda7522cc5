"""Entrants' processes are kept running, however they are started."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

import pytest

from kibitz_arena.runner.directory import TournamentDirectory
from kibitz_arena.runner.services import JoinInfo, Services, WaitExit
from kibitz_arena.runner.supervisor import (
    MAX_CRASHES,
    EntrantFailedError,
    EntrantSupervisor,
    describe_status,
)
from kibitz_arena.tournament import Entrant
from tests.arena import tournaments

JOIN = JoinInfo("ws://127.0.0.1:9", "L1", 2)


class Processes:
    """Services whose processes are warm immediately and exit as scripted."""

    def __init__(self, statuses: dict[str, list[int]], had_games: bool = False) -> None:
        self.had_games = had_games
        """Whether each exited process loses a running game."""
        self.statuses = statuses
        """Exit statuses of an entrant's processes, in order; later processes keep running."""
        self.started: list[tuple[str, str]] = []
        """The started entrants with their secrets."""
        self.running: set[str] = set()
        self.connected = asyncio.Event()
        self.settled = asyncio.Event()
        """Set once a process has been started after all those with a scripted exit."""

    @contextlib.asynccontextmanager
    async def entrant(
        self, entrant: Entrant, join: JoinInfo, *, secret: str, hold: int
    ) -> AsyncIterator[WaitExit]:
        assert join is JOIN
        self.started.append((entrant.name, secret))
        if self.statuses.get(entrant.name) == []:
            self.settled.set()
        self.running.add(entrant.name)
        try:
            yield Processes.Process(self, entrant.name, hold).wait
        finally:
            self.running.remove(entrant.name)

    def token(self, entrant: Entrant) -> str | None:
        return None

    def log_tail(self, name: str) -> str:
        return f"the last words of {name}"

    class Process:
        def __init__(self, all_processes: Processes, name: str, hold: int) -> None:
            self._all, self._name = all_processes, name
            self._socket = socket.fromfd(hold, socket.AF_UNIX, socket.SOCK_STREAM)
            self._socket.setblocking(False)

        async def wait(self) -> int:
            left = self._all.statuses.get(self._name)
            with self._socket:
                loop = asyncio.get_running_loop()
                await loop.sock_sendall(self._socket, b"w")
                if left:
                    await asyncio.sleep(0)
                    return left.pop(0)
                await loop.sock_recv(self._socket, 1)
                self._all.connected.set()
                return await asyncio.Future()


@pytest.fixture
def directory(tmp_path: Path) -> TournamentDirectory:
    made = TournamentDirectory(tmp_path / "cup.arena")
    made.create(tmp_path)
    for name in tournaments.NAMES:
        made.save_secret(name, f"secret-of-{name}")
    return made


def supervisor(
    directory: TournamentDirectory, processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> EntrantSupervisor:
    """Supervise two bots, without resigning games, which would need a server."""
    bots = [{"name": name, "bot": "line-nim/random"} for name in ("Ada", "Bob")]
    tournament = tournaments.event(2).model_copy(
        update={"entrants": [Entrant.model_validate(each) for each in bots]}
    )

    async def resign(self: EntrantSupervisor, entrant: Entrant, why: str) -> bool:
        return processes.had_games

    monkeypatch.setattr(EntrantSupervisor, "_resign_games", resign)
    monkeypatch.setattr("kibitz_arena.runner.supervisor.PAUSE_SECONDS", 0.0)
    services = cast(Services, processes)
    return EntrantSupervisor(
        tournament, directory, services, JOIN, played=lambda name: 0, tell=lambda line: None
    )


async def test_all_connect_once_all_are_warm(
    directory: TournamentDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    processes = Processes({})
    running = asyncio.ensure_future(supervisor(directory, processes, monkeypatch).run())
    await asyncio.wait_for(processes.connected.wait(), 5)
    assert processes.started == [("Ada", "secret-of-Ada"), ("Bob", "secret-of-Bob")]
    running.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await running
    assert not processes.running


async def test_a_process_that_ends_is_started_again_as_the_same_player(
    directory: TournamentDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    processes = Processes({"Bob": [1, -9]})
    running = asyncio.ensure_future(supervisor(directory, processes, monkeypatch).run())
    await asyncio.wait_for(processes.settled.wait(), 5)
    assert processes.started.count(("Bob", "secret-of-Bob")) == 3
    assert processes.started.count(("Ada", "secret-of-Ada")) == 1
    running.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await running


async def test_an_entrant_that_loses_each_game_by_a_crash_is_kept_running(
    directory: TournamentDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    crashes = 2 * MAX_CRASHES
    processes = Processes({"Bob": [1] * crashes}, had_games=True)
    running = asyncio.ensure_future(supervisor(directory, processes, monkeypatch).run())
    await asyncio.wait_for(processes.settled.wait(), 5)
    assert processes.started.count(("Bob", "secret-of-Bob")) == crashes + 1
    running.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await running


@pytest.mark.parametrize("statuses", [[1] * MAX_CRASHES, [2]], ids=["crashes", "cannot start"])
async def test_who_cannot_be_kept_running_ends_all(
    directory: TournamentDirectory, monkeypatch: pytest.MonkeyPatch, statuses: list[int]
) -> None:
    processes = Processes({"Bob": list(statuses)})
    with pytest.raises(ExceptionGroup) as raised:
        await asyncio.wait_for(supervisor(directory, processes, monkeypatch).run(), 5)
    [error] = raised.value.exceptions
    assert isinstance(error, EntrantFailedError)
    assert error.name == "Bob"
    assert str(error).endswith("the last words of Bob")
    assert not processes.running


async def test_an_entrant_that_connects_from_elsewhere_is_not_started(
    directory: TournamentDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    processes = Processes({})
    watched = supervisor(directory, processes, monkeypatch)
    far = [Entrant.model_validate({"name": name, "remote": True}) for name in ("Ada", "Bob")]
    watched._tournament = tournaments.event(2).model_copy(update={"entrants": far})
    await watched.run()
    assert not processes.started


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (3, "ended with status 3"),
        (-9, "was killed by SIGKILL"),
        (137, "ended with status 137, probably by SIGKILL"),
    ],
)
def test_a_kill_from_outside_is_told_from_an_end(status: int, said: str) -> None:
    assert describe_status(status) == said
