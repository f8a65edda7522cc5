"""Earlier events and records of finished matches."""

from __future__ import annotations

import pytest

from kibitz_clients.matches.client_state import ClientState
from kibitz_clients.matches.match_source import fetch_events, fetch_timeline
from kibitz_games.core.game import Game, GameError
from kibitz_protocol.client.errors import ClosedError, RefusedError
from kibitz_protocol.wire.messages import EventList
from kibitz_protocol.wire.recordfile import Record
from kibitz_protocol.wire.refusals import Code
from tests.tools import fake_connection as testing
from tests.tools.fake_connection import FakeServerConnection


def late(game: Game, record: Record) -> ClientState:
    """Return the state of a client that joined after twenty plies."""
    state = ClientState({game.info.name: game})
    state.apply(testing.snapshot(game, record, 20), 0)
    return state


async def test_events_are_fetched_until_none_is_missing(game: Game, running: Record) -> None:
    state, connection = late(game, running), FakeServerConnection()
    connection.events["M1"] = testing.events(game, running)
    assert await fetch_events(connection, state, "M1")
    assert not await fetch_events(connection, state, "M1")
    assert [frame.seq for frame in state.matches["M1"].frames] == list(range(21))


async def test_events_that_are_refused_are_not_asked_for_again(game: Game, running: Record) -> None:
    state, connection = late(game, running), FakeServerConnection()
    connection.refusals["history"] = RefusedError(Code.NOT_WATCHABLE, "the host keeps the past")
    assert await fetch_events(connection, state, "M1")
    assert not await fetch_events(connection, state, "M1")
    assert len(connection.requests) == 1


async def test_the_end_of_a_session_is_raised(game: Game, running: Record) -> None:
    class Closed(FakeServerConnection):
        async def history(self, match: str, first: int = 1, count: int = 200) -> EventList:
            raise ClosedError("closed")

    with pytest.raises(ClosedError):
        await fetch_events(Closed(), late(game, running), "M1")


async def test_a_record_is_replayed_where_its_game_is_known(game: Game, finished: Record) -> None:
    async def fetch(url: str, match: str) -> Record:
        assert (url, match) == ("ws://127.0.0.1:1", "M2")
        return finished

    state = ClientState({game.info.name: game})
    timeline = await fetch_timeline(FakeServerConnection(), fetch, state, "M2")
    assert timeline.newest.seq == len(finished.entries)
    assert timeline.over
    with pytest.raises(GameError, match="unknown game 'chinese-checkers'"):
        await fetch_timeline(FakeServerConnection(), fetch, ClientState({}), "M2")
