from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from kibitz_games.core import registry, schema
from kibitz_games.core.position import Position
from tests.tools.profiles import some


def _validator(name: str) -> jsonschema.Draft202012Validator:
    document: dict[str, Any] = {"$ref": f"#/$defs/{name}", "$defs": schema.document()["$defs"]}
    return jsonschema.Draft202012Validator(document)


def test_the_document_is_valid_and_the_same_every_time() -> None:
    jsonschema.Draft202012Validator.check_schema(schema.document())
    assert schema.text() == schema.text()
    assert json.loads(schema.text()) == schema.document()


@pytest.mark.parametrize("name", some(registry.names(), 3))
def test_what_travels_fits_the_schema(name: str) -> None:
    play = Position(registry.get(name))
    assert play.options is not None
    moves, views = _validator(f"{name}.Move"), _validator(f"{name}.View")
    _validator(f"{name}.Options").validate(play.options.to_wire())
    for _ in range(5):
        move = play.game.encode(play.state, play.legal[0])
        moves.validate(move.to_wire())
        play.push_move(move)
        views.validate(play.view().to_wire())


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(jsonschema.ValidationError):
        _validator("chinese-checkers.Options").validate({"board": "cube"})
