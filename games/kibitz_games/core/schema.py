"""The JSON Schema of all games' wire models, as one document.

``python -m kibitz_games.core.schema`` prints it.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from kibitz_games.compiled import kernels
from kibitz_games.core import registry
from kibitz_games.core.game import Game, Model


def document() -> dict[str, Any]:
    """Return the document; its ``$defs`` are ``<game>.Options``, ``<game>.Move``, ..."""
    definitions: dict[str, Any] = {}
    versions = {}
    for name in sorted(registry.names()):
        game = registry.get(name)
        versions[name] = game.info.rules_version
        for role, model in (("Options", game.Options), ("Move", game.Move), ("View", game.View)):
            definitions |= _definitions(game, role, model)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Options, moves and views of kibitz games",
        "rules_versions": versions,
        "$defs": definitions,
    }


def _definitions(game: Game, role: str, model: type[Model]) -> dict[str, Any]:
    """Return a model and the models it refers to, under names prefixed with the game's name."""
    prefix = game.info.name
    schema = model.model_json_schema(ref_template=f"#/$defs/{prefix}.{{model}}")
    parts = schema.pop("$defs", {}) | {role: schema}
    return {f"{prefix}.{name}": part for name, part in parts.items()}


def text() -> str:
    """Return the document as deterministic text."""
    return json.dumps(document(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    kernels.set_mode("plain")
    sys.stdout.write(text())
