"""The engine descriptions of bots in records."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import kibitz_search
from kibitz_bots import load
from kibitz_bots.catalog import PERSONALITIES, Personality, named
from kibitz_bots.catalog.personality import EngineSpec
from kibitz_bots.running.connection import capabilities, engine_of
from kibitz_bots.sdk import Bot
from kibitz_protocol.wire.records import Engine
from kibitz_search.weights import WeightsFile

SEARCH = Path(kibitz_search.__file__).parent
SHIPPED = sorted(SEARCH.glob("*/weights/*.json"))


class Mine(Bot):
    version = "2026-11-23"


def test_a_house_bot_says_its_parameters_its_package_and_its_weights() -> None:
    engine = engine_of(load("chinese-checkers/iddfs:evaluation=learned,time=0.5")())
    assert engine.name == "chinese-checkers/iddfs"
    assert engine.version.startswith("kibitz ")
    assert engine.parameters == {"time": 0.5, "depth": 0, "evaluation": "learned"}
    files = {path.name: WeightsFile.model_validate_json(path.read_bytes()) for path in SHIPPED}
    names = [f"learned-{seats}.json" for seats in range(2, 7)]
    assert engine.weights == {name: files[name].digest() for name in names}


def test_every_house_bot_can_say_what_it_is() -> None:
    for personality in PERSONALITIES.values():
        values = {each.name: each.default for each in personality.parameters}
        engine = personality.engine(values)
        assert Engine.model_validate_json(engine.model_dump_json()) == engine
        assert set(engine.parameters) <= set(values)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_weights_say_how_they_were_made_and_who_plays_by_them(path: Path) -> None:
    file = WeightsFile.model_validate_json(path.read_bytes())
    assert file.command.startswith("kibitz train ")
    assert file.seed is not None
    assert file.date
    assert any(path in files for files in map(weights_of, PERSONALITIES.values()))


def weights_of(bot: Personality) -> list[Path]:
    """Return the weight files of a bot for all evaluations."""
    choices = bot.build.choices.values() if isinstance(bot.build, EngineSpec) else ()
    return [*bot.weights, *(path for each in choices for path in each.weights)]


def test_a_file_of_weights_is_named_with_its_hash(tmp_path: Path) -> None:
    path = tmp_path / "best.json"
    path.write_bytes((SEARCH / "chinese_checkers/weights/evolved-2.json").read_bytes())
    engine = engine_of(load(f"chinese-checkers/greedy-weights:file={path}")())
    assert engine.name == "chinese-checkers/greedy-weights"
    assert engine.weights == {"best.json": json.loads(path.read_text())["hash"]}


def test_a_bot_of_somebody_says_its_name_and_its_version() -> None:
    assert engine_of(Mine()) == Engine(name="Mine", version="2026-11-23")
    long = Mine()
    long.name = long.version = "x" * 1000
    assert len(engine_of(long).name) == len(engine_of(long).version) == 200


def test_it_travels_with_what_the_bot_can_do() -> None:
    bot = named("line-nim/greedy").make(seed=7)
    assert capabilities(bot).engine == engine_of(bot)
