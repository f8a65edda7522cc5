"""The lobby of a tournament."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Literal, cast

import pytest

from kibitz_arena.runner.directory import HostSession, TournamentDirectory
from kibitz_arena.runner.hosting import ServerOptions, TournamentHost, connect_host
from kibitz_protocol.client.client import Client
from kibitz_protocol.client.errors import HelloRefusedError
from kibitz_protocol.wire.records import Spectating
from kibitz_protocol.wire.refusals import Code
from tests.arena.tournaments import event


@pytest.mark.parametrize(
    ("keys", "comments", "delay_ms"),
    [({}, "after", 0), ({"comments": "spectators", "spectator_delay": 2.5}, "spectators", 2500)],
)
def test_the_organizer_chooses_when_spectators_see_comments(
    keys: dict[str, Any], comments: Literal["after", "spectators"], delay_ms: int, tmp_path: Path
) -> None:
    host = TournamentHost(event(3, **keys), TournamentDirectory(tmp_path), ServerOptions())
    assert host._settings({}).spectating == Spectating(comments=comments, delay_ms=delay_ms)


class Players:
    """The players known to a server, by secret."""

    def __init__(self, *secrets: str) -> None:
        self.secrets = [*secrets]
        self.refusal = Code.UNAUTHORIZED

    def client(self, resume: str | None) -> Client:
        return cast(Client, self._connect(resume))

    @contextlib.asynccontextmanager
    async def _connect(self, resume: str | None) -> AsyncIterator[Any]:
        if resume is None:
            self.secrets.append(f"new-{len(self.secrets)}")
        elif resume not in self.secrets:
            raise HelloRefusedError(self.refusal, "unknown")
        yield HostSession(resume=resume or self.secrets[-1])


@pytest.fixture
def directory(tmp_path: Path) -> TournamentDirectory:
    made = TournamentDirectory(tmp_path / "cup.arena")
    made.create(tmp_path)
    return made


async def secret_used(
    directory: TournamentDirectory, server: str, players: Players, *, anonymous: bool = True
) -> str:
    async with connect_host(directory, server, players.client, anonymous) as client:
        return client.resume


async def test_a_host_comes_back_as_the_player_it_was(directory: TournamentDirectory) -> None:
    players = Players()
    first = await secret_used(directory, "ws://a", players)
    session = HostSession(resume=first, server="ws://a", lobby="L1")
    directory.save_host_session(session)
    assert await secret_used(directory, "ws://a", players) == first
    assert directory.host_session() == session


async def test_a_secret_is_for_its_server(directory: TournamentDirectory) -> None:
    directory.save_host_session(HostSession(resume="old", server="ws://a", lobby="L1"))
    assert await secret_used(directory, "ws://b", Players("old")) == "new-1"
    assert directory.host_session() == HostSession(resume="new-1", server="ws://b")


async def test_a_server_that_does_not_know_the_host_gets_a_new_one(
    directory: TournamentDirectory,
) -> None:
    directory.save_host_session(HostSession(resume="old", server="ws://a", lobby="L1"))
    directory.save_secret("Ada", "older")
    assert await secret_used(directory, "ws://a", Players()) == "new-0"
    assert directory.host_session() == HostSession(resume="new-0", server="ws://a")
    assert directory.load_secret("Ada") is None


async def test_another_refusal_keeps_the_secret(directory: TournamentDirectory) -> None:
    directory.save_host_session(HostSession(resume="old", server="ws://a"))
    players = Players()
    players.refusal = Code.RATE_LIMITED
    with pytest.raises(HelloRefusedError):
        await secret_used(directory, "ws://a", players)
    assert directory.host_session() == HostSession(resume="old", server="ws://a")


async def test_an_account_needs_no_secret_and_finds_its_lobby(
    directory: TournamentDirectory,
) -> None:
    directory.save_host_session(HostSession(resume="old", server="ws://a", lobby="L1"))
    await secret_used(directory, "ws://a", Players(), anonymous=False)
    session = directory.host_session()
    assert session is not None
    assert session.lobby == "L1"
