"""Complete matches with server, clients and bots in one process, over real sockets.

Tests of processes, such as kills and limits, are in `tests/e2e`.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect

from kibitz.text.lobby_progress import LobbyProgress
from kibitz.text.result_tables import abnormal_endings
from kibitz_bots.catalog import PERSONALITIES
from kibitz_bots.running import connection
from kibitz_bots.running.connection import RunStats
from kibitz_games.core import registry
from kibitz_protocol.client import connection as client_connection
from kibitz_protocol.client.client import Client
from kibitz_protocol.wire.lobbies import LobbySettings, OpenSeat, ProgrammeItem
from kibitz_protocol.wire.messages import MatchEnded, YourTurn
from kibitz_protocol.wire.recordfile import parse_record
from kibitz_protocol.wire.records import Cause, Conduct
from tests.tools.fleet import contradictions, fleet_of
from tests.tools.mnk import GAME
from tests.tools.server_process import drawn_matches
from tests.tools.server_thread import ServerThread, server_thread

SMALL: dict[str, dict[str, int]] = {
    "chinese-checkers": {"size": 2},
    "tanks": {"turns": 40},
    "five-in-a-row": {"size": 6},
}
"""Options for short matches."""
MATCHES = 12


@pytest.mark.parametrize("name", registry.names())
async def test_house_bots_play_a_match_or_a_block_of_every_game(name: str, tmp_path: Path) -> None:
    game = registry.get(name)
    seats = game.info.seats[0]
    wanted = seats if game.info.balanced else 1
    bots = ["greedy", *["random"] * (seats - 1)]
    item = ProgrammeItem(game=name, seats=seats, options=dict(SMALL.get(name, {})))
    with server_thread(tmp_path, {name: game}, unlimited=True) as server:
        async with asyncio.timeout(120), Client(server.url, name="host") as host:
            settings = LobbySettings(
                seats=[OpenSeat()] * seats, programme=[item], conduct=Conduct(max_illegal=1)
            )
            lobby = (await host.hosting.host(settings)).lobby
            assert lobby is not None
            runs = await asyncio.gather(
                *(
                    play(server, lobby, f"{name}/{bot}", f"{bot} {seat}", wanted)
                    for seat, bot in enumerate(bots)
                )
            )
        records = [
            parse_record((await asyncio.to_thread(server.page, path)).splitlines())
            for path in (f"/records/{lobby}-1-{number + 1}.jsonl" for number in range(wanted))
        ]
    assert all(run.clean and run.played == wanted for run in runs)
    for seat in range(seats):
        assert len({record.setup.seats[seat].name for record in records}) == wanted
    for record in records:
        assert record.footer is not None
        assert record.footer.result.cause is Cause.RULES


async def play(
    server: ServerThread, lobby: str, personality: str, name: str, matches: int
) -> RunStats:
    """Run a house bot in a lobby in this process."""
    make = PERSONALITIES[personality].make
    return await connection.run(make, server.url, lobby=lobby, name=name, matches=matches)


async def test_every_match_ends_and_everybody_saw_what_the_records_say(tmp_path: Path) -> None:
    with server_thread(tmp_path, unlimited=True) as server:
        async with asyncio.timeout(40), fleet_of(server.url, MATCHES, drawn_matches(6)) as fleet:
            await fleet.finished(MATCHES)
        records = {
            match: await asyncio.to_thread(server.page, f"/records/{match}.jsonl")
            for match in fleet.seats
        }
        assert contradictions(fleet, GAME, records) == []
        assert len(fleet.seats) == MATCHES
        assert fleet.moves == MATCHES * 36
        assert not fleet.lag_counts
        assert {end.result.plies for end in fleet.ended.values()} == {36}
        viewers = {viewer for viewer, _ in fleet.events}
        assert len(viewers) == 2 * MATCHES + 1


class Line:
    """A network for new connections; while it is `down`, none succeeds."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.down = False
        self._open: list[ClientConnection] = []
        monkeypatch.setattr(client_connection, "connect", self._connect)

    def cut(self) -> None:
        self.down = True
        for each in self._open:
            each.transport.abort()

    async def _connect(self, url: str, **options: Any) -> ClientConnection:
        if self.down:
            raise OSError("the line is down")
        self._open.append(await connect(url, **options))
        return self._open[-1]


async def resign(player: Client, matches: int) -> None:
    """Resign the next matches as soon as they start, and wait for their ends."""
    async for message in player.news():
        if isinstance(message, YourTurn):
            await player.resign(message.match)
        matches -= isinstance(message, MatchEnded)
        if not matches:
            return


@pytest.mark.parametrize("listed", [True, False])
async def test_a_host_who_was_away_is_told_how_matches_ended(
    tmp_path: Path, listed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of three matches, two end and one starts while it is disconnected."""
    item = ProgrammeItem(game="mnk", seats=2, games=3, rotate=False)
    settings = LobbySettings(listed=listed, seats=[OpenSeat()] * 2, programme=[item], at_once=1)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(asyncio.timeout(60))
        url = stack.enter_context(server_thread(tmp_path, unlimited=True)).url
        players = [
            await stack.enter_async_context(Client(url, name=name)) for name in ("ada", "bob")
        ]
        line = Line(monkeypatch)
        host = await stack.enter_async_context(Client(url, name="host"))
        lobby = (await host.hosting.host(settings)).lobby
        assert lobby is not None
        await host.join(lobby, role="spectator")
        for player in players:
            await player.join(lobby)
        for player in players:
            await player.ready(lobby)
        progress, lines = LobbyProgress(lobby), list[str]()
        async for sentence in progress.follow(host):
            lines.append(sentence.partition(":")[0])
            if lines[-1] == "match 1 begins":
                line.cut()
                await resign(players[0], 2)
                line.down = False
            if lines[-1] == "match 3 begins":
                await resign(players[0], 1)
    assert sorted(line for line in lines if line.startswith("match")) == [
        "match 1 begins", "match 1 ends", "match 2 ends", "match 3 begins", "match 3 ends"
    ]  # fmt: skip
    assert abnormal_endings(progress.matches) == []
