"""The ladder's lobby: resumed, adopted after a crash, or opened; never two."""

from __future__ import annotations

from typing import cast

import pytest

from kibitz_arena.ladder.entries import Entered, GameRequested, Hosted
from kibitz_arena.ladder.hosting import find_ladder_lobby, moving_entries, settings
from kibitz_arena.ladder.state import LadderState
from kibitz_protocol.client.client import Client
from kibitz_protocol.client.errors import RefusedError
from kibitz_protocol.wire.lobbies import HouseSeat, LobbyBrief, LobbySettings, OpenSeat
from kibitz_protocol.wire.messages import Done, LobbyList
from kibitz_protocol.wire.refusals import Code
from tests.arena.ladder.runs import ladder


class FakeServer:
    """A server with some lobbies, as seen by a host's client."""

    name = "ladder evening"

    def __init__(self, *open_: LobbyBrief) -> None:
        self.hall = self.hosting = self
        self.open = [*open_]
        self.hosted: list[LobbySettings] = []
        self.followed: list[str] = []

    async def lobbies(self) -> LobbyList:
        return LobbyList(re=1, lobbies=self.open)

    async def host(self, settings: LobbySettings) -> Done:
        self.hosted.append(settings)
        lobby = f"N{len(self.hosted)}"
        self.open.append(brief(lobby, settings.name, self.name))
        return Done(re=1, lobby=lobby)

    async def join(self, lobby: str, *, role: str) -> Done:
        assert role == "spectator"
        if lobby == "DAMAGED":
            raise RefusedError(Code.DAMAGED, "damaged")
        if lobby not in [each.lobby for each in self.open]:
            raise RefusedError(Code.NO_SUCH_LOBBY, "gone")
        self.followed.append(lobby)
        return Done(re=1)


def brief(lobby: str, name: str, host: str) -> LobbyBrief:
    return LobbyBrief(
        lobby=lobby,
        name=name,
        host=host,
        state="running",
        joinable="open",
        watchable=True,
        games=["line-nim"],
        members=0,
        places=8,
    )


def state(lobby: str | None = None) -> LadderState:
    entries = [] if lobby is None else [Hosted(at_ms=1, lobby=lobby)]
    return LadderState.fold(ladder(), entries)


async def find(server: FakeServer, of: LadderState) -> str:
    return await find_ladder_lobby(cast(Client, server), of)


async def test_the_lobby_of_the_journal_is_gone_on_with() -> None:
    server = FakeServer(brief("L1", "ladder evening", FakeServer.name))
    assert await find(server, state("L1")) == "L1"
    assert (server.hosted, server.followed) == ([], ["L1"])


@pytest.mark.parametrize("gone", ["L9", "DAMAGED", None])
async def test_a_new_one_is_opened_where_there_is_none(gone: str | None) -> None:
    others = [
        brief("L1", "ladder evening", "somebody else"),
        brief("L2", "ladder morning", FakeServer.name),
    ]
    server = FakeServer(*others)
    assert await find(server, state(gone)) == "N1"
    assert [each.name for each in server.hosted] == ["ladder evening"]


async def test_one_that_was_opened_before_a_crash_is_adopted() -> None:
    """The keeper was killed after it had opened a lobby and before it could journal that."""
    server = FakeServer(brief("L5", "ladder evening", FakeServer.name))
    assert await find(server, state()) == "L5"
    assert server.hosted == []


def test_games_of_another_lobby_are_cancelled() -> None:
    of = state("L1")
    for name in ("ada", "bob"):
        of.apply(Entered(at_ms=1, entrant=name, name=name, player="bot"))
    of.apply(
        GameRequested(
            at_ms=1, tag="g1", entrants=["ada", "bob"], players=["a", "b"], block=0, seed=1
        )
    )
    assert moving_entries(of, "L1", 2) == []
    for entry in moving_entries(of, "L2", 2):
        of.apply(entry)
    assert (of.lobby, of.outstanding, of.cancelled) == ("L2", {}, 1)


def test_the_settings_have_house_bots_and_places() -> None:
    made = settings(ladder(house=[{"bot": "line-nim/random"}], places=3, rated=True))
    assert [type(seat) for seat in made.seats] == [HouseSeat, *[OpenSeat] * 3]
    assert made.arranged
    assert made.rated
    assert not made.auto_start
