"""What `kibitz bots` says of the house bots."""

from __future__ import annotations

import json
import shlex

import pytest
from click.testing import CliRunner, Result

from kibitz import box, lineup, play
from kibitz.cli import kibitz
from kibitz.notation import GameChoice
from kibitz_bots.personalities import PERSONALITIES, Personality
from kibitz_bots.personalities.making import DEPTH, SEED, Parameter, anything, searching
from kibitz_games import registry

WIDTH = 80
BOTS = list(PERSONALITIES.values())
each_bot = pytest.mark.parametrize("bot", BOTS, ids=list(PERSONALITIES))


def said(*words: str) -> Result:
    return CliRunner().invoke(kibitz, ["bots", *words])


@pytest.mark.parametrize("width", [WIDTH, 110])
def test_the_table_fits_and_names_every_bot_under_its_game(width: int) -> None:
    lines = list(lineup.table(BOTS, box.games("plain"), width))
    assert max(map(len, lines)) <= width
    game, found = "", []
    for line in lines[1:]:
        if line in registry.names():
            game = line
        elif line.startswith("  ") and line[2] != " ":
            found.append(f"{game}/{line.split()[0]}")
    assert found == list(PERSONALITIES)


def test_a_row_says_algorithm_evaluation_seats_and_a_line() -> None:
    bot = Personality("chinese-checkers/x", "plays well", searching("a.max_n:M", "b:hand"))
    (row,) = list(lineup.table([bot], box.games("plain"), WIDTH))[3:]
    assert row.split() == ["x", "max-n", "hand", "2-6", "plays", "well"]
    few = Personality("chinese-checkers/x", "plays", anything, seats=(2, 3, 6))
    (row,) = list(lineup.table([few], box.games("plain"), WIDTH))[3:]
    assert row.split() == ["x", "-", "-", "2-3,", "6", "plays"]


@pytest.mark.parametrize(
    ("numbers", "text"),
    [((2,), "2"), ((2, 3, 4), "2-4"), ((2, 3, 4, 6), "2-4, 6"), ((2, 6), "2, 6")],
)
def test_spans(numbers: tuple[int, ...], text: str) -> None:
    assert lineup.spans(numbers) == text


@each_bot
def test_a_bot_is_explained_within_the_width(bot: Personality) -> None:
    lines = list(lineup.lines(bot, registry.get(bot.game), WIDTH))
    assert all(len(line) <= WIDTH or line.startswith("  kibitz play") for line in lines)
    text = " ".join(" ".join(lines).split())
    for each in bot.parameters:
        assert f"{each.name}: {each.takes}; {lineup.default(each)}." in text
        assert each.summary in text


@each_bot
def test_the_example_is_a_command_that_is_understood(bot: Personality) -> None:
    words = shlex.split(lineup.example(bot, registry.get(bot.game)))
    context = play.play.make_context("play", words[2:])
    choice = context.params["game"]
    play.check(play.Contest(game=GameChoice(choice.name), bots=context.params["bots"]))


@each_bot
def test_what_a_bot_is_made_of_is_quoted_from_its_source(bot: Personality) -> None:
    quoted = lineup.about(bot)
    for part, name in (("algorithm", bot.algorithm), ("evaluation", bot.evaluation)):
        assert bool(quoted.get(part)) <= bool(name)
        assert not name or quoted.get(part), f"{part} {name} has no docstring"


def test_a_docstring_is_quoted_with_its_source() -> None:
    text = """Return the sum of
    all rows.

    Args and so on.

    Source: a report
    of a course.
    """
    assert lineup.quoted(text) == "the sum of all rows. Source: a report of a course."


def test_an_explanation() -> None:
    lines = said("chinese-checkers/iddfs-hand").output.splitlines()
    assert lines[0].startswith("chinese-checkers/iddfs-hand: plans its own moves ahead")
    assert any(
        line.startswith("algorithm   IDDFS: iterative deepening over the own") for line in lines
    )
    assert "  time: a number from 0; 1.0 if not said." in lines
    assert lines[-1].startswith(
        "  kibitz play chinese-checkers chinese-checkers/iddfs-hand:depth=4 "
    )


def test_the_example_says_a_parameter_that_has_one_or_a_default() -> None:
    table = Parameter("table", int, 64, "MiB")
    bot = Personality("line-nim/x", "plays", anything, (SEED, DEPTH, table))
    assert lineup.spec(bot) == "line-nim/x:depth=4"
    bot = Personality("line-nim/x", "plays", anything, (table,))
    assert lineup.spec(bot) == "line-nim/x:table=64"
    assert lineup.spec(Personality("line-nim/x", "plays", anything)) == "line-nim/x"


def test_a_search_without_an_evaluation_is_explained_without() -> None:
    recipe = searching("kibitz_bots.search.iddfs:Iddfs", "")
    bot = Personality("line-nim/x", "solves", recipe)
    assert bot.evaluation == ""
    assert list(lineup.about(bot)) == ["algorithm"]
    assert "evaluation  -" in list(lineup.lines(bot, registry.get("line-nim"), WIDTH))


def test_json_has_a_line_for_each_bot() -> None:
    every = [json.loads(line) for line in said("--json").output.splitlines()]
    assert [each["name"] for each in every] == list(PERSONALITIES)
    mine = [json.loads(line) for line in said("--game", "tanks", "--json").output.splitlines()]
    assert mine == [each for each in every if each["game"] == "tanks"]
    (one,) = [json.loads(line) for line in said("tanks/greedy", "--json").output.splitlines()]
    assert one.items() >= next(each for each in mine if each["name"] == "tanks/greedy").items()
    assert one["about"]["algorithm"]
    assert one["parameters"][0]["type"] == "int"


@pytest.mark.parametrize(
    ("words", "status", "sentence"),
    [
        (("line-nim/gredy",), 2, "did you mean line-nim/greedy"),
        (("nobody",), 2, "unknown bot 'nobody'"),
        (("--game", "chess"), 1, "unknown game 'chess'; known are"),
        (("tanks/greedy", "--game", "tanks"), 2, "expected either one bot or --game"),
    ],
)
def test_what_is_not_there_is_refused(words: tuple[str, ...], status: int, sentence: str) -> None:
    result = said(*words)
    assert result.exit_code == status
    assert sentence in result.output


def test_warming_tells_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    warmed: list[object] = []
    monkeypatch.setattr(
        "kibitz_bots.chance.RandomBot.warm", lambda self, items: warmed.extend(items)
    )
    bot = PERSONALITIES["chinese-checkers/random"]
    lines: list[str] = []
    from kibitz.warmth import warm_up

    warm_up(lines.append, [bot, bot])
    assert [line.split()[0] for line in lines] == ["1/2", "2/2"]
    assert [item.seats for item in warmed] == [2, 3, 4, 5, 6] * 2  # type: ignore[attr-defined]
