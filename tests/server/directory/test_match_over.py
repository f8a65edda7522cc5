"""The end of a match: its players are notified first, its lobby in the next turn of the loop."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kibitz_protocol.wire.lobbies import MatchBrief
from kibitz_protocol.wire.records import Result
from kibitz_server.lobby.runner import LobbyRunner
from tests.tools.used_server import UsedServer, play_plies, start_match, used_server

SMALL = {"columns": 2, "rows": 2, "row": 2}
"""A board on which the third move wins."""


@pytest.fixture
def world(tmp_path: Path) -> Iterator[UsedServer]:
    with used_server(tmp_path) as used:
        yield used


def test_what_the_end_brings_is_written_before_the_lobby_hears_of_it(
    world: UsedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    cat, dan = world.guests["cat"], world.guests["dan"]
    heard: list[set[str]] = []
    match_ended = LobbyRunner.match_ended

    def noted(lobby: LobbyRunner, brief: MatchBrief, result: Result) -> None:
        heard.append({each["type"] for each in dan.messages(before)})
        match_ended(lobby, brief, result)

    match = start_match(world.server, cat, dan, options=SMALL)
    play_plies(world.server, match, 2, cat, dan)
    before = len(dan.messages())
    monkeypatch.setattr(LobbyRunner, "match_ended", noted)
    play_plies(world.server, match, 1, cat, dan)
    assert heard == [{"event", "finished"}]
    assert "match_ended" in {each["type"] for each in dan.messages(before)}


def test_a_lobby_that_fails_to_hear_of_an_end_stops_nobody(
    world: UsedServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    cat, dan = world.guests["cat"], world.guests["dan"]

    def failing(*_: Any) -> None:
        raise RuntimeError("planted")

    match = start_match(world.server, cat, dan, options=SMALL)
    with monkeypatch.context() as patch:
        patch.setattr(LobbyRunner, "match_ended", failing)
        play_plies(world.server, match, 3, cat, dan)
    assert f"the end of match {match}" in caplog.text
    play_plies(world.server, world.intact, 1, cat, dan)
    # The result is on disk: the lobby counts it at the next start.
    world.restart(lambda path: None)
    lobby = world.server.backend.registry.lobbies[match.partition("-")[0]]
    assert (lobby.engine.state.round.ended, lobby.engine.state.phase) == (1, "finished")


def test_an_end_of_which_its_lobby_could_not_hear_any_more_is_counted_at_the_next_start(
    world: UsedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    cat, dan = world.guests["cat"], world.guests["dan"]
    match = start_match(world.server, cat, dan, options=SMALL)
    play_plies(world.server, match, 2, cat, dan)
    # The server dies between the end of the match and the lobby's entry about it.
    monkeypatch.setattr(LobbyRunner, "match_ended", lambda *_: None)
    play_plies(world.server, match, 1, cat, dan)
    monkeypatch.undo()
    world.restart(lambda path: None)
    lobby = world.server.backend.registry.lobbies[match.partition("-")[0]]
    assert (lobby.engine.state.round.ended, lobby.engine.state.round.running) == (1, {})
