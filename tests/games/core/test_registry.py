from __future__ import annotations

import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kibitz_games.core import registry
from kibitz_games.core.game import Game, GameError
from tests.tools.game_package import declare

PUDDLE = """
from dataclasses import replace
from kibitz_games.connect_four import ConnectFour

class Puddle(ConnectFour):
    info = replace(ConnectFour.info, name="puddle", title="Puddle")

GAME = Puddle()
"""


@pytest.mark.parametrize("name", registry.names())
def test_a_game_is_registered_under_its_own_name(name: str) -> None:
    game = registry.get(name)
    assert isinstance(game, Game)
    assert game.info.name == name
    assert registry.get(name) is game


def test_an_unknown_game_is_named_with_the_known_ones() -> None:
    with pytest.raises(GameError, match=r"unknown game 'chess'; available: .*chinese-checkers"):
        registry.get("chess")
    with pytest.raises(GameError, match=r"; did you mean connect-four\?$"):
        registry.get("conect-four")


@pytest.mark.parametrize("name", registry.names())
def test_every_option_has_a_default_and_a_description(name: str) -> None:
    for field in registry.get(name).Options.model_fields.values():
        assert not field.is_required()
        assert field.description


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory of installed packages."""
    monkeypatch.syspath_prepend(tmp_path)
    for found in (registry._entries, registry._load, registry.load_all):
        found.cache_clear()
    yield tmp_path
    for found in (registry._entries, registry._load, registry.load_all):
        found.cache_clear()


def test_the_game_of_a_package_is_found_by_its_entry_point(site: Path) -> None:
    declare(site, "puddle-games", {"puddle": "puddle_found:GAME"})
    (site / "puddle_found.py").write_text(PUDDLE)
    assert registry.names()[-1] == "puddle"
    game = registry.get("puddle")
    assert game.info.title == "Puddle"
    assert registry.load_all()["puddle"] is game
    assert pickle.loads(pickle.dumps(game)) is game
    assert registry.get("puddle", 1) is game


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("raise RuntimeError('out of order')", "RuntimeError: out of order"),
        ("import no_such_module", "No module named 'no_such_module'"),
        ("", "AttributeError: .*GAME"),
        ("GAME = 5", "TypeError: expected a game, not 5"),
        ("from kibitz_games.tanks import GAME", "ValueError: its info has the name 'tanks'"),
    ],
)
def test_a_package_that_does_not_load_is_named_and_the_others_work(
    site: Path, source: str, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    module = f"puddle_{abs(hash(source))}"
    declare(site, "puddle-games", {"puddle": f"{module}:GAME"})
    (site / f"{module}.py").write_text(source)
    wanted = f"cannot load the game 'puddle' from the package puddle-games 0.1.0: .*{reason}"
    with pytest.raises(GameError, match=wanted):
        registry.get("puddle")
    assert [*registry.load_all()] == [*registry.BUILT_IN]
    assert re.search(wanted, caplog.text)


@pytest.mark.parametrize("other", ["kibitz", "first-games 0.1.0"])
def test_a_name_that_two_packages_use_is_refused_with_both(
    site: Path, other: str, caplog: pytest.LogCaptureFixture
) -> None:
    name = "tanks" if other == "kibitz" else "puddle"
    if other != "kibitz":
        declare(site, "first-games", {name: "puddle_first:GAME"})
    declare(site, "second-games", {name: "puddle_second:GAME"})
    with pytest.raises(GameError) as refused:
        registry.get(name)
    for package in (other, "second-games 0.1.0", name):
        assert package in str(refused.value)
    assert name not in registry.load_all()
    assert "line-nim" in registry.load_all()
    assert str(refused.value) in caplog.text
