from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from kibitz_bots.running.warmup import exercise_rules, warm_up
from kibitz_bots.sdk import Bot, Move, Turn
from kibitz_games.core import registry
from kibitz_games.core.game import Game
from kibitz_protocol.wire.lobbies import ProgrammeItem


def _noting(found: list[str], game: Game) -> Callable[[Any, Any], int]:
    """Return the game's `decode`, which notes the game in `found` first."""
    right = game.decode

    def decode(state: Any, move: Any) -> int:
        found.append(game.info.name)
        return right(state, move)

    return decode


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The games in which a move was parsed, the last step of a turn."""
    found: list[str] = []
    for name in registry.names():
        game = registry.get(name)
        monkeypatch.setattr(game, "decode", _noting(found, game))
    return found


@pytest.mark.parametrize("name", registry.names())
def test_a_first_turn_is_gone_through_to_its_move(name: str, decoded: list[str]) -> None:
    for seats in registry.get(name).info.seats:
        exercise_rules([ProgrammeItem(game=name, seats=seats)], [])
    assert decoded == [name] * len(registry.get(name).info.seats)


def test_games_of_others_and_games_unknown_are_left_out(decoded: list[str]) -> None:
    first, second = registry.names()[:2]
    seats = max(registry.get(second).info.seats)
    items = [ProgrammeItem(game=name, seats=seats) for name in (first, "go", second)]
    exercise_rules(items, [second])
    assert decoded == [second]


class _Idle(Bot):
    def choose(self, turn: Turn) -> Move:
        return turn.legal[0]


class _Ready(_Idle):
    def __init__(self) -> None:
        self.warmed: list[ProgrammeItem] = []

    def prepare(self, programme: Sequence[ProgrammeItem]) -> None:
        self.warmed += programme


def test_who_gets_ready_has_a_first_turn_too_and_others_load_nothing(decoded: list[str]) -> None:
    name = registry.names()[0]
    items = [ProgrammeItem(game=name, seats=registry.get(name).info.seats[0])]
    bot = _Ready()
    warm_up(bot, items)
    assert bot.warmed == items
    assert decoded == [name]
    warm_up(_Idle(), items)
    assert decoded == [name]
