"""Programs in any language on the command line of `kibitz`."""

from __future__ import annotations

import sys
from typing import Any

import click
import pytest
from click.testing import CliRunner

from kibitz.commands.play import play
from kibitz.local.match_series import MatchSeries, _launch
from kibitz.local.player_launch import Place
from kibitz.options import program
from kibitz.options.notation import GameChoice
from kibitz.options.program import Program
from kibitz_bots.adapters.external_program import WithProgram, program_options


def said(*words: str) -> Program | None:
    """Return the program that a test command parses from a command line."""
    found: list[Program | None] = []

    @click.command(cls=WithProgram)
    @program_options
    def command(**options: Any) -> None:
        found.append(program.trailing_program(options))

    result = CliRunner().invoke(command, words, catch_exceptions=False)
    if result.exit_code:
        raise ValueError(result.output)
    return found[0]


def test_what_comes_after_the_dashes_is_the_program() -> None:
    read = said("--stdio", "--memory", "64", "--", "node", "--stdio", "--", "bot.js")
    assert read is not None
    assert (read.connects, read.name) == (False, "bot")
    assert read.foreign.argv() == [
        "--stdio",
        "--memory",
        "64",
        "--",
        "node",
        "--stdio",
        "--",
        "bot.js",
    ]
    assert said() is None
    assert said("--memory", "64", "--cpu", "3") is None, "limits are for bots of ours too"


@pytest.mark.parametrize("words", [["--stdio"], ["--pause=3"], ["--no-ahead"], ["--gomocup", "--"]])
def test_options_of_a_program_need_one(words: list[str]) -> None:
    with pytest.raises(ValueError, match=f"{words[0]} needs a program after --"):
        said(*words)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["line-nim", "line-nim/random", "--stdio", "--", "no-such"], "no-such: no such program"),
        (["line-nim", "line-nim/random", "--gomocup", "--", sys.executable], "not line-nim"),
        (
            ["five-in-a-row:swap=true", "five-in-a-row/random", "--gomocup", "--", sys.executable],
            "swap",
        ),
        (["line-nim", "line-nim/random", "--whole-board", "--", sys.executable], "add --gomocup"),
        (
            ["line-nim", *["line-nim/random"] * 2, "--stdio", "--", sys.executable],
            "for 2 players, not 3",
        ),
    ],
    ids=["missing", "game", "swap", "manners", "seats"],
)
def test_play_refuses_what_cannot_be_played_before_anything_starts(
    words: list[str], sentence: str
) -> None:
    result = CliRunner().invoke(play, words)
    assert result.exit_code == 2
    assert sentence in " ".join(result.output.split())


def two(*words: str, **options: Any) -> list[Program | None]:
    """Return the bots and programs named by a command's arguments."""
    given = {"kind": None, "memory": None, "cpu": None, "pause": None, "margin": None}
    usual = given | {"start_limit": None, "whole_board": False, "ahead": True}
    return [program.program_of_word(word, usual | options) for word in words]


def test_programs_among_the_bots_are_words_of_their_own() -> None:
    line, engine, *others = two(
        "stdio:node 'my bot.js' -v",
        "gomocup:./engine",
        "five-in-a-row/threat:seed=1",
        "a.py",
        pause=3,
        memory=64,
    )
    assert others == [None, None]
    assert line is not None
    assert engine is not None
    words = ["--stdio", "--memory", "64", "--", "node", "my bot.js", "-v"]
    assert line.foreign.argv() == words, "what is for engines is not for it"
    words = ["--gomocup", "--memory", "64", "--pause=3", "--", "./engine"]
    assert engine.foreign.argv() == words
    assert (line.connects, line.name, engine.name) == (False, "my-bot", "engine")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["line-nim", "stdio:no-such -x", "line-nim/random"], "no-such: no such program"),
        (["line-nim", "stdio:", "line-nim/random"], "stdio:: expected a command"),
        (["line-nim", "stdio:'a", "line-nim/random"], "stdio:'a: no closing quotation"),
        (["line-nim", f"gomocup:{sys.executable}", "line-nim/random"], "not line-nim"),
        (
            ["line-nim", f"stdio:{sys.executable}", "line-nim/random", "--pause=1"],
            "--pause=1 needs",
        ),
        (["line-nim", *[f"stdio:{sys.executable}"] * 3], "for 2 players, not 3"),
    ],
)
def test_programs_that_cannot_play_are_refused_before_anything_starts(
    words: list[str], sentence: str
) -> None:
    result = CliRunner().invoke(play, words)
    assert result.exit_code == 2
    assert sentence in " ".join(result.output.split())


async def test_every_player_has_a_name_of_its_own_and_a_command() -> None:
    programs = [each for each in two("gomocup:./one", "gomocup:bin/one -x") if each]
    plan = MatchSeries(game=GameChoice("five-in-a-row"), bots=[*programs, "one.py"])
    assert plan.names == ["one", "one-2", "one-3"]
    commands = []
    for number, (bot, name) in enumerate(zip(plan.bots, plan.names, strict=True), 7):
        place = Place(url="ws://here", lobby="L1", name=name, at_once=2)
        async with _launch(plan, bot, place, number) as launch:
            commands.append(list(launch.command))
            assert launch.env["KIBITZ_RESUME_FD"] == str(number), "its own credential"
            assert number in launch.descriptors
            assert not ({7, 8, 9} - {number}) & {*launch.descriptors}
    assert [command[-2:] for command in commands[:2]] == [["--", "./one"], ["bin/one", "-x"]]
    assert [command[command.index("--name") + 1] for command in commands] == plan.names
