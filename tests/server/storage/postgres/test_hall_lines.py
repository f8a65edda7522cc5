"""Nodes' lines in PostgreSQL: lost, refused and old ones, and listening connections."""

from __future__ import annotations

import asyncio

import pytest

from kibitz_server.storage.location import PostgresURL
from kibitz_server.storage.postgres import hall_lines
from kibitz_server.storage.postgres.store import PostgresStore
from tests.server.storage.conformance.engines import (
    RecordingWaiter,
    nodes_of,
    written,
)
from tests.server.storage.conformance.test_hall_lines import exchange, lines_of
from tests.server.storage.conformance.test_nodes import closed
from tests.server.storage.postgres.test_nodes import execute, node

pytestmark = pytest.mark.e2e


def own(url: PostgresURL, name: str) -> PostgresStore:
    """Start a node with its own URL."""
    return node(url, name, f"ws://{name}.example.org")


async def test_a_line_that_was_lost_is_missing(url: PostgresURL) -> None:
    """The owner of a lost line learns of the loss in its next exchange and rewrites it."""
    first, second = own(url, "a"), own(url, "b")
    written(first, "x", 0, RecordingWaiter())
    await first.flush()
    await exchange(first, x=b"x")
    execute(url, "UPDATE hall_line SET node = 'b', line = 'stale' WHERE key = 'x'")
    assert (await exchange(first)).missing == {"x"}
    assert not (await exchange(first, x=b"x")).missing
    await closed(first, second)


async def test_lines_that_are_gone_are_kept_for_a_while(
    url: PostgresURL, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = own(url, "a")
    await nodes_of(first).exchange({"node a": b"here"})
    await nodes_of(first).exchange({"node a": None})
    assert execute(url, "SELECT count(*) FROM hall_line") == [(1,)]
    monkeypatch.setattr(hall_lines, "KEPT_S", 0)
    await asyncio.sleep(0.01)
    await nodes_of(first).exchange({"node a b": None})
    assert execute(url, "SELECT key FROM hall_line") == [("node a b",)]
    await first.close()


async def test_after_an_error_everything_is_written_and_read_again(url: PostgresURL) -> None:
    first, second = own(url, "a"), own(url, "b")
    await nodes_of(second).exchange({"node b": b"here"})
    await exchange(first)
    assert not nodes_of(first).needs_all
    execute(url, "ALTER TABLE hall_line RENAME TO away")
    with pytest.raises(Exception, match="hall_line"):
        await exchange(first)
    execute(url, "ALTER TABLE away RENAME TO hall_line")
    assert nodes_of(first).needs_all
    assert lines_of(await exchange(first)) == {"node b": ("b", b"here")}
    await closed(first, second)
