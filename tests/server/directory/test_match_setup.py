"""The setup of a match: built from validated settings of its lobby, with checks for the rest."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import Field, ValidationError

from kibitz_games.core import registry
from kibitz_games.core.game import Json
from kibitz_protocol.wire.codec import encode
from kibitz_protocol.wire.lobbies import LobbySettings
from kibitz_protocol.wire.records import Player, Setup
from kibitz_server.directory.match_setup import match_setup
from kibitz_server.lobby.commands import BeginMatch
from kibitz_server.lobby.entries import Opened
from kibitz_server.lobby.schedule import PlannedMatch
from kibitz_server.lobby.state import LobbyState
from tests.server.match.toy_games import Grid, GridOptions


def lobby_of(game: str, seats: int) -> LobbyState:
    item = {"game": game, "seats": seats}
    settings = LobbySettings.model_validate(
        {"seats": [{"kind": "open"}] * seats, "programme": [item]}
    )
    host = Player(player="p0", name="ada", kind="human")
    return LobbyState(
        Opened(
            lobby="abc", host=host, settings=settings, invite="i", created="now", seed=7, hidden=[]
        )
    )


def setup_of(lobby: LobbyState, game: Any, number: int = 1) -> Setup:
    [item] = lobby.settings.programme
    players = tuple(
        Player(player=f"p{seat}", name=f"n{seat}", kind="bot") for seat in range(item.seats)
    )
    planned = PlannedMatch(number, item, players, seed=number, block=2, tag="t")
    return match_setup(lobby, BeginMatch("abc-1-1", planned), game, rated=None, server="s")


@pytest.mark.parametrize("name", registry.names())
def test_a_setup_is_what_a_validated_one_would_be(name: str) -> None:
    game = registry.get(name)
    made = setup_of(lobby_of(name, game.info.seats[0]), game)
    assert made == Setup.model_validate_json(encode(made))
    assert made == Setup(**{field: getattr(made, field) for field in Setup.model_fields})


def test_matches_of_a_programme_share_their_options() -> None:
    lobby = lobby_of("toy-grid", 2)
    game = Grid()
    one, other = setup_of(lobby, game, 1), setup_of(lobby, game, 2)
    assert one.options is other.options
    assert one.seed != other.seed


class BadDeal(Grid):
    """A game with a deal that no record can store."""

    def deal(self, options: Any, seats: int, seed: int) -> dict[str, Json]:
        return {"cards": object()}  # type: ignore[dict-item]


class NestedOptions(GridOptions):
    board: dict[str, int] = Field(default_factory=lambda: {"columns": 3})


class BadOptions(Grid):
    """A game whose options are not flat fields."""

    Options = NestedOptions


@pytest.mark.parametrize(("game", "field"), [(BadDeal, "cards"), (BadOptions, "board")])
def test_what_a_game_gives_is_checked(game: type[Grid], field: str) -> None:
    lobby = lobby_of("toy-grid", 2)
    with pytest.raises(ValidationError, match=field):
        setup_of(lobby, game())
