"""Whole matches with server, clients and bots in one process, over real sockets.

What is about the processes themselves, kills and limits among it, is in `tests/e2e`.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from benchmarks.mnk import GAME
from kibitz_bots import connection
from kibitz_bots.catalog import PERSONALITIES
from kibitz_bots.connection import RunStats
from kibitz_games.core import registry
from kibitz_protocol.client.client import Client
from kibitz_protocol.wire.lobbies import LobbySettings, OpenSeat, ProgrammeItem
from kibitz_protocol.wire.recordfile import parse_record
from kibitz_protocol.wire.records import Cause, Conduct
from tests.tools.fleet import contradictions, fleet_of
from tests.tools.server_process import drawn_matches
from tests.tools.server_thread import ServerThread, server_thread

SMALL: dict[str, dict[str, int]] = {
    "chinese-checkers": {"size": 2},
    "tanks": {"turns": 40},
    "five-in-a-row": {"size": 6},
}
"""Options that make a game short."""
GREEDY = {"chinese-checkers": "greedy-hand"}
MATCHES = 12


@pytest.mark.parametrize("name", registry.names())
async def test_house_bots_play_a_match_or_a_block_of_every_game(name: str, tmp_path: Path) -> None:
    game = registry.get(name)
    seats = game.info.seats[0]
    wanted = seats if game.info.balanced else 1
    bots = [GREEDY.get(name, "greedy"), *["random"] * (seats - 1)]
    item = ProgrammeItem(game=name, seats=seats, options=dict(SMALL.get(name, {})))
    with server_thread(tmp_path, {name: game}, unlimited=True) as server:
        async with asyncio.timeout(120), Client(server.url, name="host") as host:
            settings = LobbySettings(
                seats=[OpenSeat()] * seats, programme=[item], conduct=Conduct(max_illegal=1)
            )
            lobby = (await host.host(settings)).lobby
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
    """Let a house bot play in a lobby, in this process."""
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
