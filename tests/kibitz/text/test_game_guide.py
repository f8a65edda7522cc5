"""The output of `kibitz game show NAME`: its examples work, for every game in the box."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import Field

from kibitz import builtin_games
from kibitz.commands.host import host, programme
from kibitz.options import notation
from kibitz.text import game_guide
from kibitz_bots.catalog import PERSONALITIES
from kibitz_games.core import registry
from kibitz_games.core.game import Game, Model
from kibitz_games.core.position import Position

ROOT = Path(__file__).parents[3]
WIDTH = 80
BOTS = list(PERSONALITIES.values())


@pytest.fixture(params=registry.names())
def game(request: pytest.FixtureRequest) -> Game:
    return builtin_games.load_games("plain")[request.param]


def explained(game: Game, width: int = WIDTH) -> list[str]:
    return list(game_guide.describe_game(game, BOTS, width))


def test_every_option_has_an_example_that_the_game_starts_with(game: Game) -> None:
    for option in game_guide.options(game):
        assert option.example is not None, option.name
        typed = f"{game.info.name}:{option.example}"
        assert f"    {typed}" in explained(game)
        choice = notation.parse_game(typed)
        assert list(choice.options) == [option.name]
        assert game_guide.seats_for(game, choice.options) in game.info.seats


def test_every_option_says_what_it_takes_and_is_for(game: Game) -> None:
    for option in game_guide.options(game):
        assert option.takes
        assert option.summary.endswith("."), option.name
        assert option.default.endswith("by default")


def test_the_line_for_hosts_is_one_that_they_can_type(game: Game) -> None:
    (line,) = [line.strip() for line in explained(game) if line.startswith("  kibitz host ")]
    context = host.make_context("host", shlex.split(line)[2:])
    (choice,), seats = context.params["games"], context.params["seats"]
    (item,) = programme([choice], seats, (), None, context.params["tc"], None, True)
    model = game.Options.model_validate(choice.options)
    game.start(model, item.seats, game.deal(model, item.seats, 0))
    assert item.seats == len(seats)


def test_the_move_is_the_first_legal_one_of_a_start(game: Game) -> None:
    text = "\n".join(explained(game))
    wire = re.search(r"on the wire +(\{.*\})", text)
    typed = re.search(r"as text +(.+)", text)
    assert wire is not None
    assert typed is not None
    play = Position(game)
    first = play.legal[0]
    assert game.decode(play.state, game.Move.model_validate(json.loads(wire[1]))) == first
    assert game.decode(play.state, game.notation.parse(typed[1])) == first


def test_it_names_its_bots_its_page_and_what_happens_to_who_is_late(game: Game) -> None:
    text = " ".join(" ".join(explained(game)).split())
    for bot in BOTS:
        assert (bot.name in text.split()) == bot.name.startswith(f"{game.info.name}/")
    assert (ROOT / f"docs/games/{game.info.name}.md").is_file()
    assert f"{game.info.name}.md" in text  # in docs/games, or where a wheel has the pages
    assert game_guide.TIME_OUT[game.info.on_flag] in text
    assert game_guide.HIDDEN[game.info.hidden] in text
    assert game_guide.BLOCK_NOTES[game.info.balanced] in text


@pytest.mark.parametrize("width", [60, WIDTH, 120])
def test_prose_fits_the_terminal(game: Game, width: int) -> None:
    examples = (f"{game.info.name}:", "kibitz host ")
    for line in explained(game, width):
        assert len(line) <= width or line.strip().startswith(examples) or "{" in line


class Everything(Model):
    """Options of every kind."""

    kind: Literal["round", "square"] = Field("round", description="Form.")
    size: int | None = Field(None, ge=3, lt=10, description="Side.")
    most: int = Field(7, le=9, description="Most.")
    any: int = Field(7, description="Any.")
    sticky: bool = Field(False, description="Stays.")
    share: int | str = Field("mean", description="Share.")
    stones: tuple[str, ...] = Field((), max_length=3, description="Stones.")
    corners: tuple[int, ...] = Field((1, 2), min_length=2, max_length=2, description="Corners.")
    walls: list[Literal["n", "s"]] = Field(["n"], min_length=1, description="Walls.")


@pytest.mark.parametrize(
    ("name", "takes", "default"),
    [
        ("kind", "round or square", "round by default"),
        ("size", "a whole number from 3 below 10", "the game chooses by default"),
        ("most", "a whole number up to 9", "7 by default"),
        ("any", "a whole number", "7 by default"),
        ("sticky", "yes or no", "no by default"),
        ("share", "a whole number or a word", "mean by default"),
        ("stones", "a list of up to 3 words separated by plus signs", "none by default"),
        ("corners", "a list of 2 whole numbers separated by plus signs", "1+2 by default"),
        ("walls", "a list of at least 1 n or s separated by plus signs", "n by default"),
    ],
)
def test_what_an_option_takes(
    name: str, takes: str, default: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Anything:
        Options = Everything

    monkeypatch.setattr(game_guide, "_example", lambda *_: None)
    anything: Any = Anything()
    option = next(each for each in game_guide.options(anything) if each.name == name)
    assert (option.takes, option.default) == (takes, default)


def test_options_that_no_number_of_players_can_play_have_none() -> None:
    game = builtin_games.load_games("plain")["chinese-checkers"]
    assert game_guide.seats_for(game, {"size": 3}) == 2
    assert game_guide.seats_for(game, {"size": 77}) is None
    assert game_guide.seats_for(game, {"board": "star", "pegs": 1}) is None
