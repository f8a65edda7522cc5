"""Input is never converted: the models of every game accept only the exact JSON types.

As stated in `docs/protocol`, integers are never written as ``1.0`` or ``"1"``, fields that do not
apply are omitted, and unknown fields are refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from kibitz_games.core import registry
from kibitz_games.core.game import TERMINAL, Game, Model
from kibitz_games.core.position import Position
from tests.games import cases
from tests.tools import profiles

LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 130),
    st.floats(-3, 130).map(lambda number: float(round(number))),
    st.sampled_from(["0", " 6 ", "6", "up", "black", "true", "yes", "star", "1/3", "mean", ""]),
)
VALUES = st.one_of(LEAVES, st.lists(LEAVES, max_size=3))


def _read(model: type[Model], sent: dict[str, Any]) -> Model | None:
    """Parse a message like the server; None if it is refused."""
    try:
        return model.from_wire(json.loads(json.dumps(sent)))
    except ValidationError:
        return None


def _same(sent: Any, dumped: Any) -> bool:
    """Return whether a value equals the sent one, including all types."""
    if isinstance(sent, list) and isinstance(dumped, list):
        return len(sent) == len(dumped) and all(map(_same, sent, dumped))
    return type(sent) is type(dumped) and bool(sent == dumped)


def _models(name: str) -> list[type[Model]]:
    game = registry.get(name)
    return [game.Move, game.Options]


def _wire_names(model: type[Model]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


@pytest.mark.parametrize("name", registry.names())
@given(st.data())
@settings(max_examples=profiles.examples(150), deadline=None)
def test_what_is_read_is_what_was_sent(name: str, data: st.DataObject) -> None:
    for model in _models(name):
        names = st.sampled_from(_wire_names(model) or ["nothing"])
        sent = data.draw(st.dictionaries(names, VALUES, max_size=4))
        read = _read(model, sent)
        if read is None:
            continue
        dumped = read.to_wire()
        for field, value in sent.items():
            assert value is None or _same(value, dumped[field]), (field, value, dumped[field])


def _moves(name: str) -> Iterator[tuple[Game, dict[str, Any]]]:
    """Yield moves of short plays with all test options of the game."""
    for game, options, seats in cases.setups(name):
        play = Position(game, options, seats, seed=3)
        for _ in range(4):
            if play.to_act == TERMINAL:
                break
            for action in {play.legal[0], play.legal[-1]}:
                yield game, game.encode(play.state, action).to_wire()
            play.push(play.legal[len(play.legal) // 2])


def _other_types(value: Any) -> Iterator[Any]:
    """Yield invalid alternatives that a client might send."""
    yield [value]
    yield {"value": value}
    if isinstance(value, bool):
        yield from (int(value), str(value).lower(), "yes", float(value))
    elif isinstance(value, int):
        yield from (float(value), str(value), f" {value} ", value + 0.5)
        if value in (0, 1):
            yield bool(value)
    else:
        yield from (f" {value}", value.upper(), 0, True)


@pytest.mark.parametrize("name", registry.names())
def test_a_move_in_other_types_is_refused(name: str) -> None:
    tried = 0
    for game, move in _moves(name):
        assert game.Move.from_wire(move).to_wire() == move
        for field, value in move.items():
            for other in _other_types(value):
                assert _read(game.Move, move | {field: other}) is None, (field, other)
                tried += 1
        assert _read(game.Move, {**move, "more": 1}) is None
    assert tried > 20


@pytest.mark.parametrize("name", registry.names())
def test_optional_fields_may_be_null_and_names_are_those_of_the_wire(name: str) -> None:
    for game, move in _moves(name):
        model = game.Move
        absent = {
            field.alias or own: None
            for own, field in model.model_fields.items()
            if not field.is_required()
        }
        assert model.from_wire(absent | move).to_wire() == move
        for own, field in model.model_fields.items():
            if field.alias in move:
                written = {own if key == field.alias else key: move[key] for key in move}
                with pytest.raises(ValidationError, match=own):
                    model.from_wire(written)


@pytest.mark.parametrize("name", registry.names())
def test_options_in_other_types_are_refused(name: str) -> None:
    tried = 0
    for game, options, _ in cases.setups(name):
        sent = options.to_wire()
        assert _read(game.Options, json.loads(json.dumps(sent))) == options
        for field, value in sent.items():
            if isinstance(value, bool | int):
                taken = [other for other in _other_types(value) if type(other) is not list]
                taken = [other for other in taken if field != "threshold" or type(other) is not str]
                for other in taken:
                    assert _read(game.Options, sent | {field: other}) is None, (field, other)
                    tried += 1
    assert tried >= 10 or not registry.get(name).Options.model_fields
