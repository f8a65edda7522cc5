"""Requests for data that is not sent automatically: earlier events, and records of finished
matches."""

from __future__ import annotations

from kibitz_clients.matches.client_state import ClientState
from kibitz_clients.matches.fetch import RecordFetcher
from kibitz_clients.matches.recorded_match import build_timeline
from kibitz_clients.matches.timeline import Timeline
from kibitz_games.core.game import GameError
from kibitz_protocol.client.client import Client
from kibitz_protocol.client.errors import RefusedError


async def fetch_events(connection: Client, state: ClientState, match: str) -> bool:
    """Fetch some events of a match that are missing in `state`; return False if none are.

    Refused events are not requested again, since the host may hide the past from spectators. Raises
    any other `KibitzError` of the connection.
    """
    wanted = state.matches[match].missing()
    if wanted is None:
        return False
    try:
        events = (await connection.history(match, *wanted)).events
    except RefusedError:
        events = []
    state.fill_missing(match, events, wanted)
    return True


async def fetch_timeline(
    connection: Client, fetch: RecordFetcher, state: ClientState, match: str
) -> Timeline:
    """Fetch the record of a finished match and replay it.

    Raises `OSError` and `RecordError` like `fetch`, and `GameError` for an unknown game.
    """
    record = await fetch(connection.url, match)
    game = state.games.get(record.setup.game)
    if game is None:
        raise GameError(f"unknown game {record.setup.game!r}")
    return build_timeline(game, record, f"the record of {match}")
