"""Tool results reveal no hidden information: they are equal in two worlds and contain no markers.

The worlds are those of `tests/server/match/test_secrets.py`: two plays on a complete server that
differ only in information hidden from one seat.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kibitz_clients.mcp.player import ToolPlayer
from kibitz_games.core import registry
from kibitz_protocol.wire.codec import decode_server_message
from kibitz_protocol.wire.messages import Event, Finished, LobbyNews, Snapshot, YourTurn
from tests.tools.fake_connection import FakeServerConnection
from tests.tools.indistinguishable_plays import draw_pair
from tests.tools.secrecy_scenario import SecrecyTranscript, play_scenario
from tests.tools.simulation import make_template

HIDDEN = tuple(name for name in registry.names() if registry.get(name).info.hidden)
NEWS = (Snapshot, Event, YourTurn, Finished, LobbyNews)


def results(story: SecrecyTranscript, listener: str) -> list[str]:
    """Return the output of a player's tools after each message before the end."""
    games = {name: registry.get(name) for name in registry.names()}
    player = ToolPlayer(FakeServerConnection(), games, lambda: 0)
    said: list[str] = []
    for frame in story.before_end[listener]:
        if not frame.startswith(b"{") or b'"type"' not in frame:
            continue
        message = decode_server_message(frame)
        if isinstance(message, NEWS):
            player.link.take_in(message)
            said += [player.look(match) for match in player.matches()]
    return said


@pytest.mark.parametrize("name", HIDDEN)
@pytest.mark.parametrize("last", [False, True])
def test_two_worlds_read_the_same(name: str, last: bool, tmp_path: Path) -> None:
    make_template(tmp_path)
    game = registry.get(name)
    seats = max(game.info.seats)
    pair = draw_pair(game, seats, seats - 1 if last else 0, 5, plies=26)
    first, second = (play_scenario(pair, play, tmp_path) for play in (0, 1))
    told = results(first, first.seat)
    assert len(told) > 10
    assert told == results(second, second.seat)
    text = "\n".join(told)
    for story in (first, second):
        for kept in (story.secrets, story.private_notes):
            for owner, secrets in kept.items():
                assert owner == first.seat or not [each for each in secrets if each in text]
    other = f"p{(pair.seat + 1) % seats}"
    assert results(first, other) != told  # the compared output is not constant
