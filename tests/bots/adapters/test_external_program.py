"""Command lines that describe an external program."""

from __future__ import annotations

import contextlib
import sys
from typing import Any

import click
import pytest

from kibitz_bots.adapters.external_program import (
    ExternalProgram,
    WithProgram,
    program_options,
    program_words,
)
from kibitz_bots.adapters.gomocup_client import EnginePool, GomocupOptions
from kibitz_bots.adapters.launcher import ProcessLimits
from kibitz_bots.spec import SpecError

PYTHON = sys.executable


def said(*words: str) -> ExternalProgram:
    """Return the program that a test command parses from a command line."""
    found: list[ExternalProgram] = []

    @click.command(cls=WithProgram)
    @program_options
    @click.option("--game", "games", multiple=True)
    def command(games: tuple[str, ...], **options: Any) -> None:
        found.append(ExternalProgram.from_options(program_words(), options, games))

    command.main(words, standalone_mode=False)
    return found[0]


EVERYTHING = ExternalProgram(
    kind="gomocup",
    command=("engine", "--fast", "--", "x"),
    games=("five-in-a-row",),
    limits=ProcessLimits(64, 9),
    pause_ms=0,
    margin_ms=20,
    start_s=2.5,
    whole_board=True,
    ahead=False,
)


@pytest.mark.parametrize(
    "program",
    [ExternalProgram(kind="stdio", command=("node", "bot.js")), EVERYTHING],
    ids=["little", "everything"],
)
def test_words_say_what_is_read_from_them(program: ExternalProgram) -> None:
    assert said(*program.argv()) == program


@pytest.mark.parametrize("words", [("--memory", "0"), ("--cpu", "x"), ("--pause", "-1")])
def test_limits_are_numbers(words: tuple[str, str]) -> None:
    with pytest.raises(click.BadParameter, match=f"^'?{words[1]}'? is not"):
        said("--stdio", *words, "--", "true")


@pytest.mark.parametrize(
    ("program", "sentence"),
    [
        ({"kind": "stdio", "command": ()}, "--stdio: expected a program after --"),
        ({"kind": "stdio", "command": ("no-such",)}, "no-such: no such program"),
        ({"kind": "stdio", "command": (PYTHON,), "pause_ms": 1}, "--pause=1 is for an engine"),
        (
            {"kind": "stdio", "command": (PYTHON,), "games": ["go"]},
            "--game: expected one of .*line-nim.*, not 'go'",
        ),
        (
            {"kind": "gomocup", "command": (PYTHON,), "games": ["line-nim"]},
            "a Gomocup engine plays five-in-a-row, not line-nim",
        ),
    ],
    ids=["nothing", "missing", "manners", "unknown", "other"],
)
def test_what_does_not_go_together_is_refused(program: dict[str, Any], sentence: str) -> None:
    with contextlib.ExitStack() as stack, pytest.raises(SpecError, match=sentence):
        ExternalProgram(**program).factory(stack)


def test_a_program_of_lines_claims_the_games_that_it_is_said_to_play() -> None:
    with contextlib.ExitStack() as stack:
        words = (PYTHON, "-u", "bots/my bot.py")
        bot = ExternalProgram(kind="stdio", command=words, games=("line-nim",)).factory(stack)()
        assert (bot.name, bot.games) == ("my-bot", ("line-nim",))


def test_an_engine_is_spoken_to_as_it_was_said() -> None:
    with contextlib.ExitStack() as stack:
        engines = ExternalProgram(
            kind="gomocup", command=(PYTHON,), pause_ms=7, ahead=False
        ).factory(stack)
        assert isinstance(engines, EnginePool)
        assert engines.manners == GomocupOptions(pause_ms=7, ahead=False)
