"""The benchmark of several nodes: a short run counts moves at each of them."""

from __future__ import annotations

import pytest

from benchmarks.nodes import Load, Setup, median, play, section
from tests.tools import postgres_server


def test_the_median_is_that_of_each_figure() -> None:
    loads = [Load(1, 20, 3, 4, 50, 6), Load(10, 2, 30, 40, 5, 60), Load(5, 10, 15, 20, 25, 30)]
    assert median(loads) == Load(5, 10, 15, 20, 25, 30)


def test_a_table_holds_servers_and_database_against_the_first() -> None:
    lines = section(
        "Play", {"SQLite": Load(9, 100, 0, 5, 1, 2), "1 node": Load(8, 120, 80, 5, 1, 2)}
    )
    assert lines[-1].splitlines()[-1].endswith("| 120 | 80 | 5 | 1.0 | 2.0 | 2.00 |")


@pytest.mark.e2e
async def test_two_nodes_are_measured_with_their_database() -> None:
    if postgres_server.programs() is None:
        pytest.skip(postgres_server.SKIPPED)
    load = await play(Setup("2 nodes", 2), 200, 1.0)
    assert load.moves_per_second > 20
    assert min(load.servers_us, load.database_us, load.clients_us, load.p50_ms) > 0
