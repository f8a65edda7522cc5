"""The output of `kibitz bot list` about the house bots."""

from __future__ import annotations

import json
import shlex

import pytest
from click.testing import CliRunner, Result

from kibitz import builtin_games
from kibitz.cli import kibitz
from kibitz.commands.play import play
from kibitz.local import match_series
from kibitz.options.notation import GameChoice
from kibitz.text import bot_catalog
from kibitz_bots.catalog import PERSONALITIES, Personality
from kibitz_bots.catalog.parameters import DEPTH, SEED, Parameter
from kibitz_bots.catalog.personality import EngineSpec, random_bot
from kibitz_games.core import registry
from kibitz_search.algorithms.iddfs import Iddfs

WIDTH = 80
BOTS = list(PERSONALITIES.values())


def said(*words: str) -> Result:
    return CliRunner().invoke(kibitz, ["bot", *words])


@pytest.mark.parametrize("width", [WIDTH, 110])
def test_the_table_fits_and_names_every_bot_under_its_game(width: int) -> None:
    lines = list(bot_catalog.table(BOTS, builtin_games.load_games("plain"), width))
    assert max(map(len, lines)) <= width
    game, found = "", []
    for line in lines:
        if line and line[0] != " ":
            game = line.partition(",")[0]
        elif line.startswith("  ") and line[2] != " ":
            found.append(f"{game}/{line.split()[0]}")
    assert found == list(PERSONALITIES)


def test_each_bot_has_one_line_and_what_does_not_fit_is_cut() -> None:
    games = builtin_games.load_games("plain")
    bot = Personality("chinese-checkers/x", "plays well", random_bot, seats=(2, 3, 6))
    head, row = bot_catalog.table([bot], games, WIDTH)
    assert head == "chinese-checkers, for 2-6"
    assert row == "  x  plays well (for 2-3, 6)"
    _, cut = bot_catalog.table([bot], games, 12)
    assert cut == "  x  plays…"
    lines = [*bot_catalog.table(BOTS, games, WIDTH)]
    heads = len(registry.names())
    assert len(lines) == len(BOTS) + heads + (heads - 1)


@pytest.mark.parametrize(
    ("numbers", "text"),
    [((2,), "2"), ((2, 3, 4), "2-4"), ((2, 3, 4, 6), "2-4, 6"), ((2, 6), "2, 6")],
)
def test_spans(numbers: tuple[int, ...], text: str) -> None:
    assert bot_catalog.spans(numbers) == text


def test_a_bot_is_explained_within_the_width() -> None:
    for bot in BOTS:
        lines = list(bot_catalog.lines(bot, registry.get(bot.game), WIDTH))
        wide = [line for line in lines if len(line) > WIDTH]
        assert all(line.startswith("  kibitz play") for line in wide), bot.name
        text = " ".join(" ".join(lines).split())
        for each in bot.parameters:
            assert f"{each.name}: {each.expected}; {bot_catalog.default(each)}." in text
            assert each.summary in text


def test_the_example_is_a_command_that_is_understood() -> None:
    for bot in BOTS:
        words = shlex.split(bot_catalog.example(bot, registry.get(bot.game)))
        context = play.make_context("play", words[2:])
        choice = context.params["game"]
        match_series.check(
            match_series.MatchSeries(game=GameChoice(choice.name), bots=context.params["bots"])
        )


def test_an_explanation() -> None:
    lines = said("show", "chinese-checkers/iddfs-hand").output.splitlines()
    assert lines[0].startswith("chinese-checkers/iddfs-hand: plans several of its own moves ahead")
    assert {"algorithm   iddfs", "evaluation  hand"} <= {*lines}
    assert "  time: a number from 0 to 3600; 1.0 by default." in lines
    assert lines[-1].startswith(
        "  kibitz play chinese-checkers chinese-checkers/iddfs-hand:depth=4 "
    )


def test_the_example_says_a_parameter_that_has_one_or_a_default() -> None:
    table = Parameter("table", int, 64, "MiB", most=128)
    bot = Personality("line-nim/x", "plays", random_bot, (SEED, DEPTH, table))
    assert bot_catalog.spec(bot) == "line-nim/x:depth=4"
    bot = Personality("line-nim/x", "plays", random_bot, (table,))
    assert bot_catalog.spec(bot) == "line-nim/x:table=64"
    assert bot_catalog.spec(Personality("line-nim/x", "plays", random_bot)) == "line-nim/x"


def test_a_search_without_an_evaluation_is_explained_without() -> None:
    bot = Personality("line-nim/x", "solves", EngineSpec(lambda: Iddfs), algorithm="iddfs")
    assert "evaluation  -" in list(bot_catalog.lines(bot, registry.get("line-nim"), WIDTH))


def test_json_has_a_line_for_each_bot() -> None:
    every = [json.loads(line) for line in said("list", "--json").output.splitlines()]
    assert [each["name"] for each in every] == list(PERSONALITIES)
    mine = [
        json.loads(line) for line in said("list", "--game", "tanks", "--json").output.splitlines()
    ]
    assert mine == [each for each in every if each["game"] == "tanks"]
    (one,) = [
        json.loads(line) for line in said("show", "tanks/greedy", "--json").output.splitlines()
    ]
    assert one.items() >= next(each for each in mine if each["name"] == "tanks/greedy").items()
    assert one["algorithm"]
    assert one["parameters"][0]["type"] == "int"


@pytest.mark.parametrize(
    ("words", "status", "sentence"),
    [
        (("show", "line-nim/gredy"), 2, "did you mean line-nim/greedy"),
        (("show", "nobody"), 2, "unknown bot 'nobody'"),
        (("list", "--game", "chess"), 1, "unknown game 'chess'; available:"),
        (("warm", "tanks/greedy", "--game", "tanks"), 2, "expected either one bot or --game"),
    ],
)
def test_what_is_not_there_is_refused(words: tuple[str, ...], status: int, sentence: str) -> None:
    result = said(*words)
    assert result.exit_code == status
    assert sentence in result.output


def test_warming_tells_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    warmed: list[object] = []
    monkeypatch.setattr(
        "kibitz_bots.kinds.random_bot.RandomBot.prepare", lambda self, items: warmed.extend(items)
    )
    bot = PERSONALITIES["chinese-checkers/random"]
    lines: list[str] = []
    from kibitz.process.warmup import warm_up

    warm_up(lines.append, [bot, bot])
    assert [line.split()[0] for line in lines] == ["1/2", "2/2"]
    assert [item.seats for item in warmed] == [2, 3, 4, 5, 6] * 2  # type: ignore[attr-defined]
