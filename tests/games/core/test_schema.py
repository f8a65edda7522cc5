from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from kibitz_games.core import registry, schema
from kibitz_games.core.position import Position
from tests.tools.profiles import some


def _schema(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}", "$defs": schema.document()["$defs"]}


def test_the_document_is_valid_and_the_same_every_time() -> None:
    jsonschema.Draft202012Validator.check_schema(schema.document())
    assert schema.text() == schema.text()
    assert json.loads(schema.text()) == schema.document()


@pytest.mark.parametrize("name", some(registry.names(), 3))
def test_what_travels_fits_the_schema(name: str) -> None:
    play = Position(registry.get(name))
    assert play.options is not None
    moves, views = _schema(f"{name}.Move"), _schema(f"{name}.View")
    jsonschema.validate(play.options.to_wire(), _schema(f"{name}.Options"))
    for _ in range(5):
        move = play.game.encode(play.state, play.legal[0])
        jsonschema.validate(move.to_wire(), moves)
        play.push_move(move)
        jsonschema.validate(play.view().to_wire(), views)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"board": "cube"}, _schema("chinese-checkers.Options"))
