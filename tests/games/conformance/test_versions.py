"""Matches keep the rules that they started with: every version of every game is unchanged.

``data/earlier`` has the golden playthrough of each earlier version, and plays with a different
result in the next version: ``GAME-VERSION.jsonl`` with options, seats, moves, and the result
computed by the code of that version.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kibitz_games.conformance import laws
from kibitz_games.conformance.playthrough import playthrough
from kibitz_games.core import registry
from kibitz_games.core.game import TERMINAL, Game, IllegalAction, UnknownRules
from kibitz_games.core.position import Position
from tests.games import cases

EARLIER = Path(__file__).parents[1] / "data" / "earlier"
VERSIONS = [
    (name, number) for name in registry.names() for number in registry.get(name).earlier_versions
]


def _plays() -> list[Any]:
    plays = []
    for name, number in VERSIONS:
        lines = (EARLIER / f"{name}-{number}.jsonl").read_text().splitlines()
        told = [json.loads(line) for line in lines if not line.startswith("#")]
        plays += [
            pytest.param(name, number, play, id=f"{name}-{number}-{i}")
            for i, play in enumerate(told)
        ]
    return plays


PLAYS = _plays()


def _play(game: Game, told: dict[str, Any]) -> Position:
    """Play the recorded moves."""
    play = Position(game, game.Options.from_wire(told["options"]), told["seats"])
    for move in told["moves"].split():
        if play.to_act == TERMINAL:
            break
        play.push_move(move)
    return play


SINCE = {"chinese-checkers": ["past"]}
"""Later fields of views, which do not affect how earlier versions play."""


def _seen(play: Position, told: dict[str, Any]) -> list[dict[str, Any]]:
    """Return all views without the options and later fields."""
    viewers = list(range(play.seats or 0)) if play.game.info.hidden else [None]
    seen = json.loads(json.dumps([play.view(viewer).to_wire() for viewer in viewers]))
    for view, before in zip(seen, told["views"], strict=True):
        view["options"] = {name: view["options"][name] for name in before["options"]}
        for name in SINCE.get(play.game.info.name, []):
            view.pop(name, None)
    return seen  # type: ignore[no-any-return]


def test_there_are_goldens_for_every_earlier_version_and_for_no_other() -> None:
    expected = {f"{name}-{number}.jsonl" for name, number in VERSIONS}
    expected |= {f"playthrough-{name}-{number}.txt" for name, number in VERSIONS}
    assert {path.name for path in EARLIER.iterdir()} == expected
    for name in registry.names():
        game = registry.get(name)
        assert sorted(game.earlier_versions) == list(range(1, game.info.rules_version))


@pytest.mark.parametrize(("name", "number", "told"), PLAYS)
def test_a_play_of_an_earlier_version_ends_as_it_did(
    name: str, number: int, told: dict[str, Any]
) -> None:
    play = _play(registry.get(name, number), told)
    assert len(play.history) == len(told["moves"].split())
    assert play.outcome is not None
    outcome = {"ranks": play.outcome.ranks, "scores": play.outcome.scores}
    assert json.loads(json.dumps(outcome)) | {"reason": play.outcome.reason} == told["outcome"]
    assert f"{int(play.state['key']):016x}" == told["key"]
    assert _seen(play, told) == told["views"]


@pytest.mark.parametrize(("name", "number", "told"), PLAYS)
def test_the_present_version_makes_something_else_of_it(
    name: str, number: int, told: dict[str, Any]
) -> None:
    """Otherwise the plays above would prove nothing."""
    try:
        play = _play(registry.get(name), told)
    except IllegalAction:
        return
    if play.outcome is not None:
        ends = [*play.outcome.ranks], _seen(play, told)
        assert ends != (told["outcome"]["ranks"], told["views"])


@pytest.mark.parametrize(("name", "number"), VERSIONS)
def test_the_playthrough_of_an_earlier_version_is_as_it_was(name: str, number: int) -> None:
    """All lines except the options, which contain later ones."""
    golden = (EARLIER / f"playthrough-{name}-{number}.txt").read_text().splitlines()
    lines = playthrough(registry.get(name, number)).splitlines()
    before, since = (json.loads(text[1].removeprefix("options ")) for text in (golden, lines))
    assert before == {option: since[option] for option in before}
    assert [*lines[:1], *lines[2:]] == [*golden[:1], *golden[2:]]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "number"), VERSIONS)
def test_an_earlier_version_keeps_the_laws(name: str, number: int) -> None:
    game = registry.get(name, number)
    seats = [game.info.seats[0], game.info.seats[-1]]
    spellings = cases.spellings(name)
    assert laws.check_laws(game, seats=seats, seeds=[1], spellings=spellings, plies=60) > 0


@pytest.mark.parametrize(("name", "number"), VERSIONS)
def test_an_earlier_version_has_the_options_that_it_had(name: str, number: int) -> None:
    present = registry.get(name)
    game = present.at_version(number)
    assert game.info.rules_version == number
    assert game.at_version(number) is game
    assert present.at_version(number) is game
    assert type(game.Options()) is not present.Options
    for option, value in present.earlier_versions[number].items():
        assert getattr(game.Options(), option) == value
        other = getattr(present.Options(), option)
        with pytest.raises(ValueError, match=option):
            game.Options.from_wire({option: other})


@pytest.mark.parametrize("name", registry.names())
def test_an_unknown_version_is_refused(name: str) -> None:
    game = registry.get(name)
    assert game.at_version(game.info.rules_version) is game
    with pytest.raises(UnknownRules, match=f"{name} has the rules versions .*, but not 99"):
        registry.get(name, 99)
