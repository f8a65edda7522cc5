"""A server on PostgreSQL: it is killed, its database is killed, and nothing is lost."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from kibitz_server.accounts.token_admin import TokenAdmin
from kibitz_server.storage.location import PostgresURL
from tests.tools.fleet import Fleet, contradictions, fleet_of
from tests.tools.measurements import ReportFigure
from tests.tools.mnk import GAME
from tests.tools.postgres_server import PostgresCluster
from tests.tools.server_process import ServerProcess, drawn_matches, server_process

MATCHES = 12


async def untrue(process: ServerProcess, fleet: Fleet) -> list[str]:
    """Return the contradictions between the records and the fleet's messages."""
    records = {
        match: await asyncio.to_thread(process.page, f"/records/{match}.jsonl")
        for match in fleet.seats
    }
    return contradictions(fleet, GAME, records)


async def test_a_killed_server_has_lost_nothing(tmp_path: Path, cluster: PostgresCluster) -> None:
    with server_process(tmp_path, db=cluster.url, unlimited=True) as server:
        async with (
            asyncio.timeout(100),
            fleet_of(server.url, MATCHES, drawn_matches(6), pause=0.03) as fleet,
        ):
            for moves in (100, 220):
                await fleet.moved(moves)
                server.kill()
                await asyncio.to_thread(server.start)
            await fleet.finished(MATCHES)
        assert await untrue(server, fleet) == []
        assert server.error_lines() == []
    assert fleet.moves == MATCHES * 36


async def test_a_killed_database_has_lost_nothing(
    tmp_path: Path, cluster: PostgresCluster, report: ReportFigure
) -> None:
    """Three kills: a short outage, one longer than all retries of a commit, and a short one."""
    closed, resumed = [], []
    with server_process(tmp_path, db=cluster.url, unlimited=True) as server:
        async with (
            asyncio.timeout(150),
            fleet_of(server.url, MATCHES, drawn_matches(8), pause=0.1) as fleet,
        ):
            for outage_s in (0.5, 8.0, 0.2):
                await fleet.moved(fleet.moves + 80)
                cluster.kill()
                began = time.monotonic()
                await _until_status(server, 503)
                closed.append(time.monotonic() - began)
                acknowledged = fleet.moves
                await asyncio.sleep(outage_s)
                assert fleet.moves == acknowledged
                await asyncio.to_thread(cluster.start)
                began = time.monotonic()
                await _until_status(server, 200)
                await fleet.moved(acknowledged + 1)
                resumed.append(time.monotonic() - began)
            await fleet.finished(MATCHES)
        assert await untrue(server, fleet) == []
    assert fleet.moves == MATCHES * 64
    report(f"fail closed within {max(closed):.2f} s, moves again within {max(resumed):.2f} s")


async def _until_status(server: ServerProcess, status: int) -> None:
    while await asyncio.to_thread(server.status, "/readyz") != status:  # noqa: ASYNC110
        await asyncio.sleep(0.05)


def test_a_second_server_is_refused(tmp_path: Path, cluster: PostgresCluster) -> None:
    (tmp_path / "second").mkdir()
    second = ServerProcess(tmp_path / "second", {"db": cluster.url})
    with server_process(tmp_path, db=cluster.url):
        with pytest.raises(EOFError, match=r"another server has .* open"):
            second.start()
        second.terminate()
        with TokenAdmin(PostgresURL(cluster.url)) as register:
            issued = register.issue("Deep", "bot")
            assert [line.id for line in register.tokens()] == [issued.id]
