"""Finished objects are freed immediately, since garbage collections would delay all moves."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from kibitz_server.lobby.runner import LobbyRunner
from kibitz_server.match.runner import MatchRunner
from kibitz_server.storage.errors import StoreError
from tests.tools.used_server import UsedServer, play_plies, start_match, used_server

SMALL = {"columns": 2, "rows": 2, "row": 2}
"""A board on which the third move wins."""


@pytest.fixture
def world(tmp_path: Path) -> Iterator[UsedServer]:
    """Yield a server with garbage collection disabled."""
    with used_server(tmp_path) as used:
        gc.collect()
        gc.disable()
        try:
            yield used
        finally:
            gc.enable()


def in_memory(kind: type[MatchRunner | LobbyRunner]) -> set[str]:
    """Return the keys of all matches or lobbies that are still referenced."""
    return {each.key for each in gc.get_objects() if type(each) is kind}


def test_a_match_that_is_over_and_forgotten(world: UsedServer) -> None:
    cat, dan = world.guests["cat"], world.guests["dan"]
    match = start_match(world.server, cat, dan, options=SMALL)
    play_plies(world.server, match, 3, cat, dan)
    assert match in in_memory(MatchRunner)
    world.server.backend.registry.forget_matches([match])
    assert match not in in_memory(MatchRunner)
    listed = {brief["match"] for brief in cat.ask("list_matches")["matches"]}
    assert match not in listed
    assert world.finished in listed


def test_a_match_that_was_loaded_again(world: UsedServer) -> None:
    cat, dan = world.guests["cat"], world.guests["dan"]
    key = start_match(world.server, cat, dan, options=SMALL)
    match = world.server.backend.registry.matches[key]
    match.lost(StoreError("a planted loss"))
    del match
    world.server.advance(2)
    runners = [each for each in gc.get_objects() if type(each) is MatchRunner and each.key == key]
    assert runners == [world.server.backend.registry.matches[key]]


def test_a_lobby_that_is_closed(world: UsedServer) -> None:
    cat, dan = world.guests["cat"], world.guests["dan"]
    match = start_match(world.server, cat, dan, options=SMALL)
    play_plies(world.server, match, 3, cat, dan)
    lobby = match.partition("-")[0]
    assert lobby in in_memory(LobbyRunner)
    cat.ask("close", lobby=lobby)
    world.server.advance(1)
    assert lobby not in world.server.backend.registry.lobbies
    assert lobby not in in_memory(LobbyRunner)
